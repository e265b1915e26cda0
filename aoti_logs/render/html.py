"""An explanation for notebooks: the screen as preformatted text, everything escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from aoti_logs.render.text import render_text

if TYPE_CHECKING:
    from aoti_logs.explain import Explanation


def render_html(explanation: Explanation) -> str:
    """Return the screen as HTML; markup that a log holds is shown, never run."""
    return f'<pre class="aoti-logs">{escape(render_text(explanation))}</pre>'

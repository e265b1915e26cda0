"""Text from a log made safe for a terminal, alone or in the cells of a table.

No escape code, control character or direction mark is written, and text has no line ends of its own:
what a log says cannot look like a line of ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# The same patterns serve Python and polars.
_CODE = r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)"
_LINE_END = r"\r?\n"
_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f-\x9f" + "\u2028\u2029]"
_CONTROL_IN_LINES = r"[\x00-\x08\x0b-\x1f\x7f-\x9f" + "\u2028\u2029]"
_DIRECTION = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_STEPS = ((_CODE, ""), ("\t", "    "), (_LINE_END, " "), (_DIRECTION, ""), (_CONTROL, "\ufffd"))
_LINES_STEPS = ((_CODE, ""), (_DIRECTION, ""), (_LINE_END, "\n"), (_CONTROL_IN_LINES, "\ufffd"))
_NOT_PLAIN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Make text safe for a terminal, on one line."""
    if _NOT_PLAIN.search(text) is None:
        return text
    for pattern, instead in _STEPS:
        text = re.sub(pattern, instead, text)
    return text


def clean_cells(frame: pl.DataFrame, *, lines: bool = False, bar: bool = False) -> pl.DataFrame:
    """Make the text in a table's cells safe.

    Args:
        frame: any table; columns of text and of lists of text are changed.
        lines: keep line ends and tabs, for forms that quote them.
        bar: escape `|`, for Markdown.
    """
    import polars as pl

    steps = (_LINES_STEPS if lines else _STEPS) + (((r"\|", r"\|"),) if bar else ())

    def cleaned(text: pl.Expr) -> pl.Expr:
        for pattern, instead in steps:
            text = text.str.replace_all(pattern, instead)
        return text

    changed = [
        cleaned(pl.col(name)) if kind == pl.String else pl.col(name).list.eval(cleaned(pl.element()))
        for name, kind in frame.schema.items()
        if kind in (pl.String, pl.List(pl.String))
    ]
    return frame.with_columns(changed)


def escape_json(text: str) -> str:
    """Escape what JSON allows as it is and a terminal obeys; the values stay the same."""
    return _IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text)

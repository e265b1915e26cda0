"""Figures that read like errors: `Error: 0.0312`, `MeanSquaredError: 0.33`, `Error: none`."""

from __future__ import annotations

import re

_FIGURE = re.compile(
    r"(?:[-+]?\d*\.?\d+(?:e[-+]?\d+)?\s?%?|nan|inf|none|null|false)\s*(?:$|[|,;/(±])", re.IGNORECASE
)
_LONGEST = 200


def is_figure(said: str) -> bool:
    """Tell whether a text behind `Error: ` begins with a number, or a word for none, that nothing but figures follow."""
    return _FIGURE.match(said[:_LONGEST]) is not None

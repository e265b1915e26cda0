"""Shape symbols in the text of an expression.

`torch/utils/_sympy/symbol.py`: `s77` a size, `u0` an unbacked integer, `zf2` a float, `zuf0` an unbacked float, `ps0`
a size that is computed before; strings in quotes (`L['s0']`) name inputs, not symbols.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w.])(?:ps|s|zuf|zu|zf|u)\d+\b")


@lru_cache(maxsize=4096)
def symbols_in(expression: str) -> tuple[str, ...]:
    """Return the symbols of an expression in order of appearance, each once."""
    return tuple(dict.fromkeys(m[0] for m in _TOKEN.finditer(expression) if m[0][0] not in "'\""))

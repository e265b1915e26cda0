"""Functions that torch left uncompiled because compiling them raised: `WON'T CONVERT F FILE line N`, and the exception.

Printed by torch/_dynamo/exc.py, `format_error_msg`, as a warning of convert_frame.py where
`torch._dynamo.config.suppress_errors` is set, as information where Dynamo cannot trace the function. Format: the rule
`unconverted` of `grammars/exception_text.lark`.
"""

from __future__ import annotations

from dataclasses import dataclass

from aoti_logs.parse.python.exception_name import is_exception
from aoti_logs.parse.shape import fields, first

HEAD = "WON'T CONVERT "
_CHAINED = ("The above exception was", "During handling of the above", "Traceback (most recent call last):")
_LONGEST = 4096
_MOST = 20_000  # lines


@dataclass(frozen=True)
class Unconverted:
    """One function.

    Attributes:
        function: its name.
        file: its file.
        line: the line that it begins in, from 1.
        exception_type: class of what was raised, as printed; None where that is cut off.
        text: its message, all lines.
        row: row of the text, from 0, of the exception.
    """

    function: str
    file: str
    line: int
    exception_type: str | None = None
    text: str = ""
    row: int = 0


def read_unconverted(text: str) -> Unconverted | None:
    """Read the text of a message; None when it is another one."""
    rows = text.split("\n")[:_MOST]
    found = (
        fields("exception_text", "unconverted", rows[0].rstrip()[:_LONGEST])
        if text.startswith(HEAD)
        else None
    )
    if found is None:
        return None
    function, file, line = found["FUNCTION"][0], found["FILE"][0], int(found["LINE"][0][:9])
    at = _exception(rows)
    if at is None:
        return Unconverted(function, file, line)
    end = next((n for n in range(at + 1, len(rows)) if rows[n].startswith(_CHAINED)), len(rows))
    told = "\n".join(rows[at:end]).rstrip()
    parsed = fields("traceback", "exception", rows[at].strip()[:_LONGEST])
    kind = first(parsed, "TYPE") if parsed else None
    said = told.partition(":")[2].strip() if kind else told
    return Unconverted(function, file, line, kind, said, at)


def _exception(rows: list[str]) -> int | None:
    """Return the row of the last exception: what stands at the margin behind the frames of a traceback."""
    last, within = None, False
    for number, row in enumerate(rows):
        if row.startswith("Traceback (most recent call last):"):
            within = True
        elif within and row[:1].strip():
            within = False
            last = number if is_exception(row, below_frames=True) or row.rstrip().endswith(":") else last
    return last

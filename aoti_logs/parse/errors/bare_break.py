"""What Dynamo says of code that it cannot trace, where the exception's class is lost: a program printed the message only.

torch/_dynamo/exc.py, `format_graph_break_message`: a line that names what was met, below it `  Explanation: ...`,
`  Hint: ...`, `  Developer debug context: ...` (torch 2.7 and later).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.dynamo_text import unsupported
from aoti_logs.parse.errors.message import Further, begins_other, finish, read_message
from aoti_logs.parse.events import ErrorForm, ErrorText

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_EXPLAINS = re.compile(r" {1,8}Explanation: \S")
_LOGGED = re.compile(
    r"Graph Break Reason: |Graph break "
)  # a message of torch's logger, of a break that it went on after
_BEFORE = re.compile(
    r"^(?:.{0,300}?\b(?:[Ee]rror|[Ee]xception|ERROR|FAILED|[Ff]ailed)\b.{0,200}?: )(?=[A-Z])"
)


def read_bare_break(log: Log, line: Line) -> bool:
    """Claim such a message from the line that names what was met; `line` is that of the explanation."""
    head = log.before(line) if _EXPLAINS.match(line.text) else None
    said = head.text.strip()[:4096] if head is not None else ""
    # What is indented itself belongs to what stands above it: each such line would read on to the end.
    if head is None or not said or head.text[:1].isspace() or _LOGGED.search(said) or begins_other(said):
        return False
    named = _BEFORE.match(said)
    message = read_message(log, head, said[named.end() :] if named else said, Further.INDENTED)
    told = unsupported(message.text)
    # Quizzes and linters explain and hint, too; Dynamo's context or the page of its kind of code are its own.
    if message.lines[-1].start < line.start or told is None or not (told.context or told.url):
        return False
    finish(log, "error", message)
    log.errors.append(
        ErrorText(
            form=ErrorForm.PYTHON,
            message=message.texts[0],
            span=log.span(message.lines[0].start, message.lines[-1].end),
            text=message.text,
            rank=head.rank,
        )
    )
    return True

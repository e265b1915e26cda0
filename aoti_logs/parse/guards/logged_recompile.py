"""Recompiles in a log: `Recompiling function F in FILE:LINE` and the guards that failed below it.

Printed by torch/_dynamo/guards.py, `get_and_maybe_log_recompilation_reasons`, into the artifacts `recompiles` and
`recompiles_verbose`, and as the text of `RecompileError`; until torch 2.1 by convert_frame.py as a Python tuple of both
lines. Formats: the rules `header`, `set_off` of `grammars/recompile_reason.lark`; a reason is its rule `start`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from aoti_logs.parse.guards.recompile_reason import RecompileReason, read_recompile_reason
from aoti_logs.parse.logs.whole_messages import line_of, whole_messages
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.parse.events import LogLine

HEAD = "Recompiling function "
STANCE = "Detected recompile when torch.compile stance is "
_ARTIFACTS = {"recompiles", "recompiles_verbose"}
_TUPLE = f"('{HEAD}"
_LIST_MARK = "    - "
_SET_OFF = "triggered by the following guard failure"
_STACK_HEAD = "User stack trace:"
_NUMBERED = re.compile(r"(?:!?\d+(?:/\d+){0,2}(?:_\d+)?|None): ")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Recompile:
    """One function that was compiled again, or that was about to be.

    Attributes:
        function: its name; None where the head is cut off.
        file: its file.
        line: the line of it that it begins in.
        reasons: why each cached compilation did not fit, in the order of the log.
        rows: row of the text, from 0, of each reason.
        row: row of the head.
    """

    function: str | None
    file: str | None
    line: int | None
    reasons: tuple[RecompileReason, ...]
    rows: tuple[int, ...]
    row: int = 0


@dataclass(frozen=True)
class LoggedRecompile:
    """A recompile with the message that tells it."""

    message: LogLine
    recompile: Recompile

    def line_of(self, reason: int) -> int:
        """Return the line in the log of one of its reasons."""
        return line_of(self.message, self.recompile.rows[reason])

    @property
    def line(self) -> int:
        """Line of the log that names the function."""
        return line_of(self.message, self.recompile.row)


def recompiles_in(messages: Iterable[LogLine]) -> list[LoggedRecompile]:
    """Read the recompiles of a log, in its order."""
    telling = (m for m in messages if m.artifact in _ARTIFACTS or HEAD in m.text)
    return [
        LoggedRecompile(message, recompile)
        for message in whole_messages(telling)
        for recompile in read_recompiles(message.text)
    ]


def read_recompiles(text: str) -> list[Recompile]:
    """Read a text that tells of recompiles: a message, several that were printed at once, an exception."""
    rows = text.split("\n")
    heads = [row for row, line in enumerate(rows) if line.startswith((HEAD, STANCE, _TUPLE))]
    found = []
    for row, end in pairwise((*heads, len(rows))):
        recompile = _from_tuple(rows[row], row) if rows[row].startswith(_TUPLE) else _read(rows, row, end)
        if recompile is not None:
            found.append(recompile)
    return found


def _read(rows: Sequence[str], row: int, end: int) -> Recompile | None:
    head = fields("recompile_reason", "header", rows[row].rstrip()[:_LONGEST])
    if head is None:
        return None
    told = [(text, at) for text, at in _reasons(rows, row + 1, end)]
    return Recompile(
        function=first(head, "NAME"),
        file=first(head, "FILE"),
        line=int(head["LINE"][0][:9]),
        reasons=tuple(read_recompile_reason(text) for text, _ in told),
        rows=tuple(at for _, at in told),
        row=row,
    )


def _reasons(rows: Sequence[str], row: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield each reason's text, with the user's stack as a trace has it, and its row."""
    reason: list[str] = []
    start = row
    numbered = stacked = verbose = False
    mark = _LIST_MARK
    for at in range(row, end):
        line = rows[at]
        if not line.strip() or line.strip().startswith(_SET_OFF):
            if line.startswith(_SET_OFF):
                mark = _LIST_MARK.lstrip()  # a reader of prefixes, or a paste, took the blanks in front
            said = line.partition("guard failure: ")[2]  # torch 2.1 has the only reason on this line
            if said:
                reason, start = [said], at
            continue
        if line.strip().startswith("guard ") and line.rstrip().endswith(" failures:"):
            if reason:
                yield "\n".join(reason), start
            reason, numbered, stacked, verbose = [], False, False, True
            continue
        if not line.startswith(mark):
            break  # other output; without a prefix on each line nothing else tells where a message ends
        text = line.removeprefix(mark)
        begins = _NUMBERED.match(text) is not None
        if text.rstrip() == _STACK_HEAD:
            stacked = True
        # A line without id begins a reason where none has one (torch 2.4), but not within a user's stack.
        joins = bool(reason) and not begins and (stacked or numbered)
        if joins:
            reason.append(text.rstrip() if text.rstrip() == _STACK_HEAD else text)
        elif reason and verbose and not begins:
            reason[-1] += f"; {text.strip()}"  # several guards of one compile, as torch 2.5 writes them
        else:
            if reason:
                yield "\n".join(reason), start
            reason, start, numbered, stacked = [text], at, begins, False
    if reason:
        yield "\n".join(reason), start


def _from_tuple(line: str, row: int) -> Recompile | None:
    """Read `('Recompiling function f in FILE:LINE', 'triggered by the following guard failure: ...')`."""
    try:
        value = ast.literal_eval(line.strip()[:_LONGEST])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(value, tuple) or len(value) != 2 or not all(isinstance(v, str) for v in value):
        return None
    head = fields("recompile_reason", "header", value[0])
    if head is None:
        return None
    _, _, said = value[1].partition(": ")
    texts = [said.strip()]
    if said.startswith("["):
        try:
            several = ast.literal_eval(said)
            texts = [str(text) for text in several]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    reasons = tuple(read_recompile_reason(text) for text in texts if text)
    return Recompile(
        first(head, "NAME"),
        first(head, "FILE"),
        int(head["LINE"][0][:9]),
        reasons,
        (row,) * len(reasons),
        row,
    )

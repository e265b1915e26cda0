"""What TORCH_LOGS=dynamic says that tracing decided over sizes: guards, replacements, ranges, values from data.

Format: `grammars/shape_log.lark`; lines that announce a symbol are read by `parse.symbol`. Messages of one instant stand
together in the log reader's text, so a line may begin anywhere in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.whole_messages import line_of, whole_messages
from aoti_logs.parse.python.stack_text import StackLine, frames_of_stack
from aoti_logs.parse.shape import Fields, fields, first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aoti_logs.parse.events import LogLine

_MODULE = "symbolic_shapes"
_SUPPRESSED = " [guard suppressed]"
_GRAMMAR = "shape_log"
_LONGEST = 1 << 15
_FRAME = re.compile(r"(?P<file>.+):(?P<line>\d+) in (?P<function>.+)")


@dataclass(frozen=True)
class Where:
    """Where a line of the log says that it comes from.

    Attributes:
        code: the user's line of code.
        file: the user's file; torch cuts its first characters off.
        line: line in it.
        function: function that the line is in.
        framework: line of torch that asked, `FILE:LINE in FUNCTION`; a non-strict export names the user's there.
    """

    code: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    framework: str | None = None


@dataclass(frozen=True)
class Decision:
    """An expression that tracing decided about.

    Attributes:
        entry: `guard_added`, `statically_known`, `trivial`, `assumed` (nothing could decide it), `propagate_real_tensors`,
            `ignored_guard`.
        expression: as sympy prints it; None where torch prints `False` in its place.
        prefix: `eval` or `runtime_assert`, with ` [guard suppressed]` behind it where torch was told to check nothing.
        result: what it was taken for.
        forced: whether torch made a size a constant of its own accord (`forcing_spec`).
        where: where it comes from.
    """

    entry: str
    expression: str | None
    prefix: str | None = None
    result: str | None = None
    forced: bool = False
    where: Where = Where()

    @property
    def is_checked(self) -> bool:
        """Whether it is a guard or an assertion that will be checked."""
        return self.entry == "guard_added" and not (self.prefix or "").endswith(_SUPPRESSED)


@dataclass(frozen=True)
class Replaced:
    """A symbol that something else stands for from now on.

    Attributes:
        symbol: the symbol; None where the line names what it measures instead (`Specializing ... to 8`).
        value: what stands for it.
        reason: `range_refined_to_singleton`, `solve`, `rename_unbacked_to`, ...
        bound: range of the value as printed, `VR[8, 8]`.
        source: what the symbol measures, where the line says so.
        skipped: why torch kept the symbol, `VR[3, int_oo] not subset of VR[2, 10]`; None where it was replaced.
    """

    symbol: str | None
    value: str
    reason: str | None = None
    bound: str | None = None
    source: str | None = None
    skipped: str | None = None


@dataclass(frozen=True)
class Narrowed:
    """A range of values: its ends as printed, and whether it is `new`, an `update` or a `constrain`t of the model's."""

    symbol: str
    limits: tuple[str, str]
    how: str | None


@dataclass(frozen=True)
class Origin:
    """Where a value that only data knows was made: its symbol and the stack, outermost frame first."""

    symbol: str
    frames: tuple[StackLine, ...]


Said = Decision | Replaced | Narrowed | Origin


@dataclass(frozen=True)
class ShapeLine:
    """One statement with its message; `line` is its line in the log."""

    message: LogLine
    line: int
    said: Said


def shapes_in(messages: Iterable[LogLine]) -> list[ShapeLine]:
    """Read what the messages of a log say over sizes, in its order."""
    found: list[ShapeLine] = []
    for message in whole_messages(m for m in messages if _MODULE in m.module):
        rows = message.text.split("\n")
        for row, text in enumerate(rows):
            said = _read(rows, row) if text.startswith(_STARTS) else None
            if said is not None:
                found.append(ShapeLine(message, line_of(message, row), said))
    return sorted(found, key=lambda s: s.line)


def read_shape_line(text: str) -> Said | None:
    """Read one line; None for one of another kind."""
    return _read([text], 0) if text.startswith(_STARTS) else None


def _read(rows: Sequence[str], row: int) -> Said | None:
    text = rows[row].rstrip()[:_LONGEST]
    for start, rule, made in _LINES:
        if text.startswith(start):
            found = fields(_GRAMMAR, rule, text)
            if found is not None:
                return made(found, rows, row)
    return None


def _guard(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    return Decision(
        "guard_added",
        found["GUARDED"][0],
        found["PREFIX"][0].strip(),
        forced="FORCING" in found,
        where=_where(found),
    )


def _known(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    expression: str | None = found["KNOWN"][0]
    prefix = found["PREFIX"][0].strip()
    if expression == "False" and prefix == "eval":
        expression = None  # torch 2.9 and later print another variable in its place
    return Decision("statically_known", expression, prefix, found["RESULT"][0])


def _trivial(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    return Decision("trivial", found["TRIVIAL"][0], "eval")


def _replaced(found: Fields, _rows: Sequence[str], _row: int) -> Replaced:
    reason, bound = first(found, "REASON"), first(found, "BOUND")
    return Replaced(
        found["SYMBOL"][0],
        found["TARGET"][0],
        reason.strip(" ()") if reason else None,
        bound.strip() if bound else None,
    )


def _skipped(found: Fields, _rows: Sequence[str], _row: int) -> Replaced:
    why = found["WHY"][0].strip()
    return Replaced(
        found["SYMBOL"][0], found["TARGET"][0], found["REASON"][0].strip(" ()"), skipped=why[1:-1]
    )


def _specializing(found: Fields, _rows: Sequence[str], _row: int) -> Replaced:
    return Replaced(None, found["RESULT"][0], "specializing", source=found["ORIGIN"][0])


def _range(found: Fields, _rows: Sequence[str], _row: int) -> Narrowed:
    lower, upper = found["LIMIT"][:2]
    how = first(found, "HOW")
    return Narrowed(found["SYMBOL"][0], (lower, upper), how.strip(" ()") if how else None)


def _constrained(found: Fields, _rows: Sequence[str], _row: int) -> Narrowed:
    lower, upper = found["LIMIT"][:2]
    return Narrowed(found["SYMBOL"][0], (lower, upper), "constrain")


def _assumed(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    return Decision("assumed", found["ASSUMED"][0], result=found["WORD"][0], where=_where(found))


def _real(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    return Decision("propagate_real_tensors", found["GIVEN"][0], result=found["RESULT"][0])


def _ignored(found: Fields, _rows: Sequence[str], _row: int) -> Decision:
    return Decision("ignored_guard", found["KNOWN"][0], result=found["VALUE"][0])


def _origin(found: Fields, rows: Sequence[str], row: int) -> Origin:
    below: list[str] = []
    for text in rows[row + 1 :]:
        if text.startswith(_STARTS):
            break
        below.append(text)
    return Origin(found["SYMBOL"][0], frames_of_stack("\n".join(below)))


def _where(found: Fields) -> Where:
    frame = _FRAME.fullmatch(first(found, "PLAIN_FRAME") or "")
    framework = (first(found, "FRAMEWORK") or "").strip()[1:-1] or None
    code = (first(found, "CODE") or "").strip() or None
    if frame is None:
        return Where(code, framework=framework)
    return Where(code, frame["file"], int(frame["line"][:9]), frame["function"].strip(), framework)


_LINES: tuple[tuple[str, str, Callable[[Fields, Sequence[str], int], Said]], ...] = (
    ("eval ", "guard", _guard),
    ("runtime_assert ", "guard", _guard),
    ("eval ", "known", _known),
    ("runtime_assert ", "known", _known),
    ("eval ", "trivial", _trivial),
    ("set_replacement ", "replaced", _replaced),
    ("skipped set_replacement ", "skipped", _skipped),
    ("Specializing ", "specializing", _specializing),
    ("_update_var_to_range ", "range", _range),
    ("constrain_symbol_range ", "constrained", _constrained),
    ("could not evaluate ", "assumed", _assumed),
    ("propagate_real_tensors ", "real", _real),
    ("Ignored guard ", "ignored", _ignored),
    ("Data dependent variable ", "origin", _origin),
)
_STARTS = tuple(dict.fromkeys(start for start, _, _ in _LINES))


def decisions(lines: Iterable[ShapeLine]) -> Iterator[tuple[ShapeLine, Decision]]:
    """Yield the decisions among them."""
    for line in lines:
        if isinstance(line.said, Decision):
            yield line, line.said

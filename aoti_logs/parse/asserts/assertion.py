"""Failed bounds checks: the condition, the lines that three GPU runtimes print, one row a condition.

Format: `grammars/assertion.lark` names the programs that print them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.asserts.threads import Numbers, Threads, Triple
from aoti_logs.parse.events import Assertion, AssertionForm, AssertionText
from aoti_logs.parse.logs.sender import NOBODY, Sender
from aoti_logs.parse.shape import LONGEST, fields, first, tokens

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Log

INDEX_CHECK = "index out of bounds: "
# The commonest forms, of which the grammar says the same: with them a storm needs no grammar.
_PLAIN_CONDITION = re.compile(
    INDEX_CHECK
    + r"(?:(?P<lower>0) <= )?(?P<operand>(?P<wide>tl\.broadcast_to\()?(?P<name>tmp[0-9]{1,9})"
    + r"(?(wide), \[[A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*\]\))) < (?P<bound>k?s[0-9]{1,9}|(?P<value>[0-9]{1,18})L?)"
)
_PLAIN_LINE = re.compile(
    r"(?P<file>[^:\s][^:\n]*):(?P<line>[0-9]+): (?P<function>(?!block|global id)[^\s:`\[][^:`\[\n]*): "
    r"block: \[([0-9]+),([0-9]+),([0-9]+)\], thread: \[([0-9]+),([0-9]+),([0-9]+)\] Assertion `(?P<text>[^`\n]+)` failed\.?"
)
# No size has 64 digits; Python refuses to read numbers of some thousands.
_LITERAL = re.compile(r"\(?([+-]?\d{1,64})[uUlL]{0,3}\)?")
_MEMORY_SPACES = {
    "tl",
    "tl.int64",
    "tl.int32",
    "XBLOCK",
    "YBLOCK",
    "ZBLOCK",
    "R0_BLOCK",
    "R1_BLOCK",
    "RBLOCK",
}


def condition(message: str) -> AssertionText | None:
    """Take `index out of bounds: 0 <= tmp4 < ks0` apart; None when it is not an index check.

    An index check that the grammar does not read keeps its text in `full` and has nothing else.
    """
    plain = _PLAIN_CONDITION.fullmatch(message)
    if plain is None:
        return condition_by_grammar(message)
    bound, operand, value = plain["bound"], plain["operand"], plain["value"]
    return AssertionText(
        full=message.removeprefix(INDEX_CHECK),
        operand=operand,
        operand_name=plain["name"],
        lower=plain["lower"],
        bound=bound,
        bound_kind="symbol" if value is None else "literal",
        bound_value=None if value is None else int(value),
        bound_symbols=(bound,) if value is None else (),
    )


def condition_by_grammar(message: str) -> AssertionText | None:
    """Do the same by the grammar alone."""
    if not message.startswith(INDEX_CHECK):
        return None
    found = tokens("assertion", "condition", message)
    full = message.removeprefix(INDEX_CHECK).strip()
    if found is None:
        return AssertionText(full, None, None, None, None, None, None)
    signs = [(kind, a, b) for kind, a, b in found if kind in {"LE", "LT"} and _depth(message, a) == 0]
    (kind, start, end), last = signs[0], signs[-1]
    begin = len(INDEX_CHECK)
    if len(signs) == 2:
        sides = (begin, start), (end, last[1]), (last[2], len(message))
    elif kind == "LE":
        sides = (begin, start), (end, len(message)), (0, 0)
    else:
        sides = (0, 0), (begin, start), (end, len(message))
    lower, operand, bound = (message[a:b].strip() or None for a, b in sides)
    names = [_names(message, found, a, b) for a, b in sides]
    value = _LITERAL.fullmatch(bound) if bound else None
    symbols = names[2]
    kind_of_bound = None
    if bound:
        kind_of_bound = "literal" if not symbols else "symbol" if symbols == (bound,) else "symbolic_expr"
    return AssertionText(
        full=full,
        operand=operand,
        operand_name=next((n for n in names[1] if n not in _MEMORY_SPACES), operand),
        lower=lower,
        bound=bound,
        bound_kind=kind_of_bound,
        bound_value=int(value[1]) if value else None,
        bound_symbols=symbols,
    )


def _depth(text: str, at: int) -> int:
    return sum(text.count(c, 0, at) for c in "([{") - sum(text.count(c, 0, at) for c in ")]}")


def _names(text: str, found: list[tuple[str, int, int]], start: int, end: int) -> tuple[str, ...]:
    inside = [
        text[a:b]
        for kind, a, b in found
        if kind == "NAME" and start <= a < end and not text[b:].lstrip().startswith("(")
    ]
    return tuple(dict.fromkeys(inside))


# Where the place begins: a path with blanks is only believed when nothing stands before it on the line.
_END = r":\d{1,9}:(?: \S[^\n]{0,1500}?:)?\s*$"
_WHOLE = re.compile(r"\s*(?:[A-Za-z]:[\\/]|[</.~])[^\n:]{1,1000}" + _END)
_PLACE = re.compile(
    r"(?:<[^<>\n]{1,300}>|unknown|[A-Za-z]:[\\/][^\n:*?\"<>|\s]{1,1000}"
    r"|(?:\.{1,2})?/[^\n:\s]{1,1000}|\w[\w.-]{0,200}\.\w{1,4})" + _END
)
_WINDOW = 4096


def place_start(before: str) -> int | None:
    """Return where `FILE:LINE: FUNCTION:` begins in the text before `block:`, or None."""
    if _WHOLE.match(before):
        return len(before) - len(before.lstrip())
    found = _PLACE.search(before, max(0, len(before) - _WINDOW))
    return found.start() if found else None


@dataclass(frozen=True)
class Printed:
    """What one device assertion line says, without block and thread, and whose line it is."""

    form: AssertionForm
    message: str
    file: str | None
    line: int | None
    function: str | None
    sender: Sender = NOBODY


DeviceLine = tuple[Printed, Triple | None, Triple | None]
"""What a line says, the block (on XPU: the global id) and the thread (on XPU: the local id)."""


def device_line(text: str, sender: Sender = NOBODY) -> DeviceLine | None:
    """Read one line of the CUDA, HIP or XPU form; None when it is none of them."""
    plain = _PLAIN_LINE.fullmatch(text) if len(text) <= LONGEST else None
    if plain is None or "device assertion failed" in text or "global id" in text:
        return device_line_by_grammar(text, sender)
    file, line, function, *numbers, message = plain.groups()
    x, y, z, a, b, c = (int(n[:18]) for n in numbers)
    printed = Printed(AssertionForm.CUDA, message, file, _line(line), function, sender)
    return printed, (x, y, z), (a, b, c)


def device_line_by_grammar(text: str, sender: Sender = NOBODY) -> DeviceLine | None:
    """Do the same by the grammar alone."""
    if "device assertion failed" in text:
        hip = fields("assertion", "hip", text)
        if hip is None:
            return None
        printed = Printed(
            AssertionForm.HIP,
            hip["HIP_TEXT"][0],
            hip["HIP_FILE"][0],
            _line(hip["LINE"][0]),
            first(hip, "HIP_FUNCTION"),
            sender,
        )
        return printed, None, None
    form = AssertionForm.XPU if "global id" in text else AssertionForm.CUDA
    found = fields("assertion", form.value, text)
    if found is None:
        return None
    message = first(found, "QUOTED") or first(found, "BARE") or ""
    printed = Printed(
        form, message, found["FILE"][0], _line(found["LINE"][0]), first(found, "FUNCTION"), sender
    )
    numbers = [int(n[:18]) for n in found["INT"]]
    return printed, (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4], numbers[5])


def _line(digits: str) -> int:
    return int(digits[:9])


@dataclass
class Tally:
    """Everything seen of one distinct assertion while a log is read."""

    printed: Printed
    count: int = 0
    spans: list[list[int]] = field(default_factory=list)
    first: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)
    threads: Threads = field(default_factory=Threads)
    glued: bool = False

    def seen(self, start: int, end: int) -> None:
        """Note a range of bytes that holds lines of it."""
        if self.spans and self.spans[-1][1] >= start:
            self.spans[-1][1] = max(self.spans[-1][1], end)
        else:
            self.spans.append([start, end])

    def row(self, log: Log) -> Assertion:
        """Return the row."""
        return Assertion(
            form=self.printed.form,
            message=self.printed.message,
            text=condition(self.printed.message),
            file=self.printed.file,
            line=self.printed.line,
            function=self.printed.function,
            count=self.count,
            first=log.span(*self.first),
            last=log.span(*self.last),
            spans=tuple(log.span(start, end) for start, end in self.spans),
            rank=self.printed.sender.rank,
            n_blocks=self.threads.n_blocks,
            n_threads=self.threads.n_pairs,
            blocks=self.threads.blocks(),
            threads=self.threads.threads(),
            glued=self.glued,
            silent=self.threads.silent() if self.printed.form is AssertionForm.CUDA else None,
        )


class Tallies:
    """The distinct assertions of a log, in order of first appearance."""

    def __init__(self) -> None:
        self._by_key: dict[Printed, Tally] = {}

    def of(self, printed: Printed) -> Tally:
        """Return the tally of an assertion."""
        return self._by_key.setdefault(printed, Tally(printed))

    def count(
        self, log: Log, printed: Printed, place: tuple[int, int], numbers: bytes | None, *, glued: bool
    ) -> None:
        """Count one assertion that stands at `place`, and claim its bytes."""
        tally = self.of(printed)
        tally.count += 1
        if tally.count == 1:
            tally.first = place
        tally.last = place
        tally.seen(*place)
        tally.glued = tally.glued or glued
        if numbers is not None:
            tally.threads.add(Numbers(numbers + b"\n"))
        log.claims.add(*place, "assertion")

    def rows(self, log: Log) -> list[Assertion]:
        """Return one row an assertion."""
        return [tally.row(log) for tally in sorted(self._by_key.values(), key=lambda t: t.first)]

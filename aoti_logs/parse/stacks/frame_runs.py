"""Runs of c10 frames that are all of the usual form: recognised line by line, taken apart when somebody asks.

A service prints thousands of stacks, and of most of them nobody reads the frames. A property test says that
the frames are those of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from aoti_logs.parse.events import Frame
from aoti_logs.parse.logs.lines import Line
from aoti_logs.parse.stacks.stack_form import known
from aoti_logs.sources.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.logs.lines import Log
    from aoti_logs.sources.source import Source

# A symbol with a plus in it (`operator+`) is left to the grammar: without them a symbol is one class of characters.
_FRAME = re.compile(
    rb"frame #(\d{1,9}): (?:([^\s+\x80-\xff](?:[^\n\r\t+]*[^\s+])?) \+ (0x[0-9a-f]{1,16}) \((0x[0-9a-f]{1,16}) in ([^\s()][^()\n\r\t]*)\)|"
    rb"([^\s()][^()\n\r\t]*)\(\) \[(0x[0-9a-f]{1,16})\])\n"
)
_FRAMES = re.compile(
    rb"(?:frame #\d{1,9}+: (?:[^\s+\x80-\xff][^\n\r\t+]*+(?<=\S )\+ 0x[0-9a-f]{1,16}+ \(0x[0-9a-f]{1,16}+ in [^\s()][^()\n\r\t]*+\)|"
    rb"[^\s()][^()\n\r\t]*+\(\) \[0x[0-9a-f]{1,16}+\])\n)+"
)
_HEAD = len(b"frame #")
_MOST_HEADS = 256
_HEADS = tuple(b"frame #%d:" % number for number in range(_MOST_HEADS))
_BLOCK = 1 << 16
_FEWEST = 4  # frames for which it is worth it


class C10Frames(Sequence[Frame]):
    """The frames of one stack, made when they are first looked at."""

    def __init__(
        self,
        source: Source,
        start: int,
        text: bytes,
        last: int,
        finish: Callable[[list[Frame]], list[Frame]],
    ) -> None:
        self._source, self._start, self._text, self._finish = source, start, text, finish
        self.last = last
        """The number of the last frame."""

    @cached_property
    def _frames(self) -> tuple[Frame, ...]:
        made = []
        for found in _FRAME.finditer(self._text):
            number, symbol, offset, address, library, program, place = found.groups()
            span = Span(self._source, self._start + found.start(), self._start + found.end())
            if program is not None:
                frame = Frame(int(number), None, None, None, _text(program), None, int(place, 16), span)
            else:
                frame = Frame(
                    int(number), known(_text(symbol)), None, None, _text(library), int(offset, 16),
                    int(address, 16), span,
                )  # fmt: skip
            made.append(frame)
        return tuple(self._finish(made))

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Frame, ...]: ...
    def __getitem__(self, index: int | slice) -> Frame | tuple[Frame, ...]:
        """Return a frame, or several."""
        return self._frames[index]

    def __len__(self) -> int:
        """Return how many frames there are; they need not be made for that."""
        return self._text.count(b"\n")

    def __eq__(self, other: object) -> bool:
        """Compare the frames one by one."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return the hash of where they stand."""
        return hash((self._start, len(self._text)))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def frame_run(
    log: Log, line: Line, finish: Callable[[list[Frame]], list[Frame]]
) -> tuple[C10Frames, Line] | None:
    """Return the frames from this line on, and their lines as one; None when one has to look at each.

    Args:
        log: the log; one that something is wrapped around has no such runs.
        line: the first frame.
        finish: what is done to all frames of a stack together.
    """
    if log.unwrapped is not None:
        return None
    start, limit = line.start, log.claims.next_start(line.start, log.size)
    text = bytes(log.data[start : min(start + _BLOCK, limit)])
    whole = _FRAMES.match(text)
    if whole is None:
        return None
    at, last, count = _counted_up(whole[0])
    if count < _FEWEST or (len(text) - at < _BLOCK // 2 and start + len(text) < limit):
        return None  # few, or more than a block of them
    return C10Frames(log.source, start, text[:at], last, finish), Line(
        start, start + at, line.text, line.rank
    )


def _counted_up(text: bytes) -> tuple[int, int, int]:
    """Return where the frames end whose numbers grow, the last number, and how many they are."""
    lines = text.split(b"\n")[:-1]
    first = int(lines[0][_HEAD : lines[0].index(b":", _HEAD)])
    if (
        all(map(bytes.startswith, lines, _HEADS[first : first + len(lines)]))
        and first + len(lines) <= _MOST_HEADS
    ):
        return len(text), first + len(lines) - 1, len(lines)
    numbers = [int(line[_HEAD : line.index(b":", _HEAD)]) for line in lines]
    count = next((n for n in range(1, len(numbers)) if numbers[n] <= numbers[n - 1]), len(numbers))
    if count == len(numbers):
        return len(text), numbers[-1], count
    at = 0
    for _ in range(count):
        at = text.index(b"\n", at) + 1
    return at, numbers[count - 1], count

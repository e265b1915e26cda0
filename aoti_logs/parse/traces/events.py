"""Chromium events of a trace: begins and ends paired to spans.

`torch/_dynamo/utils.py` (`ChromiumEventLogger`) writes one record for a begin (`"ph": "B"`), one for its end (`E`) and
one for an instant (`i`). All threads of a process share `tid` 0, so spans of threads that compile at once overlap:
a begin and an end belong together by name and compile id, the innermost first. Where threads are inside of spans of
one name and of no compile id at once, nothing says which end is whose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex

Open = dict[tuple[int, str], list["Event"]]


@dataclass(eq=False)
class Event:
    """A span, an instant, or half of a span.

    Attributes:
        number: the record where it begins; of a lone end, the end.
        phase: `span`, `instant`, `begin` (no end was recorded), `end` (no begin was), or the letter torch wrote.
        start_us: microseconds since 1970, None for a lone end.
        end_us: likewise, None for an instant and a lone begin.
        depth: how many spans of the process were open when it began.
        parent: name of the innermost of them.
        args: arguments of begin and end together; the end's win.
    """

    number: int
    name: str
    phase: str
    start_us: float | None
    end_us: float | None
    depth: int
    parent: str | None
    args: dict[str, Any]
    category: str | None = None

    @property
    def compile_id(self) -> str | None:
        """Compile id in the arguments, None where torch knew none."""
        return _id(self.args)


def events(trace: TraceIndex) -> list[Event]:
    """Return the events of a trace in file order of their begins; what is no event object is left out."""
    found: list[Event] = []
    open_: Open = {}
    stacks: dict[int, _Stack] = {}
    prefixes = trace.context.prefixes
    for number, value in trace.payload_objects("chromium_event"):
        get = value.get
        name, args, at, phase = get("name"), get("args"), get("ts"), get("ph")
        name = name if isinstance(name, str) else str(name or "")
        args = args if isinstance(args, dict) else {}
        at = float(at) if isinstance(at, int | float) and not isinstance(at, bool) else None
        process = prefixes[number].process
        if phase == "E" and (begun := _begun(open_, process, name, args)) is not None:
            begun.phase, begun.end_us = "span", at
            begun.args = {**begun.args, **args}
            stacks[process].end()
            continue
        stack = stacks.setdefault(process, _Stack())
        depth, parent = stack.depth, stack.innermost
        start, end = (None, at) if phase == "E" else (at, None)
        category = get("cat")
        event = Event(
            number, name, _PHASES.get(str(phase), str(phase)), start, end, depth, parent, args,
            category if isinstance(category, str) else None,
        )  # fmt: skip
        found.append(event)
        if phase == "B":
            open_.setdefault((process, name), []).append(event)
            stack.begin(event)
    return found


class _Stack:
    """The spans of a process that are open. One that ends below others stays in the list until they have ended."""

    def __init__(self) -> None:
        self.depth = 0
        self._begun: list[Event] = []

    @property
    def innermost(self) -> str | None:
        return self._begun[-1].name if self._begun else None

    def begin(self, event: Event) -> None:
        self.depth += 1
        self._begun.append(event)

    def end(self) -> None:
        self.depth -= 1
        while self._begun and self._begun[-1].phase != "begin":
            self._begun.pop()


def _begun(open_: Open, process: int, name: str, args: dict[str, Any]) -> Event | None:
    """Take the begin that an end belongs to."""
    waiting = open_.get((process, name))
    if not waiting:
        return None
    own = args.get("compile_id")
    for at in range(len(waiting) - 1, max(-1, len(waiting) - _LOOK), -1):
        if waiting[at].args.get("compile_id") == own:
            return waiting.pop(at)
    # Of two compiles that both have an id, one is not the other: its half was lost.
    known = _id(args) is not None and waiting[-1].compile_id is not None
    return None if known else waiting.pop()


def _id(args: dict[str, Any]) -> str | None:
    own = args.get("compile_id")
    return own if isinstance(own, str) and own != "None" else None


_PHASES = {"B": "begin", "E": "end", "i": "instant", "I": "instant"}
_LOOK = 64  # threads that can be inside spans of one name at once; bounds the search in hostile files

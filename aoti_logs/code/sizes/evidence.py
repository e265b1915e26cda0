"""What records say of one wrapper's size symbols: announcements, examples, value ranges.

Only evidence that can be about the wrapper is heard (`nearness.belongs`): symbols are hashes of input names since
torch 2.7, so another model's may be the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from aoti_logs.code.names.nearness import (
    AOTI,
    Witness,
    belongs,
    compile_of_copy,
    compile_of_witness,
    in_trace,
    nearness,
)
from aoti_logs.code.sizes.definition import canonical
from aoti_logs.code.sizes.guards import guards_of_log, guards_of_traces
from aoti_logs.parse.text import limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.code.names.nearness import Compile
    from aoti_logs.code.sizes.guards import GuardLimit, GuardTrees
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.facts import Range, Symbol
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Place, Source


class Enforced(StrEnum):
    """When something tests a limit."""

    ALWAYS = "always"
    GATED = "AOTI_RUNTIME_CHECK_INPUTS"
    """Only when this variable of the environment is set as the model first runs."""
    GUARDS = "guards"
    """Dynamo tests it before every call, and compiles again where it fails."""
    NEVER = "never"


@dataclass(frozen=True)
class Limit:
    """A range of a symbol or an extent, from one place that tells it. None is no limit.

    `told_by` is `create_symbol`, `exported_program`, `new`, `update` or `constrain` (`tables.ranges`), `guard`,
    `check_input` or `runtime_assert`.
    """

    extent: str
    lower: int | None
    upper: int | None
    told_by: str
    enforced: Enforced
    place: Place
    text: str = ""


@dataclass(frozen=True)
class Narrowing:
    """A range that tracing printed into a log, as a witness (`nearness.Witness`)."""

    symbol: str
    lower: int | None
    upper: int | None
    how: str
    place: Place
    source: Source
    compile_id: str | None


class Recorded(Protocol):
    """Where the records come from; each kind is read when somebody asks for it."""

    @property
    def all_symbols(self) -> tuple[Symbol, ...]:
        """Announced symbols."""

    @property
    def ranges(self) -> tuple[Range, ...]:
        """Ranges that exported programs print."""

    @property
    def traces(self) -> tuple[TraceIndex, ...]:
        """Traces, for their guards."""

    @property
    def logs(self) -> tuple[tuple[Source, LogEvents], ...]:
        """Logs, for the ranges of TORCH_LOGS=+dynamic and for guards."""


class SizeRecords:
    """All records about sizes, of any model, by symbol."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded

    @cached_property
    def announced(self) -> dict[str, _Groups[Symbol]]:
        """Announcements by symbol; those of "duck sized" sizes tell nothing of the symbol."""
        return _grouped((s.symbol, s) for s in self._recorded.all_symbols if not s.duck)

    @cached_property
    def ranges(self) -> dict[str, _Groups[Range]]:
        """Ranges of exported programs, by symbol or `canonical` expression."""
        return _grouped((canonical(r.symbol), r) for r in self._recorded.ranges)

    @cached_property
    def narrowed(self) -> dict[str, _Groups[Narrowing]]:
        """Ranges that tracing narrowed."""
        from aoti_logs.parse.sizes.shape_log import Narrowed, shapes_in

        found = []
        for source, events in self._recorded.logs:
            for told in shapes_in(events.messages) if events.messages else ():
                if isinstance(said := told.said, Narrowed):
                    lower, upper = map(limit, said.limits)
                    place = source.place(told.line)
                    how = said.how or "range"
                    mark = told.message.compile_id
                    found.append(Narrowing(said.symbol, lower, upper, how, place, source, mark))
        return _grouped((n.symbol, n) for n in found)

    @cached_property
    def guards(self) -> _Groups[GuardTrees]:
        """The guards of each compile."""
        told = (g for source, events in self._recorded.logs for g in guards_of_log(source, events))
        return _Groups([*guards_of_traces(self._recorded.traces), *told])


class SizeEvidence:
    """The part of it that is about one wrapper.

    Args:
        records: all records.
        copies: names of the sources that hold the wrapper's text.
        jit: the wrapper is torch.compile's, whose guards test what tracing assumed.
    """

    def __init__(self, records: SizeRecords, copies: Sequence[str], *, jit: bool) -> None:
        self._records = records
        self._copies = copies
        self._jit = jit
        self._traced = Enforced.GUARDS if jit else Enforced.NEVER

    def announcements(self, symbol: str) -> tuple[Symbol, ...]:
        """Return the nearest announcements of a symbol, one of each that differs."""
        found = _of(self._records.announced, symbol, self._copies)
        distinct = {(s.origin, s.hint, s.lower, s.upper): s for s in reversed(found)}
        return tuple(reversed(distinct.values()))

    def limits(self, symbol: str) -> tuple[Limit, ...]:
        """Return the ranges that tracing and export tell of a symbol or of an expression."""
        found = [
            Limit(symbol, s.lower, s.upper, "create_symbol", self._enforced(s), s.place)
            for s in self.announcements(symbol)
            if s.lower is not None or s.upper is not None
        ]
        found += [
            Limit(symbol, r.lower, r.upper, "exported_program", Enforced.NEVER, r.place)
            for r in self._exported(symbol)
        ]
        found += [
            Limit(symbol, r.lower, r.upper, r.how, self._traced, r.place)
            for r in _of(self._records.narrowed, symbol, self._copies)
        ]
        origins = {s.origin for s in self.announcements(symbol) if s.origin} if self._jit else set()
        found += [
            Limit(symbol, g.lower, g.upper, "guard", Enforced.GUARDS, g.place, g.text)
            for origin in origins
            for g in self._guarded.get(origin, ())
        ]
        distinct = {(f.told_by, f.lower, f.upper): f for f in reversed(found)}
        return tuple(reversed(distinct.values()))

    def _enforced(self, symbol: Symbol) -> Enforced:
        return Enforced.NEVER if symbol.unbacked else self._traced

    @cached_property
    def _guarded(self) -> dict[str, list[GuardLimit]]:
        """Limits that the guards of this compile set, by Dynamo source."""
        found: dict[str, list[GuardLimit]] = defaultdict(list)
        for trees in self._records.guards.of(self._copies):
            for one in trees.limits():
                found[one.origin].append(one)
        return dict(found)

    def _exported(self, symbol: str) -> Sequence[Range]:
        """Return what exported programs say; torch.compile's code is made of none."""
        if self._jit:
            return ()
        return _of(self._records.ranges, canonical(symbol), self._copies)


W = TypeVar("W", bound=Witness)


class _Groups(Generic[W]):
    """Evidence by the compile that it is about, so that of thousands only a wrapper's own is looked at.

    Args:
        items: the evidence.
    """

    def __init__(self, items: Iterable[W]) -> None:
        self._groups: dict[Compile, list[W]] = defaultdict(list)
        for item in items:
            self._groups[compile_of_witness(item.source, getattr(item, "compile_id", None))].append(item)
        self._outside = [(key, g) for key, g in self._groups.items() if not in_trace(g[0].source)]

    def of(self, copies: Sequence[str]) -> list[W]:
        """Return what stands nearest to a wrapper; nothing that is about another compile of its trace or log."""
        own: dict[Compile, None] = {}
        for copy in copies:
            if "#" in copy:
                name, mark = compile_of_copy(copy)
                own[name, mark] = None
                if mark is not None and mark.startswith(AOTI):
                    own[name, None] = None
        found = [item for key in own for item in self._groups.get(key, ())]
        if found:
            return found
        holders = {name for name, _ in own}
        marks = {mark for _, mark in own} | {None}
        near: dict[int, list[W]] = defaultdict(list)
        for (name, mark), group in self._outside:
            known = mark in marks or not holders
            if known and name not in holders and belongs(group[0].source, copies):
                near[nearness(group[0].source, None, copies)] += group
        return near[max(near)] if near else []


def _grouped(items: Iterable[tuple[str, W]]) -> dict[str, _Groups[W]]:
    found: dict[str, list[W]] = defaultdict(list)
    for key, item in items:
        found[key].append(item)
    return {key: _Groups(group) for key, group in found.items()}


def _of(groups: dict[str, _Groups[W]], key: str, copies: Sequence[str]) -> list[W]:
    return groups[key].of(copies) if key in groups else []

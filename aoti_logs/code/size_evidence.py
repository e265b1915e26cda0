"""What records say of one wrapper's size symbols: announcements, examples, value ranges.

Only evidence that can be about the wrapper is heard (`nearness.belongs`): symbols are hashes of input names since
torch 2.7, so another model's may be the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from aoti_logs.code.definition import canonical
from aoti_logs.code.nearness import Witness, by_nearness
from aoti_logs.parse.text import limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.facts import Range, Symbol
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

    `told_by` is `create_symbol`, `exported_program`, `new`, `update` or `constrain` (`tables.ranges`), `check_input`,
    `assert_size_stride` or `runtime_assert`.
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
    def logs(self) -> tuple[tuple[Source, LogEvents], ...]:
        """Logs, for the ranges of TORCH_LOGS=+dynamic."""


class SizeRecords:
    """All records about sizes, of any model, by symbol."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded

    @cached_property
    def announced(self) -> dict[str, list[Symbol]]:
        """Announcements by symbol; those of "duck sized" sizes tell nothing of the symbol."""
        return _by_symbol(s for s in self._recorded.all_symbols if not s.duck)

    @cached_property
    def ranges(self) -> dict[str, list[Range]]:
        """Ranges of exported programs, by symbol or `canonical` expression."""
        found: dict[str, list[Range]] = defaultdict(list)
        for told in self._recorded.ranges:
            found[canonical(told.symbol)].append(told)
        return dict(found)

    @cached_property
    def narrowed(self) -> dict[str, list[Narrowing]]:
        """Ranges that tracing narrowed."""
        from aoti_logs.parse.shape_log import Narrowed, shapes_in

        found = []
        for source, events in self._recorded.logs:
            for told in shapes_in(events.messages) if events.messages else ():
                if isinstance(said := told.said, Narrowed):
                    lower, upper = map(limit, said.limits)
                    place = source.place(told.line)
                    how = said.how or "range"
                    mark = told.message.compile_id
                    found.append(Narrowing(said.symbol, lower, upper, how, place, source, mark))
        return _by_symbol(found)


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
        found = _nearest(self._records.announced.get(symbol, ()), self._copies)
        distinct = {(s.origin, s.hint, s.lower, s.upper): s for s in reversed(found)}
        return tuple(reversed(distinct.values()))

    def limits(self, symbol: str) -> tuple[Limit, ...]:
        """Return the ranges that tracing and export tell of a symbol or of an expression."""
        found = [
            Limit(symbol, s.lower, s.upper, "create_symbol", self._traced, s.place)
            for s in self.announcements(symbol)
            if s.lower is not None or s.upper is not None
        ]
        found += [
            Limit(symbol, r.lower, r.upper, "exported_program", Enforced.NEVER, r.place)
            for r in self._exported(symbol)
        ]
        found += [
            Limit(symbol, r.lower, r.upper, r.how, self._traced, r.place)
            for r in _nearest(self._records.narrowed.get(symbol, ()), self._copies)
        ]
        distinct = {(f.told_by, f.lower, f.upper): f for f in reversed(found)}
        return tuple(reversed(distinct.values()))

    def _exported(self, symbol: str) -> Sequence[Range]:
        """Return what exported programs say; torch.compile's code is made of none."""
        if self._jit:
            return ()
        return _nearest(self._records.ranges.get(canonical(symbol), ()), self._copies)


class _Told(Witness, Protocol):
    @property
    def symbol(self) -> str: ...


T = TypeVar("T", bound=_Told)


def _by_symbol(items: Iterable[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = defaultdict(list)
    for item in items:
        found[item.symbol].append(item)
    return dict(found)


def _nearest(items: Sequence[T], copies: Sequence[str]) -> list[T]:
    groups = by_nearness(items, copies)
    return groups[0][0] if groups and groups[0][1] else []

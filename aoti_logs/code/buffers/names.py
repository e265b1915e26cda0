"""What memory a name of a wrapper means at a place: renames, views, reuse, results of branches and loops followed.

A memory begins where something is allocated, returned by a call, or taken over by `// reuse`, which ends the older
values. Renames and views are other names of the same memory. Inputs and constants are memories of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.buffers.part import UNKNOWN, Part, inside
from aoti_logs.code.buffers.reaching import Event, Order, before

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.model import Buffer, Within

    Extents = tuple[tuple[str, ...], tuple[str, ...] | None]

_POOL = re.compile(r"(?:\w+_)?pool\d+")
_MOST = 64
"""Memories that one name may mean; of more, it is said that the rest is not known."""


@dataclass(frozen=True)
class Seen:
    """A memory that a name can mean.

    `memory` is the name of an input or constant, or the number of the buffer (in `wrapper.buffers`) that the memory
    began with. `part` is None for the whole. `earlier` is True when it is the memory of an earlier round of a loop.
    """

    memory: int | str
    part: Part | None = None
    earlier: bool = False


@dataclass(frozen=True)
class Meaning:
    """What a name means at a place: one memory, or one of several; `known` is False when there may be more."""

    seen: tuple[Seen, ...]
    known: bool = True


class Layout(NamedTuple):
    """What is written of a buffer."""

    shape: tuple[str, ...] | None = None
    stride: tuple[str, ...] | None = None
    dtype: str | None = None
    device: str | None = None

    def or_of(self, older: Layout) -> Layout:
        """Fill in from the buffer whose memory it shares."""
        shape, stride = (self if self.shape is not None else older)[:2]
        return Layout(shape, stride, self.dtype or older.dtype, self.device or older.device)


NOTHING = Meaning((), known=False)


class BufferNames:
    """The names of one wrapper.

    Args:
        wrapper: the wrapper.
        layouts: extents and strides of inputs and constants, where the code tells them.
    """

    def __init__(self, wrapper: Wrapper, layouts: Mapping[str, Extents]) -> None:
        self._layouts = layouts
        self.buffers: tuple[Buffer, ...] = wrapper.buffers
        self._fixed = {i.name for i in wrapper.inputs} | {c.name for c in wrapper.constants}

    def known(self, name: str) -> bool:
        """Tell whether a word is the name of a tensor."""
        return name in self._fixed or name in self.births

    @cached_property
    def births(self) -> dict[str, list[Event]]:
        """Name -> the statements that give it a memory, in program order; keys are numbers of buffers."""
        found: dict[str, list[Event]] = defaultdict(list)
        for number, buffer in enumerate(self.buffers):
            if buffer.name not in self._fixed:
                found[buffer.name].append(Event((buffer.at, 0, number), buffer.within, number))
        return dict(found)

    def at(self, name: str, order: Order, within: Within) -> Meaning:
        """Return what a name means at a place."""
        if name in self._fixed:
            return Meaning((Seen(name),))
        events = self.births.get(name)
        if events is None:
            return NOTHING
        reached = before(events, order, within)
        found = [_of_round(self.of(key), earlier=self.order(key) > order) for key in reached.keys]
        return _joined(found, known=bool(found))

    def of(self, number: int) -> Meaning:
        """Return the memory of one of `wrapper.buffers`."""
        return self._meanings[number]

    @cached_property
    def _meanings(self) -> list[Meaning]:
        found: list[Meaning | None] = [None] * len(self.buffers)
        for number in range(len(self.buffers)):
            found[number] = self._follow(number, found)
        return [m or NOTHING for m in found]

    def _follow(self, number: int, done: Sequence[Meaning | None]) -> Meaning:
        """Follow renames and views back to memories; loops lead to buffers that come later in the code."""
        todo: list[tuple[int, Part | None, bool]] = [(number, None, False)]
        met: set[int] = set()
        seen: dict[Seen, None] = {}
        known = True
        while todo:
            at, part, earlier = todo.pop()
            if done[at] is not None:
                meaning = done[at] or NOTHING
                known = known and meaning.known
                found = (Seen(s.memory, inside(s.part, part), s.earlier or earlier) for s in meaning.seen)
                seen.update(dict.fromkeys(found))
                continue
            if at in met:
                continue
            met.add(at)
            old = self.older(at)
            if old is None:
                seen[Seen(at, part, earlier)] = None
                continue
            part = inside(_part(self.buffers[at]), part)
            if old in self._fixed:
                seen[Seen(old, part)] = None
                continue
            order = self.order(at)
            reached = before(self.births.get(old, []), order, self.buffers[at].within)
            known = known and bool(reached.keys)
            todo += [(key, part, earlier or key > at) for key in reached.keys]
            if len(seen) > _MOST or len(met) > 4 * _MOST:
                return Meaning(tuple(seen)[:_MOST], known=False)
        return Meaning(tuple(seen), known)

    def order(self, number: int) -> Order:
        """Return the place of a buffer's birth in program order."""
        return self.buffers[number].at, 0, number

    def older(self, number: int) -> str | None:
        """Return the name whose memory and values a buffer shares; None when a memory begins with it."""
        buffer = self.buffers[number]
        if buffer.alias_of is None or buffer.reuse or self.pool(number) is not None:
            return None
        if buffer.item is not None:
            item = f"{buffer.alias_of}[{buffer.item}]"
            return item if item in self.births else None
        return buffer.alias_of

    def layout(self, number: int) -> Layout:
        """Return extents, strides, dtype and device of a buffer; a rename has those of the older name."""
        return self._known_layouts[number]

    @cached_property
    def _known_layouts(self) -> list[Layout]:
        found: list[Layout] = []
        for number, buffer in enumerate(self.buffers):
            own = Layout(buffer.shape, buffer.stride, buffer.dtype, buffer.device)
            cut = buffer.view and buffer.shape is None and buffer.offset is not None
            if buffer.alias_of is None or buffer.item is not None or self.pool(number) or cut:
                found.append(own)
                continue
            reached = before(self.births.get(buffer.alias_of, []), self.order(number), buffer.within)
            older = {found[key] for key in reached.keys if key < number}
            if buffer.alias_of in self._layouts:
                older = {Layout(*self._layouts[buffer.alias_of])}
            found.append(own.or_of(older.pop()) if len(older) == 1 else own)
        return found

    def pool(self, number: int) -> str | None:
        """Return the pool that a buffer is cut from: one of many that have it one after the other."""
        buffer = self.buffers[number]
        if buffer.alias_of is not None and buffer.view and _POOL.fullmatch(buffer.alias_of):
            return buffer.alias_of
        return None

    def taken_from(self, number: int) -> Meaning | None:
        """Return the memory that a reuse takes over; None when the buffer is no reuse."""
        buffer = self.buffers[number]
        if not buffer.reuse or buffer.alias_of is None:
            return None
        return self.at(buffer.alias_of, self.order(number), buffer.within)

    @cached_property
    def of_memory(self) -> dict[int | str, list[str]]:
        """Memory -> every name that can mean it."""
        found: dict[int | str, dict[str, None]] = defaultdict(dict)
        for number, buffer in enumerate(self.buffers):
            for seen in self.of(number).seen:
                found[seen.memory][buffer.name] = None
        for name in self._fixed:
            found[name][name] = None
        return {memory: list(names) for memory, names in found.items()}


def _of_round(meaning: Meaning, *, earlier: bool) -> Meaning:
    if not earlier:
        return meaning
    return Meaning(tuple(replace(s, earlier=True) for s in meaning.seen), meaning.known)


def _joined(meanings: Sequence[Meaning], *, known: bool) -> Meaning:
    if len(meanings) == 1:
        return meanings[0]
    seen = dict.fromkeys(s for m in meanings for s in m.seen)
    return Meaning(tuple(seen)[:_MOST], known and len(seen) <= _MOST and all(m.known for m in meanings))


def _part(buffer: Buffer) -> Part | None:
    """Return what a view shows of the older name; None for all of it."""
    if not buffer.view or (buffer.shape is None and buffer.offset is None):
        return None
    if buffer.offset in {None, "?"}:
        return UNKNOWN
    return Part(buffer.shape, buffer.stride, buffer.offset)

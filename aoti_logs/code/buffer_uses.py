"""Every use of a memory, in program order: which launch reads or writes it, under which name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from aoti_logs.code.blocks import around
from aoti_logs.code.buffer_access import Access, accesses, refined
from aoti_logs.code.buffer_names import BufferNames, Seen
from aoti_logs.code.buffer_part import Comparison, Part, inside
from aoti_logs.code.reaching import Event, Judged, Order, Reached, before
from aoti_logs.code.store_flow import StoreFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aoti_logs.code.body import Body
    from aoti_logs.code.buffer_names import Meaning
    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.model import Launch, Size, Within

    Layout = tuple[tuple[str, ...], tuple[str, ...] | None]


BIRTH = -1
"""Stands for a use where a memory began."""


@dataclass(frozen=True)
class Use:
    """What one launch does with a memory, through one of its arguments.

    `access` is what the names of parameters tell of it (`BufferUses.refined` tells the rest), `seen` the memory,
    with what the launch's argument shows of it. `certain` is False when the name may mean another memory there.
    `number` counts the uses of the memory.
    """

    launch: int
    within: Within
    number: int
    access: Access
    seen: Seen
    certain: bool

    @property
    def part(self) -> Part | None:
        """What the launch sees of the memory; None for all of it."""
        return inside(self.seen.part, self.access.part)


class BufferUses:
    """The uses of all memories of one wrapper; each memory's are gathered when first asked for.

    Args:
        wrapper: the wrapper.
        body: gives the body of a kernel by its name.
        sizes: the definitions of size symbols.
        layouts: extents and strides of inputs and constants, where the code tells them.
    """

    def __init__(
        self,
        wrapper: Wrapper,
        body: Callable[[str], Body | None],
        sizes: Mapping[str, Size],
        layouts: Mapping[str, Layout],
    ) -> None:
        self.wrapper = wrapper
        self.names = BufferNames(wrapper)
        self.parts = Comparison(sizes)
        self.layouts = layouts
        self._body = body
        self._stores: dict[str, StoreFlow | None] = {}
        self._launches: dict[int, Launch] = {}
        self._accesses: dict[int, tuple[Access, ...]] = {}
        self._uses: dict[int | str, tuple[Use, ...]] = {}
        self._full: dict[tuple[int | str, int], Access] = {}
        self._events: dict[int | str, list[Event]] = {}

    @cached_property
    def count(self) -> int:
        """Number of launches."""
        return len(self.wrapper.calls)

    def launch(self, index: int) -> Launch:
        """Return a launch with its arguments bound, once."""
        if index not in self._launches:
            self._launches[index] = self.wrapper.launch(index)
        return self._launches[index]

    def place(self, index: int) -> tuple[Order, Within]:
        """Return the place in program order of a launch; of the end of the model for a number beyond the last."""
        if not 0 <= index < self.count:
            return (self.count + 1, 0, 0), ()
        return (index, 1, 0), self.launch(index).within

    def stores(self, kernel: str) -> StoreFlow | None:
        """Return the stores of a kernel's body; None when there is no body at hand."""
        if kernel not in self._stores:
            body = self._body(kernel)
            self._stores[kernel] = None if body is None else StoreFlow(body)
        return self._stores[kernel]

    def accesses(self, index: int) -> tuple[Access, ...]:
        """Return what a launch does with its arguments."""
        if index not in self._accesses:
            launch = self.launch(index)
            given = partial(self.stores, launch.kernel)
            self._accesses[index] = accesses(launch, given, self.wrapper.arrays, self.names.known)
        return self._accesses[index]

    def refined(self, access: Access, index: int, seen: Seen) -> Access:
        """Return an access with all that the kernel's body tells, as far as it is at hand."""
        launch = self.launch(index)
        if access.open:
            access = refined(access, self.stores(launch.kernel))
        if access.all is None and access.write and access.param:
            access = replace(access, all=self._fills(launch, access, seen))
        return access

    def meaning(self, access: Access, index: int) -> Meaning:
        """Return the memory that an argument of a launch means; a result that the call makes is named after it."""
        order, within = self.place(index)
        return self.names.at(access.name, (index + 1, 1, 0) if access.born else order, within)

    def of(self, memory: int | str) -> tuple[Use, ...]:
        """Return the uses of a memory in program order."""
        if memory not in self._uses:
            self._uses[memory] = tuple(self._gather(memory))
        return self._uses[memory]

    def _gather(self, memory: int | str) -> list[Use]:
        found: list[Use] = []
        for made in self._made_with(memory):
            found.append(replace(made, number=len(found)))
        names = self.names.of_memory.get(memory, [])
        for index in self.wrapper.mentioning(names):
            for access in self.accesses(index):
                if access.name not in names:
                    continue
                meaning = self.meaning(access, index)
                for seen in meaning.seen:
                    if seen.memory != memory:
                        continue
                    certain = meaning.known and len(meaning.seen) == 1
                    found.append(Use(index, self.launch(index).within, len(found), access, seen, certain))
        return found

    def _made_with(self, memory: int | str) -> list[Use]:
        """Return the call that a result comes from which is one of several (`buf6 = buf5[0]`)."""
        if isinstance(memory, str):
            return []
        buffer = self.names.buffers[memory]
        if buffer.item is None or buffer.alias_of is None:
            return []
        whole = self.names.at(buffer.alias_of, self.names.order(memory), buffer.within)
        certain = whole.known and len(whole.seen) == 1
        uses = [u for seen in whole.seen if seen.memory != memory for u in self.of(seen.memory)]
        return [replace(u, certain=certain) for u in uses if u.access.born]

    def shape(self, memory: int | str) -> Part | None:
        """Return a memory's own extents and strides, where the code writes them."""
        if isinstance(memory, str):
            shape, stride = self.layouts.get(memory, (None, None))
            return Part(shape, stride, "0")
        buffer = self.names.buffers[memory]
        for _ in range(64):
            if buffer.shape is not None and buffer.stride is not None:
                return Part(buffer.shape, buffer.stride, "0")
            older = self.names.births.get(buffer.alias_of or "", [])
            if not buffer.reuse or len(older) != 1:
                return None
            buffer = self.names.buffers[older[0].key]
        return None

    def full(self, use: Use) -> Access:
        """Return what a use does, with all that the kernel's body tells; kept."""
        key = (use.seen.memory, use.number)
        if key not in self._full:
            self._full[key] = self.refined(use.access, use.launch, use.seen)
        return self._full[key]

    def _fills(self, launch: Launch, access: Access, seen: Seen) -> bool | None:
        """Tell whether a launch sets every element that an argument shows, from the loops of its kernel."""
        shown = inside(seen.part, access.part) or self.shape(seen.memory)
        stores = self.stores(launch.kernel)
        extents = None if stores is None else stores.extents(access.param or "")
        if extents is None or shown is None:
            return None
        given = {a.param: a.value for a in launch.arguments if a.param and a.value is not None}
        return self.parts.fills(extents, given, shown)

    def writes(self, seen: Seen, order: Order, within: Within, *, step: bool = False) -> Reached:
        """Return the writes of a memory that can be the last before a place; keys are `Use.number`."""
        memory = seen.memory
        if memory not in self._events:
            self._events[memory] = self._as_events(memory)
        events, judge = self._events[memory], partial(self._judged, seen)
        if isinstance(memory, str):
            return before(events, order, within, judge, step=step)
        # Where a name means a memory that began in a branch, that branch was taken.
        birth = self.names.buffers[memory]
        if not seen.earlier:
            inner = within if around(birth.within, within) else birth.within
            return before(events, order, inner, judge, step=step)
        # The round that it began in came to its end; in this one it may have been written under another name.
        reached = before(events, (self.count + 1, 0, 0), birth.within, judge, step=step)
        first = min(order, self.names.order(memory))
        since = [e for e in events if e.order < first and judge(e.key) is not None]
        keys = dict.fromkeys((*(e.key for e in reversed(since)), *reached.keys))
        return Reached(tuple(keys), None if since else reached.sure, reached.is_open)

    def _as_events(self, memory: int | str) -> list[Event]:
        uses = [u for u in self.of(memory) if u.access.write is not False]
        found = [Event((u.launch, 1, 0), u.within, u.number) for u in uses]
        if isinstance(memory, str) or any(u.access.born for u in uses):
            return found
        birth = self.names.buffers[memory]
        if birth.within:
            # Each round of a loop allocates anew: what an earlier round wrote is gone.
            found.append(Event(self.names.order(memory), birth.within, BIRTH))
            found.sort(key=lambda e: e.order)
        return found

    def _judged(self, asked: Seen, key: int) -> Judged | None:
        """Say what a use does to the part of a memory that was asked for."""
        if key == BIRTH:
            return Judged()
        use = self.of(asked.memory)[key]
        apart = self.parts.disjoint(use.part, asked.part)
        if apart:
            return None
        certain = use.certain and use.access.write is True and apart is False
        covers = certain and self.parts.covers(use.part, asked.part, self.shape(asked.memory))
        return Judged(ends=covers and self.full(use).all is True, certain=certain)

"""Every use of a memory, in program order: which launch reads or writes it, under which name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.buffer_access import Access, accesses, needs_body
from aoti_logs.code.buffer_names import BufferNames, Seen
from aoti_logs.code.buffer_part import Comparison, Part, inside
from aoti_logs.code.flow import around
from aoti_logs.code.reaching import Event, Order, Reached, before
from aoti_logs.code.store_flow import StoreFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aoti_logs.code.body import Body
    from aoti_logs.code.buffer_names import Meaning
    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.model import Launch, Size, Within

    Layout = tuple[tuple[str, ...], tuple[str, ...] | None]


@dataclass(frozen=True)
class Use:
    """What one launch does with a memory, through one of its arguments.

    `name` is the name that the launch uses, `part` what it shows of the memory (None: all of it). `read` and
    `write` are None where the code does not tell, `all` tells whether a write sets every element shown. `certain`
    is False when the name may mean another memory there. `number` counts the uses of the memory.
    """

    launch: int
    within: Within
    number: int
    name: str
    param: str | None
    read: bool | None
    write: bool | None
    all: bool | None
    part: Part | None
    certain: bool
    born: bool = False


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
            stores = self.stores(launch.kernel) if needs_body(launch) else None
            self._accesses[index] = accesses(launch, stores, self.wrapper.arrays, self.names.known)
        return self._accesses[index]

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
                    part = inside(seen.part, access.part)
                    every = access.all
                    if every is None and access.write and access.param:
                        every = self._sets_all(index, access.param, part or self.shape(memory))
                    certain = meaning.known and len(meaning.seen) == 1
                    found.append(
                        Use(
                            index, self.launch(index).within, len(found), access.name, access.param, access.read,
                            access.write, every, part, certain, access.born,
                        )
                    )  # fmt: skip
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
        return [replace(u, certain=certain) for u in uses if u.born]

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

    def _sets_all(self, index: int, param: str, shown: Part | None) -> bool | None:
        """Tell from the loops of a kernel whether it sets every element that an argument shows."""
        launch = self.launch(index)
        stores = self.stores(launch.kernel)
        extents = None if stores is None else stores.extents(param)
        if extents is None or shown is None:
            return None
        given = {a.param: a.value for a in launch.arguments if a.param and a.value is not None}
        return self.parts.fills(extents, given, shown)

    def writes(self, seen: Seen, order: Order, within: Within, *, step: bool = False) -> Reached:
        """Return the writes of a memory that can be the last before a place; keys are `Use.number`."""
        memory, part = seen.memory, seen.part
        order, within = self._seen_from(memory, order, within)
        if part is None:
            if memory not in self._events:
                self._events[memory] = self._as_events(memory, None)
            events = self._events[memory]
        else:
            events = self._as_events(memory, part)
        return before(events, order, within, step=step)

    def _seen_from(self, memory: int | str, order: Order, within: Within) -> tuple[Order, Within]:
        """Return the place from which a memory's writes count.

        Where a name means a memory that began in a branch, that branch was taken; where it began later in the code,
        the loop around it came to its end.
        """
        if isinstance(memory, str):
            return order, within
        birth = self.names.buffers[memory]
        if self.names.order(memory) > order:
            return (self.count + 1, 0, 0), birth.within
        return order, within if around(birth.within, within) else birth.within

    def _as_events(self, memory: int | str, part: Part | None) -> list[Event]:
        whole = self.shape(memory)
        found = []
        for use in self.of(memory):
            if use.write is False:
                continue
            apart = self.parts.disjoint(use.part, part)
            if apart:
                continue
            certain = use.certain and use.write is True and apart is False
            ends = certain and use.all is True and self.parts.covers(use.part, part, whole)
            found.append(Event((use.launch, 1, 0), use.within, ends, use.number, certain))
        if not isinstance(memory, str) and not any(u.born for u in self.of(memory)):
            # Each round of a loop allocates anew: what an earlier round wrote is gone.
            birth = self.names.buffers[memory]
            if birth.within:
                found.append(Event((birth.at, 0, memory), birth.within, ends=True, key=-1, certain=True))
                found.sort(key=lambda e: e.order)
        return found

"""Every use of a memory, in program order: which launch reads or writes it, under which name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.access import Access, accesses, refined
from aoti_logs.code.buffers.blocks import around
from aoti_logs.code.buffers.names import BufferNames, Seen
from aoti_logs.code.buffers.part import Comparison, Part, inside
from aoti_logs.code.buffers.reaching import Event, Judged, Order, Reached, before
from aoti_logs.code.kernel.store_flow import StoreFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aoti_logs.code.body import Body
    from aoti_logs.code.buffers.names import Meaning
    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.model import Launch, Size, Within

    Extents = tuple[tuple[str, ...], tuple[str, ...] | None]


_MOST_IDLE = 64
BIRTH = -1
"""Stands for a use where a memory began."""


@dataclass(frozen=True)
class Use:
    """What one launch does with a memory, through one of its arguments.

    `access` is what the names of parameters tell of it (`BufferUses.refined` tells the rest), `seen` the memory,
    with what the launch's argument shows of it. `certain` is False when the name may mean another memory there.
    """

    launch: int
    within: Within
    access: Access
    seen: Seen
    certain: bool

    @property
    def part(self) -> Part | None:
        """What the launch sees of the memory; None for all of it."""
        return inside(self.seen.part, self.access.part)


class BufferUses:
    """The uses of all memories of one wrapper; a launch is bound when a question comes to it.

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
        layouts: Mapping[str, Extents],
    ) -> None:
        self.wrapper = wrapper
        self.names = BufferNames(wrapper, layouts)
        self.parts = Comparison(sizes)
        self.layouts = layouts
        self.sizes = sizes
        self._body = body
        self._stores: dict[str, StoreFlow | None] = {}
        self._launches: dict[int, Launch] = {}
        self._accesses: dict[int, tuple[Access, ...]] = {}
        self._mentions: dict[int | str, list[int]] = {}
        self._uses: dict[tuple[int, int | str], tuple[Use, ...]] = {}
        self._full: dict[Use, Access] = {}
        self._events: dict[int | str, list[Event]] = {}
        self._idle: dict[int | str, set[int]] = {}

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
        return (index, 1, 0), self.wrapper.calls[index].within

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
        return tuple(use for index in self._touching(memory) for use in self.by(index, memory))

    def by(self, index: int, memory: int | str) -> tuple[Use, ...]:
        """Return the uses of a memory by one launch."""
        if (index, memory) not in self._uses:
            made = self._made_with(index, memory)
            found = [use for access in self.accesses(index) for use in self._as_use(access, index, memory)]
            self._uses[index, memory] = tuple(made + found)
        return self._uses[index, memory]

    def _touching(self, memory: int | str) -> list[int]:
        """Return the launches that may use a memory; they need not be bound for that."""
        if memory not in self._mentions:
            found = self.wrapper.mentioning(self.names.of_memory.get(memory, []))
            maker = self._maker(memory)
            self._mentions[memory] = found if maker is None else sorted({maker, *found})
        return self._mentions[memory]

    def _as_use(self, access: Access, index: int, memory: int | str) -> Iterator[Use]:
        if access.name not in self.names.of_memory.get(memory, ()):
            return
        meaning = self.meaning(access, index)
        certain = meaning.known and len(meaning.seen) == 1
        for seen in meaning.seen:
            if seen.memory == memory:
                yield Use(index, self.wrapper.calls[index].within, access, seen, certain)

    def _maker(self, memory: int | str) -> int | None:
        """Return the call that a result comes from which is one of several (`buf6 = buf5[0]`)."""
        buffer = None if isinstance(memory, str) else self.names.buffers[memory]
        if buffer is None or isinstance(memory, str) or buffer.item is None or buffer.alias_of is None:
            return None
        whole = self.names.at(buffer.alias_of, self.names.order(memory), buffer.within)
        if not whole.known or len(whole.seen) != 1 or isinstance(whole.seen[0].memory, str):
            return None
        index = self.names.buffers[whole.seen[0].memory].at - 1
        return index if index >= 0 else None

    def _made_with(self, index: int, memory: int | str) -> list[Use]:
        if index != self._maker(memory):
            return []
        whole = self.names.buffers[memory].alias_of if isinstance(memory, int) else None
        born = [a for a in self.accesses(index) if a.born and a.name == whole]
        return [Use(index, self.wrapper.calls[index].within, a, Seen(memory), certain=True) for a in born]

    def shape(self, memory: int | str) -> Part | None:
        """Return a memory's own extents and strides, where the code writes them."""
        if isinstance(memory, str):
            shape, stride = self.layouts.get(memory, (None, None))
            return Part(shape, stride, "0")
        shape, stride, _, _ = self.names.layout(memory)
        return None if shape is None or stride is None else Part(shape, stride, "0")

    def full(self, use: Use) -> Access:
        """Return what a use does, with all that the kernel's body tells; kept."""
        if use not in self._full:
            self._full[use] = self.refined(use.access, use.launch, use.seen)
        return self._full[use]

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
        """Return the writes of a memory that can be the last before a place; keys are indices of launches."""
        memory = seen.memory
        events, judge = self._candidates(memory), partial(self._judged, seen)
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

    def _candidates(self, memory: int | str) -> list[Event]:
        """Return the launches that can write a memory; those that turned out to read only are left out in time."""
        if memory not in self._events:
            self._events[memory] = self._as_events(memory)
        idle = self._idle.setdefault(memory, set())
        if len(idle) > _MOST_IDLE:
            self._events[memory] = [e for e in self._events[memory] if e.key not in idle]
            idle.clear()
        return self._events[memory]

    def _as_events(self, memory: int | str) -> list[Event]:
        calls = self.wrapper.calls
        found = [Event((index, 1, 0), calls[index].within, index) for index in self._touching(memory)]
        if isinstance(memory, str):
            return found
        birth = self.names.buffers[memory]
        if birth.within and not any(u.access.born for u in self._before_birth(memory)):
            # Each round of a loop allocates anew: what an earlier round wrote is gone.
            found.append(Event(self.names.order(memory), birth.within, BIRTH))
            found.sort(key=lambda e: e.order)
        return found

    def _before_birth(self, memory: int) -> tuple[Use, ...]:
        index = self.names.buffers[memory].at - 1
        return self.by(index, memory) if index >= 0 else ()

    def _judged(self, asked: Seen, key: int) -> Judged | None:
        """Say what a launch does to the part of a memory that was asked for."""
        if key == BIRTH:
            return Judged()
        certain = ends = False
        writes = self.writing(asked, key)
        if not writes and all(u.access.write is False for u in self.by(key, asked.memory)):
            self._idle[asked.memory].add(key)
        for use in writes:
            sure = use.certain and use.access.write is True
            sure = sure and self.parts.disjoint(use.part, asked.part) is False
            certain = certain or sure
            ends = ends or (sure and self.sets(use, asked))
        return Judged(ends, certain) if writes else None

    def writing(self, asked: Seen, index: int) -> tuple[Use, ...]:
        """Return the uses by which a launch writes, or may write, into the part of a memory that was asked for."""
        return tuple(
            use
            for use in self.by(index, asked.memory)
            if use.access.write is not False and not self.parts.disjoint(use.part, asked.part)
        )

    def sets(self, use: Use, asked: Seen) -> bool:
        """Tell whether a use certainly sets every element of the part of a memory that was asked for."""
        covers = self.parts.covers(use.part, asked.part, self.shape(asked.memory))
        return covers and self.full(use).all is True

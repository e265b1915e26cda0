"""Which model inputs reach a buffer: followed launch by launch, store by store, with how they take part."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.access import TENSORS
from aoti_logs.code.expr import names
from aoti_logs.code.kernel.store_flow import turned
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.wrapper.extern_calls import Role, operator, roles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.buffers.names import Meaning, Seen
    from aoti_logs.code.buffers.reaching import Order
    from aoti_logs.code.buffers.uses import BufferUses, Use
    from aoti_logs.code.expr import Expr
    from aoti_logs.code.model import Within

_MOST_SYMBOLS = 200


@dataclass(frozen=True)
class Reaching:
    """An input or constant that reaches a buffer.

    `roles` say how: `value`, `index`, `condition`, or `argument` of a call whose inside is not known. `launches` is
    one shortest way, from the launch that reads the input to the one that writes the buffer; empty when the buffer is
    the input's own memory. `certain` is False when every way passes something that may not happen or is not known.
    """

    name: str
    roles: tuple[Role, ...]
    launches: tuple[int, ...]
    certain: bool


@dataclass(frozen=True)
class InputsReaching:
    """What reaches a buffer.

    `inputs` are told apart by `Reaching.roles`. `sizes` are size symbols that launches on the way were given; they
    say how much is computed, and where a size itself is a number that is computed with, it is only named here. What
    decides which branch is taken, or how many rounds a loop makes, is left out: `Launch.branch` tells. `complete` is
    False when more may reach it; `unknown` says why.
    """

    inputs: tuple[Reaching, ...]
    sizes: tuple[str, ...]
    complete: bool
    unknown: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """Names of those whose elements the buffer's are made from, or may be."""
        return tuple(r.name for r in self.inputs if {Role.VALUE, Role.ARGUMENT} & set(r.roles))

    @property
    def indices(self) -> tuple[str, ...]:
        """Names of those that tell which elements are read or written."""
        return tuple(r.name for r in self.inputs if Role.INDEX in r.roles)


@dataclass(frozen=True)
class _Step:
    """A memory at a place, and how we came there."""

    seen: Seen
    order: Order
    within: Within
    role: Role
    way: tuple[int, _Step] | None
    certain: bool


@dataclass
class _Found:
    roles: dict[Role, None] = field(default_factory=dict)
    way: tuple[int, ...] | None = None
    certain: bool = False


def told_unknown(name: str, launch: int | None) -> str:
    """Return the sentence for a name that has no memory."""
    return f"the code does not say what tensor {name} is" + ("" if launch is None else f" at launch {launch}")


class BufferFlow:
    """Follows values backwards through one wrapper."""

    def __init__(self, uses: BufferUses) -> None:
        self._uses = uses

    def inputs(self, name: str, index: int) -> InputsReaching:
        """Return what reaches a buffer as launch number `index` would see it."""
        self._found: dict[str, _Found] = {}
        self._sizes: dict[str, None] = {}
        self._unknown: dict[str, None] = {}
        order, within = self._uses.place(index)
        meaning = self._uses.names.at(name, order, within)
        todo: deque[_Step] = deque(
            self._steps(name, meaning, (order, within), Role.VALUE, None, certain=True)
        )
        met: set[tuple[object, ...]] = set()
        passed: set[tuple[int, int | str, Role]] = set()
        while todo:
            step = todo.popleft()
            state = (step.seen, step.order, step.role)
            if state not in met:
                met.add(state)
                todo += self._back(step, passed)
        inputs = tuple(Reaching(n, tuple(f.roles), f.way or (), f.certain) for n, f in self._found.items())
        unknown = tuple(self._unknown)
        return InputsReaching(inputs, tuple(self._sizes), not unknown, unknown)

    def _steps(
        self,
        name: str,
        meaning: Meaning,
        place: tuple[Order, Within],
        role: Role,
        way: tuple[int, _Step] | None,
        *,
        certain: bool,
    ) -> Iterator[_Step]:
        if not meaning.known:
            self._unknown[told_unknown(name, None if way is None else way[0])] = None
        certain = certain and meaning.known and len(meaning.seen) == 1
        for seen in meaning.seen:
            yield _Step(seen, *place, role, way, certain)

    def _back(self, step: _Step, passed: set[tuple[int, int | str, Role]]) -> Iterator[_Step]:
        """Yield what the elements of a memory at a place were made from."""
        uses, memory = self._uses, step.seen.memory
        reached = uses.writes(step.seen, step.order, step.within, step=True)
        keys = [k for k in reached.keys if k >= 0]
        for key in keys:
            writing = uses.writing(step.seen, key)
            certain = step.certain and key == reached.sure
            if (key, memory, step.role) not in passed:
                passed.add((key, memory, step.role))
                for use in writing:
                    yield from self._through(use, step, certain=certain)
            if not any(uses.sets(use, step.seen) for use in writing):
                kept = any(uses.full(use).all is False for use in writing)
                yield _Step(step.seen, *uses.place(key), step.role, step.way, step.certain and kept)
        if not reached.is_open and len(keys) == len(reached.keys):
            return
        if isinstance(memory, str):
            self._arrived(memory, step, certain=step.certain and not keys)
            return
        if keys:
            return  # the rest was never written under this name
        older = uses.names.taken_from(memory)
        buffer = uses.names.buffers[memory]
        if older is not None:
            place = (uses.names.order(memory), buffer.within)
            yield from self._steps(
                buffer.alias_of or "", older, place, step.role, step.way, certain=step.certain
            )
        elif buffer.shape is None and buffer.device is None:
            self._unknown[f"line {buffer.line} does not say what makes {buffer.name}"] = None

    def _through(self, use: Use, step: _Step, *, certain: bool) -> Iterator[_Step]:
        """Yield the tensors that a launch makes what it writes from."""
        launch = self._uses.launch(use.launch)
        order, within = self._uses.place(use.launch)
        for argument in launch.arguments:
            if argument.kind is ArgumentKind.SIZE and argument.name:
                self._sizes.setdefault(argument.name)
        way = (use.launch, step)
        for tensor, at, part, sure in self._numbers(use):
            read = self._uses.names.at(tensor, at, within)
            role = turned(step.role, part)
            yield from self._steps(tensor, read, (at, within), role, way, certain=certain and sure)
        for name, part, sure in self._read(use):
            meaning = self._uses.names.at(name, order, within)
            role = turned(step.role, part)
            yield from self._steps(name, meaning, (order, within), role, way, certain=certain and sure)
            # The launch may have written this memory itself before, under another name (`torch.cat` in one kernel).
            for seen in meaning.seen:
                own = self._uses.writing(seen, use.launch)
                if any(u.access.name != name for u in own):
                    yield _Step(seen, (*order[:2], 1), within, role, step.way, certain=False)

    def _read(self, use: Use) -> Iterator[tuple[str, Role, bool]]:
        """Yield (name, role, certain) of what goes into one of a launch's outputs."""
        launch = self._uses.launch(use.launch)
        pointers = [a for a in launch.arguments if a.name and a.kind in TENSORS]
        if launch.backend is Backend.EXTERN:
            accesses = [a for a in self._uses.accesses(use.launch) if a.read is not False]
            known = roles(operator(launch.kernel), len(accesses))
            yield from (
                (a.name, role, role is not Role.ARGUMENT) for a, role in zip(accesses, known, strict=True)
            )
            return
        stores = self._uses.stores(launch.kernel)
        if stores is not None and use.access.param is not None and use.access.param in stores.stored:
            flow = stores.flow(use.access.param)
            for argument in pointers:
                for param, role in sorted(flow.loads):
                    # What is stored before it is loaded is the kernel's own.
                    if param == argument.param and param in stores.read_first:
                        yield argument.name or "", role, True
            if flow.complete:
                return
            self._unknown[f"the body of {launch.kernel} could not be read whole"] = None
        else:
            self._unknown[f"the body of {launch.kernel} is not at hand"] = None
        for argument in pointers:
            if not (argument.param or "").startswith("out_ptr"):
                yield argument.name or "", Role.ARGUMENT, False

    def _numbers(self, use: Use) -> Iterator[tuple[str, Order, Role, bool]]:
        """Yield (name, place, role, certain) of tensors of which a launch was given an element as a number."""
        launch = self._uses.launch(use.launch)
        stores = None if launch.backend is Backend.EXTERN else self._uses.stores(launch.kernel)
        flow = None
        if stores is not None and use.access.param is not None and use.access.param in stores.stored:
            flow = stores.flow(use.access.param)
        for argument in launch.arguments:
            if argument.kind not in {ArgumentKind.SIZE, ArgumentKind.EXPRESSION} or argument.value is None:
                continue
            roles_of = (
                {Role.ARGUMENT} if flow is None else {r for p, r in flow.numbers if p == argument.param}
            )
            if flow is not None and not flow.complete:
                roles_of.add(Role.ARGUMENT)
            if roles_of:
                for tensor, at in self._elements(argument.value):
                    yield from ((tensor, at, role, role is not Role.ARGUMENT) for role in sorted(roles_of))

    def _elements(self, value: Expr) -> Iterator[tuple[str, Order]]:
        """Yield the tensors whose elements are in an expression (`u0 = buf1.item()`), with the place of the reading."""
        todo, met = sorted(names(value)), set[str]()
        while todo and len(met) < _MOST_SYMBOLS:
            symbol = todo.pop()
            size = self._uses.sizes.get(symbol)
            if size is None or symbol in met:
                continue
            met.add(symbol)
            if size.tensor is not None:
                if size.dim is None:
                    yield size.tensor, (size.at, 0, len(self._uses.names.buffers))
                continue
            todo += [] if size.alias_of is None else [size.alias_of]
            todo += [] if size.value is None else sorted(names(size.value))

    def _arrived(self, name: str, step: _Step, *, certain: bool) -> None:
        found = self._found.setdefault(name, _Found())
        found.roles.setdefault(step.role)
        found.certain = found.certain or certain
        if found.way is None:
            way, at = [], step.way
            while at is not None:
                way.append(at[0])
                at = at[1].way
            found.way = tuple(way)

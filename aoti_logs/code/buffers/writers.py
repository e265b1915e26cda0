"""Who wrote a buffer last before a launch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.code.buffers.names import Meaning, Seen
    from aoti_logs.code.buffers.reaching import Order
    from aoti_logs.code.buffers.uses import BufferUses, Use
    from aoti_logs.code.model import Within


@dataclass(frozen=True)
class Writer:
    """A launch that can have written last.

    `name` is the name it wrote under, `view` tells that this name shows a part only. `all` tells whether it set every
    element that the question was about: False when it set some (a scatter, a view), None when that is not known.
    `certain` is True when every run that comes to the place has passed this launch, and it wrote this memory.
    """

    launch: int
    kernel: str
    name: str
    param: str | None
    line: int
    view: bool
    all: bool | None
    certain: bool


@dataclass(frozen=True)
class LastWriter:
    """Who wrote a buffer last before a launch.

    `writers` are candidates: back from the launch to the one that certainly set everything; behind it are those that
    an earlier round of a loop may have been. `certain` is True when the first is known to be the last that wrote any
    of the memory. `given` are inputs and constants whose own elements may still be there. `reused` is the older name
    of the memory when nothing was written since it was handed on (`buf7 = buf0  # reuse`): writers are then those of
    the older name, and only a kernel that updates in place means their values. `unwritten` is True when the memory
    may hold what nobody wrote. `unknown` says in words why the answer may be incomplete.
    """

    writers: tuple[Writer, ...] = ()
    certain: bool = False
    given: tuple[str, ...] = ()
    reused: str | None = None
    unwritten: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def launch(self) -> int | None:
        """Index of the launch, None when it is not certain."""
        return self.writers[0].launch if self.certain else None


def last_writer(uses: BufferUses, name: str, index: int) -> LastWriter:
    """Return who wrote last before launch number `index`, as that launch would see it."""
    order, within = uses.place(index)
    meaning = uses.names.at(name, order, within)
    told = _Told()
    if not meaning.known:
        told.unknown[f"the code does not say what tensor {name} is here"] = None
    todo = [(seen, order, within) for seen in meaning.seen]
    alone = meaning.known and len(todo) == 1
    handed: set[int] = set()
    while todo:
        seen, order, within = todo.pop(0)
        older = _written(uses, seen, order, within, told)
        if older is None or seen.memory in handed or isinstance(seen.memory, str):
            continue
        handed.add(seen.memory)
        buffer = uses.names.buffers[seen.memory]
        told.reused = told.reused or buffer.alias_of
        alone = alone and older.known and len(older.seen) == 1
        if not older.known:
            told.unknown[f"the code does not say what tensor {buffer.alias_of} is at line {buffer.line}"] = (
                None
            )
        todo += [(one, uses.names.order(seen.memory), buffer.within) for one in older.seen]
    writers = tuple(told.writers)
    if not alone:
        # One of several memories: which, depends on the way that the run took.
        writers = tuple(dict.fromkeys(replace(w, certain=False) for w in writers))
    return LastWriter(
        writers,
        bool(writers) and writers[0].certain,
        tuple(told.given),
        told.reused,
        told.unwritten,
        tuple(told.unknown),
    )


@dataclass
class _Told:
    writers: dict[Writer, None] = field(default_factory=dict)
    given: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    reused: str | None = None
    unwritten: bool = False


def _written(uses: BufferUses, seen: Seen, order: Order, within: Within, told: _Told) -> Meaning | None:
    """Add the writers of one memory; return the memory that it was taken over from when nobody wrote it since."""
    memory = seen.memory
    reached = uses.writes(seen, order, within)
    keys = [k for k in reached.keys if k >= 0]
    at_start = reached.is_open or len(keys) < len(reached.keys)
    for key in keys:
        for use in uses.writing(seen, key):
            told.writers[_writer(uses, use, seen, certain=key == reached.sure)] = None
    if isinstance(memory, str):
        if at_start:
            told.given[memory] = None
        return None
    if not at_start:
        return None
    older = None if keys else uses.names.taken_from(memory)
    if older is None:
        told.unwritten = True
        if not keys and not _allocated(uses, memory):
            told.unknown[f"line {uses.names.buffers[memory].line} does not say what makes it"] = None
    return older


def _allocated(uses: BufferUses, memory: int) -> bool:
    """Tell a plain allocation, which nobody has to have written."""
    buffer = uses.names.buffers[memory]
    return buffer.shape is not None or buffer.device is not None or uses.names.pool(memory) is not None


def _writer(uses: BufferUses, use: Use, seen: Seen, *, certain: bool) -> Writer:
    launch = uses.launch(use.launch)
    access = uses.full(use)
    every = access.all
    whole = uses.shape(seen.memory)
    if every and not uses.parts.covers(use.part, seen.part, whole):
        every = False if whole is not None and uses.parts.covers(whole, use.part, whole) else None
    view = use.part is not None
    return Writer(use.launch, launch.kernel, access.name, access.param, launch.line, view, every, certain)

"""The life of a buffer: where it is born, what memory it has and shares, who writes and reads it, where it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.names import Layout
from aoti_logs.code.buffers.part import elements_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.buffers.access import Access
    from aoti_logs.code.buffers.uses import BufferUses, Use
    from aoti_logs.code.model import Buffer, Launch, Release

_BITS = {"bool": 8, "half": 16, "bfloat16": 16, "float": 32, "double": 64, "int": 32, "long": 64, "short": 16}


@dataclass(frozen=True)
class BufferUse:
    """One use of a buffer's memory by a launch.

    `launch` is its index in program order. `name` is the name that it uses. `read` and `write` are None where the
    code does not tell (an operator that is not ATen's, a kernel whose body is not at hand). `all` tells whether a
    write sets every element it shows. `view` tells that the name shows a part of the memory. `certain` is False when
    the name may mean another memory there, or the launch stands in a branch or a loop.
    """

    launch: int
    kernel: str
    line: int
    name: str
    param: str | None
    read: bool | None
    write: bool | None
    all: bool | None
    view: bool
    certain: bool


@dataclass(frozen=True)
class BufferLife:
    """All that the code says of one name.

    `births` are the statements that give the name a memory: one, or one a branch. `shape`, `stride`, `dtype` and
    `device` are as written, of the first birth or of what it renames. `size` is the number of bytes where extents are
    numbers. `names` are all names of the same memory, `views` those of them that show a part. `reuses` goes from the
    name whose memory was taken over back to the first, `reused_by` forward. `uses` are those of the memory under all
    its names since it was born or taken over. `returned_as` are the places in the model's outputs.
    """

    name: str
    births: tuple[Buffer, ...]
    shape: tuple[str, ...] | None
    stride: tuple[str, ...] | None
    dtype: str | None
    device: str | None
    size: int | None
    names: tuple[str, ...]
    views: tuple[str, ...]
    reuses: tuple[str, ...]
    reused_by: tuple[str, ...]
    pool: str | None
    uses: tuple[BufferUse, ...]
    releases: tuple[Release, ...]
    returned_as: tuple[int, ...]

    @property
    def writers(self) -> tuple[BufferUse, ...]:
        """The uses that write, or may."""
        return tuple(u for u in self.uses if u.write is not False)

    @property
    def readers(self) -> tuple[BufferUse, ...]:
        """The uses that read, or may."""
        return tuple(u for u in self.uses if u.read is not False)


class BufferLives:
    """Lives of the buffers of one wrapper, and what all of them need, found once."""

    def __init__(self, uses: BufferUses) -> None:
        self._uses = uses
        names = uses.names
        self._releases: dict[str, list[Release]] = {}
        for release in uses.wrapper.releases:
            self._releases.setdefault(release.name, []).append(release)
        self._next: dict[int | str, list[str]] = {}
        for number, buffer in enumerate(names.buffers):
            older = names.taken_from(number)
            for seen in older.seen if older is not None else ():
                self._next.setdefault(seen.memory, []).append(buffer.name)
        end, _ = uses.place(-1)
        self._returned: dict[int | str, list[int]] = {}
        for n, name in enumerate(uses.wrapper.outputs):
            for seen in names.at(name, end, ()).seen:
                self._returned.setdefault(seen.memory, []).append(n)

    def of(self, name: str) -> BufferLife | None:
        """Return the life of a name; None when the wrapper has no tensor of that name."""
        names = self._uses.names
        if not names.known(name):
            return None
        numbers = [event.key for event in names.births.get(name, [])]
        memories = tuple(dict.fromkeys(s.memory for n in numbers for s in names.of(n).seen)) or (name,)
        births = tuple(names.buffers[n] for n in numbers)
        own = Layout(*self._uses.layouts.get(name, (None, None)))
        shape, stride, dtype, device = names.layout(numbers[0]) if numbers else own
        uses = sorted((u for m in memories for u in self._uses.of(m)), key=lambda u: u.launch)
        told = dict.fromkeys(self._use(u, alone=len(memories) == 1) for u in uses)
        others = tuple(dict.fromkeys(n for m in memories for n in names.of_memory.get(m, ())))
        return BufferLife(
            name,
            births,
            shape,
            stride,
            dtype,
            device,
            size_in_bytes(shape, dtype),
            others,
            tuple(n for n in others if self._shows_part(n)),
            self._chain(memories),
            tuple(dict.fromkeys(n for m in memories for n in self._next.get(m, ()))),
            next((p for m in memories if isinstance(m, int) and (p := names.pool(m))), None),
            tuple(told),
            tuple(self._releases.get(name, ())),
            tuple(sorted({n for m in memories for n in self._returned.get(m, ())})),
        )

    def end(self, number: int) -> Release | None:
        """Return what ends the name that buffer number `number` gives a memory to."""
        buffer = self._uses.names.buffers[number]
        born = (buffer.at, buffer.line)
        return next((r for r in self._releases.get(buffer.name, ()) if (r.at, r.line) > born), None)

    def size(self, number: int) -> int | None:
        """Return the bytes of the elements of buffer number `number`, None when they are not known."""
        layout = self._uses.names.layout(number)
        return size_in_bytes(layout.shape, layout.dtype)

    def returned(self, number: int) -> tuple[int, ...]:
        """Return the places in the outputs that the memory of buffer number `number` is returned as."""
        seen = self._uses.names.of(number).seen
        return tuple(sorted({n for s in seen for n in self._returned.get(s.memory, ())}))

    def arguments(self) -> Iterator[tuple[BufferUse, tuple[str, ...]]]:
        """Yield every use by every launch, in program order, with the names that its memory began with."""
        names = self._uses.names
        for index in range(self._uses.count):
            launch = self._uses.launch(index)
            for access in self._uses.accesses(index):
                if not names.known(access.name):
                    continue
                meaning = self._uses.meaning(access, index)
                memories = tuple(
                    dict.fromkeys(
                        s.memory if isinstance(s.memory, str) else names.buffers[s.memory].name
                        for s in meaning.seen
                    )
                )
                alone = meaning.known and len(meaning.seen) == 1
                full = self._uses.refined(access, index, meaning.seen[0]) if alone else access
                view = access.part is not None or any(s.part is not None for s in meaning.seen)
                yield _told(launch, full, view=view, certain=alone and not launch.within), memories

    def _shows_part(self, name: str) -> bool:
        names = self._uses.names
        return any(s.part is not None for e in names.births.get(name, ()) for s in names.of(e.key).seen)

    def _chain(self, memories: tuple[int | str, ...]) -> tuple[str, ...]:
        """Return the names whose memory was taken over, the latest first."""
        names = self._uses.names
        found: dict[str, None] = {}
        todo, met = list(memories), set(memories)
        while todo:
            memory = todo.pop(0)
            older = names.taken_from(memory) if isinstance(memory, int) else None
            if older is None or not isinstance(memory, int):
                continue
            found[names.buffers[memory].alias_of or ""] = None
            new = [s.memory for s in older.seen if s.memory not in met]
            met.update(new)
            todo += new
        return tuple(found)

    def _use(self, use: Use, *, alone: bool) -> BufferUse:
        certain = alone and use.certain and not use.within
        launch = self._uses.launch(use.launch)
        return _told(launch, self._uses.full(use), view=use.part is not None, certain=certain)


def _told(launch: Launch, access: Access, *, view: bool, certain: bool) -> BufferUse:
    return BufferUse(
        launch.index, launch.kernel, launch.line, access.name, access.param, access.read, access.write, access.all,
        view, certain,
    )  # fmt: skip


def size_in_bytes(shape: tuple[str, ...] | None, dtype: str | None) -> int | None:
    """Return the bytes of a contiguous tensor when all extents are numbers and the dtype is known."""
    count, bits = elements_of(shape), bits_of(dtype)
    return None if count is None or bits is None else count * bits // 8


def bits_of(dtype: str | None) -> int | None:
    """Return the bits of one element: `float32`, `at::kFloat`, `float8_e4m3fn`, `complex64`."""
    if dtype is None:
        return None
    name = dtype.rpartition("::")[2].removeprefix("torch.")
    if name in _BITS:
        return _BITS[name]
    match = re.match(r"(?:float|bfloat|complex|u?int)(\d{1,3})(?:_|$)", name)
    return int(match[1]) if match is not None else None

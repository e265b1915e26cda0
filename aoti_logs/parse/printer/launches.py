"""Which launch each record of the value printer belongs to, told by their order.

Nothing in a header counts launches. Generated code prints all arguments of a launch before it and again after it,
so records of one kernel that follow each other are one launch, and one before a launch that comes after one behind
it begins the next. Ranks are told apart where their lines have a prefix.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.parse.events import Dump, Note

INPUTS, BEFORE, AFTER = "aoti_model_inputs", "before_launch", "after_launch"
_BUFFER = re.compile(r"buf\d+$")
_INNER = re.compile(r"[a-z_]\w{0,80}\((\w{1,80})\)$")


def bare_name(argument: str | None) -> str:
    """Return the name of the tensor in an argument: `buf0` of `copy_arrayref_tensor_to_tensor(buf0)`."""
    found = _INNER.match(argument or "")
    return found[1] if found is not None else argument or ""


@dataclass
class PrintedLaunch:
    """One launch as its records show it. `call` counts the model's calls of a rank, where inputs are printed."""

    kernel: str
    number: int
    rank: int | None
    call: int
    before: list[Dump] = field(default_factory=list)
    after: list[Dump] = field(default_factory=list)

    @property
    def first(self) -> Dump:
        """The record that stands first."""
        return self.before[0] if self.before else self.after[0]


def printed_launches(dumps: Iterable[Dump], starts: Sequence[int] = ()) -> tuple[PrintedLaunch, ...]:
    """Return the launches that records show, in the order in which they began.

    Args:
        dumps: the records of a log in order.
        starts: byte offsets where another process begins (`$ python serve.py`); launches are counted anew.
    """
    parts: dict[int, list[Dump]] = {}
    for dump in dumps:
        parts.setdefault(bisect.bisect_right(starts, dump.span.start), []).append(dump)
    return tuple(launch for part in parts.values() for launch in _of_process(part))


def borders(notes: Iterable[Note]) -> list[int]:
    """Return where another process begins: behind an exit code, before a shell's command line."""
    begun = [n.span.start for n in notes if n.kind == "command"]
    return sorted(begun + [n.span.end for n in notes if n.kind == "exit"])


def _of_process(dumps: Iterable[Dump]) -> list[PrintedLaunch]:
    found: list[PrintedLaunch] = []
    open_by: dict[tuple[int | None, str], PrintedLaunch] = {}
    last: dict[int | None, PrintedLaunch | None] = {}
    calls: dict[int | None, int] = {}
    counts: dict[tuple[int | None, str], int] = {}
    for dump in dumps:
        if dump.phase == INPUTS:
            if last.get(dump.rank, ...) is not None:
                calls[dump.rank] = calls.get(dump.rank, 0) + 1
                for key in [k for k in open_by if k[0] == dump.rank]:
                    del open_by[key]  # what was still open ended in an exception
            last[dump.rank] = None
            continue
        if dump.phase not in {BEFORE, AFTER} or dump.kernel is None:
            continue
        key = (dump.rank, dump.kernel)
        launch = open_by.get(key)
        if launch is None or not _belongs(dump, launch, follows=last.get(dump.rank) is launch):
            counts[key] = counts.get(key, 0) + 1
            launch = PrintedLaunch(dump.kernel, counts[key], dump.rank, calls.get(dump.rank, 0))
            open_by[key] = launch
            found.append(launch)
        (launch.before if dump.phase == BEFORE else launch.after).append(dump)
        last[dump.rank] = launch
    return found


def _belongs(dump: Dump, launch: PrintedLaunch, *, follows: bool) -> bool:
    """Tell whether a record is of a launch that has begun."""
    if dump.phase == AFTER:
        return follows or not launch.after or all(d.argument != dump.argument for d in launch.after)
    if launch.after:
        return False
    return (follows and dump.format != "kernel_names_only") or all(
        d.argument != dump.argument for d in launch.before
    )


def numbered(dumps: Sequence[Dump], starts: Sequence[int] = ()) -> tuple[Dump, ...]:
    """Return the records with `launch` and `uninitialised` filled in; arguments as of `printed_launches`."""
    told: dict[int, Dump] = {}
    memory = _Memory()
    for launch in printed_launches(dumps, starts):
        for dump in launch.before:
            fresh = memory.unwritten(launch, dump) if dump.is_tensor else None
            told[id(dump)] = replace(dump, launch=launch.number, uninitialised=fresh)
        for dump in launch.after:
            memory.add(launch, dump)
            told[id(dump)] = replace(dump, launch=launch.number)
    return tuple(told.get(id(d), d) for d in dumps)


class _Memory:
    """What earlier records of a call show as written."""

    def __init__(self) -> None:
        self._written: set[tuple[int | None, int, str]] = set()
        self._outputs: set[tuple[int | None, str, str]] = set()
        self._contents: set[tuple[object, ...]] = set()

    def add(self, launch: PrintedLaunch, dump: Dump) -> None:
        """Note a record after a launch."""
        self._written.add((launch.rank, launch.call, bare_name(dump.argument)))
        self._contents.add(self._content(launch, dump))

    def unwritten(self, launch: PrintedLaunch, dump: Dump) -> bool | None:
        """Return `Dump.uninitialised` of a record before a launch.

        A buffer that shows the elements of an older one is that one under a new name, or memory that it left.
        """
        name = bare_name(dump.argument)
        output = (launch.rank, launch.kernel, name)
        if _BUFFER.match(name) is None:
            return False
        if (launch.rank, launch.call, name) in self._written and output not in self._outputs:
            return False
        self._outputs.add(output)
        later = next((d for d in launch.after if d.argument == dump.argument), None)
        if later is None or not _changed(dump, later) or self._content(launch, dump) in self._contents:
            return None
        return True

    def _content(self, launch: PrintedLaunch, dump: Dump) -> tuple[object, ...]:
        return (launch.rank, launch.call, dump.shape, *_numbers(dump))


def _changed(one: Dump, other: Dump) -> bool:
    """Tell whether two records of a tensor print different elements or statistics."""
    return _numbers(one) != _numbers(other)


def _numbers(dump: Dump) -> tuple[str, ...]:
    return tuple(repr(v) for v in (dump.value, dump.mean, dump.min, dump.max, dump.std))


def changed(one: Dump, other: Dump) -> bool | None:
    """Tell whether the tensor of two records has other elements; None where nothing that both print tells."""
    if not (one.complete and other.complete) or one.numel != other.numel or one.numel is None:
        return None
    return _changed(one, other)

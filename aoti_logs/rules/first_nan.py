"""The first NaN that the value printer shows, and what its record proves.

A record before a launch may show memory that nothing has written yet, so a NaN there is no evidence. A NaN after a
launch is the launch's own only where the same tensor had none before it: calls whose outputs are not printed
(`at::_ops::sort_stable::call`) leave NaN in tensors that the next kernel merely reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from aoti_logs.parse.printer.launches import AFTER, BEFORE, INPUTS, bare_name, changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.events import Dump
    from aoti_logs.parse.printer.launches import PrintedLaunch


class Origin(Enum):
    """What the records say about where the NaN is from."""

    GIVEN = "given"
    """A model input, or an argument that no launch had written, holds it."""
    WRITTEN = "written"
    """The launch wrote it: the tensor had no NaN before the launch, or other elements."""
    READ = "read"
    """The launch found it there: the tensor is the same before and after it."""
    BETWEEN = "between"
    """A tensor without NaN after one launch has one before a later one."""
    UNTOLD = "untold"
    """There is no record of the tensor before the launch."""


@dataclass(frozen=True)
class FirstNan:
    """The record that shows it, its launch, and the record of the same tensor before (if any)."""

    record: Dump
    origin: Origin
    launch: PrintedLaunch | None = None
    earlier: Dump | None = None

    @property
    def tensor(self) -> str:
        """The tensor's bare name."""
        return bare_name(self.record.argument)

    @property
    def others(self) -> tuple[Dump, ...]:
        """The other tensors that were printed before the launch."""
        if self.launch is None:
            return ()
        return tuple(d for d in self.launch.before if d.is_tensor and bare_name(d.argument) != self.tensor)


def first_nan(dumps: Sequence[Dump], launches: Sequence[PrintedLaunch]) -> FirstNan | None:
    """Return the first record that proves a NaN, or None."""
    by_record = {id(d): launch for launch in launches for d in (*launch.before, *launch.after)}
    clean: dict[str, Dump] = {}
    phase = None
    for dump in dumps:
        if not dump.is_tensor:
            continue
        if dump.phase == INPUTS and phase != INPUTS:
            clean.clear()  # another call, maybe of another model: its tensors have the same names
        phase = dump.phase
        launch = by_record.get(id(dump))
        if dump.has_nan:
            found = _judged(dump, launch, clean)
            if found is not None:
                return found
        elif dump.has_nan is False and dump.phase in {AFTER, INPUTS}:
            clean[bare_name(dump.argument)] = dump
    return None


def _judged(dump: Dump, launch: PrintedLaunch | None, clean: dict[str, Dump]) -> FirstNan | None:
    name = bare_name(dump.argument)
    if dump.phase == INPUTS:
        return FirstNan(dump, Origin.GIVEN, launch)
    if dump.phase == BEFORE:
        if dump.uninitialised is not False:
            return None  # what it proves is seen after the launch
        return FirstNan(dump, Origin.BETWEEN if name in clean else Origin.GIVEN, launch, clean.get(name))
    if launch is None:
        return FirstNan(dump, Origin.UNTOLD)
    read = next(_read(launch), None)
    if read is not None:
        return FirstNan(read[1], Origin.READ, launch, read[0])
    earlier = next((d for d in launch.before if d.argument == dump.argument), None)
    return FirstNan(dump, Origin.WRITTEN if earlier is not None else Origin.UNTOLD, launch, earlier)


def _read(launch: PrintedLaunch) -> Iterator[tuple[Dump, Dump]]:
    """Yield the tensors with a NaN that the launch did not change, as they were before and after."""
    for before in launch.before:
        if not before.has_nan:
            continue
        for after in launch.after:
            if after.argument == before.argument and changed(before, after) is False:
                yield before, after


def proves(dump: Dump) -> bool:
    """Tell whether a record's elements are the model's, and not memory that nothing has written."""
    return dump.is_tensor and (dump.phase != BEFORE or dump.uninitialised is False)

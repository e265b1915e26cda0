"""Files that the value printer saved, joined with the lines that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.printer.launches import bare_name
from aoti_logs.parse.printer.saved_name import saved_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.parse.events import Dump


class SavedTensors(dy.Schema):
    """One row a saved tensor that is at hand (`before_launch_KERNEL_buf0_cpu.pt`).

    `aoti_logs.saved_tensor(path)` reads the file. A later launch of the same kernel overwrites it.
    """

    file = dy.String(nullable=False, description="File, as below what was loaded, or archive member.")
    phase = dy.String(nullable=False, description="`before_launch` or `after_launch`.")
    kernel = dy.String(nullable=False, description="Kernel or call, from the file's name.")
    argument = dy.String(nullable=False, description="Argument, from the file's name.")
    tensor = dy.String(nullable=False, description="The argument's bare name.")
    device = dy.String(
        nullable=True, description="Device that it was on; null where the Python wrapper saved it."
    )
    log = dy.String(nullable=True, description="Log with the line that tells of it; null where none does.")
    line = dy.Int64(nullable=True, description="That line, the last of several.")
    launch = dy.Int64(nullable=True, description="Launch of the kernel whose tensor it holds, from 1.")
    times = dy.Int64(nullable=False, description="How often it was written, as the logs say.")


SCHEMA = SavedTensors


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    told: dict[str, list[tuple[str, Dump]]] = {}
    kernels: set[str] = set()
    for source, events in run.logs(subjects_only=False):
        for dump in events.dumps:
            if dump.kernel is not None:
                kernels.add(dump.kernel)
            if dump.format == "save" and dump.value is not None:
                told.setdefault(_last(dump.value), []).append((source.name, dump))
    for file in run.skipped:
        name = saved_name(file.rpartition("!")[2], kernels)
        if name is None:
            continue
        lines = told.get(_last(file), [])
        where: tuple[str | None, int | None, int | None] = (None, None, None)
        if lines:
            log, dump = lines[-1]
            where = (log, dump.span.line, dump.launch)
        yield (
            file, name.phase, name.kernel, name.argument, bare_name(name.argument), name.device, *where, len(lines),
        )  # fmt: skip


def _last(path: str) -> str:
    """Return a path's last part; both ways of writing `tmp/aoti_torch` are taken off."""
    name = path.strip().strip('"').replace("\\", "/").rpartition("/")[2].rpartition("!")[2]
    return name.removeprefix("aoti_torch")

"""How a process ended, as data: what a shell, a launcher, the kernel, a debugger or a signal handler says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame, Stack


@dataclass(frozen=True)
class PythonThread:
    """A thread of a Python program as faulthandler shows it; frames innermost first, as printed.

    `ident` is None where its header is not in the log. `current`: the thread that was running when the signal came.
    """

    ident: str | None
    frames: tuple[PythonFrame, ...]
    current: bool = False
    name: str | None = None
    truncated: bool = False
    collecting: bool = False
    """True while it collects garbage."""


@dataclass(frozen=True)
class Death:
    """The end of a process, or the stop of one in a debugger.

    `printer`: `shell`, `faulthandler`, `gdb`, `lldb`, `glog`, `absl`, `folly`, `ucx`, `mpi`, `elastic`,
    `python`, `slurm`, `kernel`, `pycharm`, `glibc`, `assert`, `stdlib`, `llvm`. `words`: the signal as the printer calls it, `IOT instruction`.
    `address` is the address whose access failed, `reason` what the system says of it (`address not mapped to object`).
    `where` names a rank, task or node of a launcher.
    """

    printer: str
    signal: str | None = None
    number: int | None = None
    words: str | None = None
    pid: int | None = None
    thread: str | None = None
    address: str | None = None
    reason: str | None = None
    program: str | None = None
    library: str | None = None
    where: str | None = None
    core_dumped: bool = False
    fatal: str | None = None
    """What follows `Fatal Python error:`."""
    threads: tuple[PythonThread, ...] = ()
    stacks: tuple[Stack, ...] = ()
    """Native stacks that the same printer shows, that of the dying thread first."""
    n_extension_modules: int | None = None
    run: str | None = None
    """What the next line calls the run that ended with this signal's exit code, `serve rc=139`."""

    @property
    def null_like(self) -> bool:
        """Tell whether the address is within the first page: a null pointer, or a field of one."""
        if self.address is None:
            return False
        if self.address == "(nil)":
            return True
        try:
            return 0 <= int(self.address, 16) < 4096
        except ValueError:
            return False

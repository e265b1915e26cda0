"""What every finding of a process death says alike: plain facts, what to run next, what a shell cannot tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.commands import OWN_SHELL
from aoti_logs.explain import Experiment, Missing
from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.deaths.signals import number_of
from aoti_logs.parse.events import ErrorForm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.deaths.death import PythonThread
    from aoti_logs.parse.events import ErrorText, PythonFrame

_LAUNCHER = re.compile(
    r"(?:\S*/)?(?:ba|z|da)?sh\b|(?:\S*/)?(?:torchrun|mpirun|mpiexec|srun|make|docker|kubectl|ray|accelerate|deepspeed|pytest)\b|"
    r".*\btorch\.distributed\.(?:run|launch)\b"
)
"""Commands that start the process that dies, and are not it."""

NO_TEXT = Missing(
    "where the process was when the signal came",
    "PYTHONFAULTHANDLER=1 writes the Python lines of every thread to stderr; a debugger the native ones",
)


def death_of(error: ErrorText) -> Death | None:
    """Return what the printer of a signal told, or None for an error of another form."""
    return error.detail if error.form is ErrorForm.SIGNAL and isinstance(error.detail, Death) else None


def signal_facts(death: Death, group: Sequence[ErrorText] = ()) -> dict[str, Any]:
    """Return the facts of a death; process id and exit words from later lines about it where this one has none."""
    others = [
        d for e in group if (d := death_of(e)) is not None and d.signal == death.signal and d is not death
    ]
    pid = death.pid if death.pid is not None else next((d.pid for d in others if d.pid is not None), None)
    facts: dict[str, Any] = {
        "signal": death.signal,
        "signal_number": death.number if death.number is not None else number_of(death.signal),
        "signal_text": death.words,
        "pid": pid,
        "fault_address": death.address,
        "null_pointer_like": death.null_like if death.address is not None else None,
        "reason": death.reason,
        "program": death.program,
        "core_dumped": True if death.core_dumped or any(d.core_dumped for d in others) else None,
        "printer": death.printer,
    }
    return {k: v for k, v in facts.items() if v is not None}


def place_of(frame: PythonFrame) -> dict[str, Any]:
    """Return a Python frame as plain values."""
    return {"function": frame.function, "line": frame.line, "file": frame.file}


def thread_facts(death: Death) -> dict[str, Any]:
    """Return what faulthandler shows: threads, the dying one and its innermost frame."""
    threads = death.threads
    current = current_thread(death)
    facts: dict[str, Any] = {
        "fatal": death.fatal,
        "n_threads": len(threads),
        "thread_ids": [t.ident for t in threads if t.ident is not None],
        "current_thread": current.ident if current is not None else None,
        "n_frames_per_thread": [len(t.frames) for t in threads],
        "n_frames_total": sum(len(t.frames) for t in threads),
        "n_extension_modules": death.n_extension_modules,
    }
    if current is not None and current.frames:
        facts["current_top"] = place_of(current.frames[0])
        if current.collecting:
            facts["collecting_garbage"] = True
    return {k: v for k, v in facts.items() if v is not None}


def current_thread(death: Death) -> PythonThread | None:
    """Return the thread that the signal came to, as far as the dump says it."""
    current = next((t for t in death.threads if t.current), None)
    if current is None and len(death.threads) == 1 and death.fatal is not None:
        return death.threads[0]
    return current


def with_faulthandler(command: str) -> Experiment:
    """Let Python write where each thread was."""
    return Experiment(
        command,
        (("PYTHONFAULTHANDLER", "1"),),
        "run",
        "a signal then writes the Python lines of every thread before the process ends",
        "the interpreter installs the handler when it starts (Modules/faulthandler.c)",
        "a handler that a library installs later takes its place",
    )


def with_gdb(command: str, error: ErrorText | None = None, group: Sequence[ErrorText] = ()) -> Experiment:
    """Let gdb write the native frames, of the program that a shell names; of a launcher's children, a core file."""
    named = (
        d.program for e in (error, *group) if e is not None and (d := death_of(e)) and d.printer == "shell"
    )
    program = next((p for p in named if p), None)
    if program is None and (_LAUNCHER.match(command) or command.startswith(OWN_SHELL)):
        return Experiment(
            f"ulimit -c unlimited; {command}",
            (),
            "run",
            "a process that dies then leaves a core file: `gdb -batch -ex 'thread apply all bt' PROGRAM CORE` shows its frames",
            "the kernel writes it when the signal comes; /proc/sys/kernel/core_pattern says where, `coredumpctl` finds it",
            "a container may keep cores from being written",
        )
    shown = program or command
    return Experiment(
        f"gdb -batch -ex run -ex bt -ex 'thread apply all bt' --args {shown}",
        (),
        "run",
        "the native frames of the thread that died, and of the others",
        "gdb stops the process at the signal; it reads symbols, so release builds show names without lines",
        "it may need kernel.yama.ptrace_scope or CAP_SYS_PTRACE in a container",
    )

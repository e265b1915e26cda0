"""A process that died without a text: where was it, and what had been damaged before?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import PROCESS, check
from aoti_logs.plan.rung import Rung

RUNGS = (
    Rung(
        "Python lines at the signal",
        "the Python lines of every thread when the signal came",
        "run",
        "read by Python when it starts",
        "none",
        "Python, faulthandler: PYTHONFAULTHANDLER",
        (("PYTHONFAULTHANDLER", "1"),),
        outcomes=(
            Outcome("the innermost line calls a compiled model", "look at that model, and at how it is called", ("AL310", "AL311")),
            Outcome("it is another library's call", "it did not die in a compiled model", ("AL311",), ("AL310",)),
        ),
        misleads=("it shows no C frames; a handler that a library installs later takes its place",),
        needs=("signalled",),
        has="faulthandler",
        always=True,
    ),
    *check(
        (
            Outcome("a complaint about an input", "the model read memory that is not its own", ("AL201", "AL203")),
            Outcome("no complaint, and the same end", "missing weights, or the code itself", (), ("AL201", "AL203")),
        )
    ),
    Rung(
        "one thread",
        "whether an exception in a parallel kernel ended the process: with one thread it is raised, with its text",
        "run",
        "read when libgomp or libiomp is loaded",
        "slow kernels",
        'torch/distributed/run.py sets it, too: "OMP_NUM_THREADS"',
        (("OMP_NUM_THREADS", "1"),),
        outcomes=(Outcome("an exception with a text", "that text is the cause", (), ("AL315",)),),
        misleads=("a failure that needs several threads may not come again",),
        needs=("cpu", "terminated"),
        has="one_thread",
    ),
    Rung(
        "check the heap",
        "the first moment at which glibc sees that its heap is damaged",
        "run",
        PROCESS + " by glibc",
        "slower allocation",
        "glibc, mallopt(3)",
        (("MALLOC_CHECK_", "3"), ("MALLOC_PERTURB_", "165")),
        outcomes=(Outcome("it aborts earlier, with a text", "memory was written past its end, or freed twice", ("AL318",)),),
        misleads=("from glibc 2.34 on it needs LD_PRELOAD=libc_malloc_debug.so.0; nothing with jemalloc or tcmalloc",),
        needs=("heap",),
        has="heap_checked",
    ),
    Rung(
        "frames of a debugger",
        "the native frames of the thread that died, and of the others",
        "run",
        "gdb stops the process at the signal",
        "slower start; needs ptrace",
        "gdb, --args",
        form="gdb -batch -ex run -ex bt -ex 'thread apply all bt' --args {command}",
        outcomes=(
            Outcome("frames of AOTInductorModel", "the model's own code", ("AL312", "AL310")),
            Outcome("frames of another library", "", ("AL312",), ("AL310",)),
        ),
        misleads=("a container may need CAP_SYS_PTRACE; behind a launcher it follows the launcher, not its children",),
        needs=("alone",),
        has="debugged",
        always=True,
    ),
    Rung(
        "core file",
        "the same frames, after the fact and without slowing the run",
        "run",
        "the kernel of the system writes it when the signal comes",
        "disk space of the process's memory",
        "core(5): RLIMIT_CORE, /proc/sys/kernel/core_pattern",
        before="ulimit -c unlimited",
        read="gdb -batch -ex 'thread apply all bt' <the program> <the core file>",
        misleads=("core_pattern may pass it to another program (coredumpctl), a container may forbid it",),
        has="debugged",
        always=True,
    ),
)  # fmt: skip

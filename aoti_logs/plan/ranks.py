"""Several ranks: who did not come, who came with something else, who failed first?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.rung import Rung

_GROUP = "read when the process group is made"
_HEADER = "include/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp of torch"

RUNGS = (
    Rung(
        "one log a rank",
        "what each rank printed, so that the first that failed is seen",
        "run",
        "torchrun opens the files when it starts its children",
        "files",
        "torch/distributed/run.py: --log-dir, --tee",
        form="{logged}",
        outcomes=(
            Outcome("one rank has an error of its own", "it is the cause, the others waited"),
            Outcome("all ranks only waited", "they wait for different collectives", ("AL320",)),
        ),
        misleads=("clocks of several machines differ: earlier by milliseconds tells nothing",),
        needs=("child",),
        has="rank_logs",
        always=True,
    ),
    Rung(
        "Python lines at the signal",
        "where each rank was when it was ended",
        "run",
        "read by Python when it starts",
        "none",
        "Python, faulthandler: PYTHONFAULTHANDLER",
        (("PYTHONFAULTHANDLER", "1"),),
        outcomes=(Outcome("a rank was inside of a compiled model", "", ("AL310",)),),
        misleads=("SIGKILL and SIGTERM write nothing",),
        needs=("child",),
        has="faulthandler",
        always=True,
    ),
    Rung(
        "let NCCL say what failed",
        "the call that NCCL could not do, and why",
        "run",
        "read by NCCL when it is initialised",
        "a few lines",
        "NVIDIA, NCCL user guide, environment variables",
        (("NCCL_DEBUG", "WARN"),),
        outcomes=(Outcome("a `NCCL WARN` line", "the reason in NCCL's words", ("AL321",)),),
        misleads=("its lines go to stdout",),
        needs=("nccl", "collective"),
        has="nccl_debug",
    ),
    Rung(
        "flight recorder",
        "the last collectives of each rank with their Python stacks",
        "run",
        _GROUP,
        "a record with a stack a collective",
        f"{_HEADER}: TORCH_NCCL_TRACE_BUFFER_SIZE, TORCH_NCCL_DUMP_ON_TIMEOUT (2.8+ also TORCH_FR_BUFFER_SIZE)",
        (("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"), ("TORCH_NCCL_DUMP_ON_TIMEOUT", "1")),
        outcomes=(
            Outcome("one rank stopped before the collective", "it is the one to look at", ("AL320",)),
            Outcome(
                "ranks are in different collectives", "their programs took different ways", ("AL320", "AL321")
            ),
        ),
        misleads=("the files are pickles: load only your own", "a rank that died has no file"),
        needs=("collective",),
        has="recorder",
        always=True,
    ),
    Rung(
        "compare what the ranks ask for",
        "kind and shapes of each collective on all ranks, before it runs",
        "run",
        "read when torch.distributed is imported",
        "a second collective over Gloo before each one",
        "torch/distributed/__init__.py and libtorch_cpu.so: TORCH_DISTRIBUTED_DEBUG",
        (("TORCH_DISTRIBUTED_DEBUG", "DETAIL"),),
        outcomes=(
            Outcome("it says which rank differs", "sizes or order differ", ("AL321",)),
            Outcome("it hangs at the same place, and names none", "a rank does not come at all", ("AL320",)),
        ),
        misleads=("it changes timing: a hang may become an error, or go away",),
        needs=("collective",),
        has="collectives_compared",
    ),
    Rung(
        "which rank reached which collective",
        "after a timeout: the collective that each rank came to last",
        "run",
        _GROUP,
        "a write to the store a collective",
        f"{_HEADER}: TORCH_NCCL_DESYNC_DEBUG",
        (("TORCH_NCCL_DESYNC_DEBUG", "1"),),
        outcomes=(Outcome("a rank is behind the others", "it did not join", ("AL320",)),),
        misleads=("a rank that died is only missing in it",),
        needs=("nccl", "collective"),
        has="recorder",
    ),
)

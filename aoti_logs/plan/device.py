"""A fault of a device (illegal access, misaligned address, device assert): which kernel, and what was it given?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import MINIFY, blocking, check, core_dump, eager, names, sanitize, values
from aoti_logs.plan.rung import Rung

_RACE = Outcome(
    "the failure does not come again",
    "it needs two kernels at once: a race, or memory that is used too early",
)
_LAUNCH = Outcome("the error is raised at another call than before", "that launch failed", ("AL301", "AL309"))

RUNGS = (
    *check(
        (
            Outcome("`unmatched device type`", "a tensor is on another device than the model", ("AL203", "AL201")),
            Outcome("another complaint about an input", "kernels read beyond an input, or in the wrong places", ("AL201",)),
            Outcome("no complaint, and the same error", "the fault is not in how the model is called", (), ("AL201", "AL203")),
        )
    ),
    *blocking((_LAUNCH, _RACE), "kernel_unproven"),
    core_dump((Outcome("the dump names a kernel", "that kernel faulted", ("AL301",)),), "kernel_unproven"),
    *eager(
        (
            Outcome("eager fails as well", "the data, or a kernel that eager calls as well (a library's, your own), is at fault", (), ("AL108",)),
            Outcome("eager is fine", "generated code or a kernel of your own is at fault"),
        )
    ),
    *names((Outcome("a kernel is announced and not finished", "that kernel faulted", ("AL301",)),), "kernel_unproven"),
    *values(
        (
            Outcome("a value going in is abnormal (NaN, an index beyond a size, an empty tensor)", "go to the kernel that produced it, back to the first abnormal one"),
            Outcome("everything that goes in is sound", "the kernel itself is suspect: a kernel of your own, int32 overflow, strides", ("AL108",)),
        )
    ),
    sanitize(
        (
            Outcome("`Invalid __global__ read`, `write` or `atomic`", "kernel, line and thread are proven", ("AL303",)),
            Outcome("0 errors, and the run ends well", "timing, or memory that the caching allocator lends to another tensor: then --tool racecheck, initcheck"),
        )
    ),
    *MINIFY,
)  # fmt: skip

MEMORY = (
    Rung(
        "let the allocator join free pieces",
        "whether memory is used up, or only in pieces that are too small",
        "run",
        "read when the caching allocator is first used",
        "none",
        "include/c10/cuda/CUDAAllocatorConfig.h of torch",
        (("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),),
        outcomes=(
            Outcome("it runs", "fragmentation"),
            Outcome("the same error", "the tensors alive at once are too many, or too large"),
        ),
        misleads=("compute-sanitizer reports false alarms with it",),
        needs=("gpu",),
        has="expandable",
    ),
    Rung(
        "snapshot of the allocator",
        "every tensor that is alive, with the Python stack that made it",
        "run",
        "from the call on",
        "a stack an allocation",
        "torch/cuda/memory.py: _record_memory_history, _dump_snapshot",
        change="torch.cuda.memory._record_memory_history() at its start and torch.cuda.memory._dump_snapshot('memory.pickle') where it fails",
        read="python -m torch.cuda._memory_viz trace_plot memory.pickle -o memory.html",
        misleads=("the file is a pickle: open only your own",),
        needs=("gpu",),
    ),
)

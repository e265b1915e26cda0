"""A model that is loaded or called wrongly: what was it made for, what was it given?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import check, cpp_stack
from aoti_logs.plan.rung import Rung

RUNGS = (
    Rung(
        "without the check of inputs",
        "whether the code computes correctly what the check refuses (sizes 0 and 1)",
        "run",
        "read once for each loaded library, at its first run",
        "none",
        'torch/_inductor/codegen/cpp_wrapper_cpu.py writes getenv("AOTI_RUNTIME_CHECK_INPUTS") into the code',
        (("AOTI_RUNTIME_CHECK_INPUTS", "0"),),
        outcomes=(
            Outcome("the same numbers as in eager", "the check is stricter than the code", ("AL206",)),
            Outcome("an index assertion or other numbers", "the size is really outside of the code's range", ("AL101",), ("AL206",)),
        ),
        misleads=("one right result proves it for this size only",),
        needs=("small_size",),
        since=(2, 8),
    ),
    *check(
        (
            Outcome("an input is refused", "that input differs from what was compiled", ("AL201", "AL203")),
            Outcome("no complaint, and the same error", "inputs are of the promised kind", (), ("AL201",)),
        ),
        "called",
    ),
    Rung(
        "what the package was made for",
        "device, capability, ISA, weights and files of the package, and the torch that made it",
        "load",
        "nothing is loaded: the files are read",
        "seconds",
        "the package's metadata (2.10 and newer), its wrapper and its shared library",
        form="aoti-logs audit <the package>",
        outcomes=(
            Outcome("another device, capability or ISA than this machine's", "", ("AL203", "AL216", "AL210")),
            Outcome("weights are missing", "", ("AL212",)),
            Outcome("another torch than the one that loads it", "", ("AL210", "AL217")),
        ),
        needs=("package_unread",),
        has="package",
        always=True,
    ),
    Rung(
        "what the loader looks for",
        "each library and symbol that the dynamic loader searches, and where",
        "load",
        "read by ld.so when the process starts",
        "much text",
        "ld.so(8): LD_DEBUG",
        (("LD_DEBUG", "libs,bindings"),),
        outcomes=(Outcome("a symbol is found nowhere", "another torch or libstdc++ than the model was linked with", ("AL210",)),),
        misleads=("torch's own libraries fill it, too: look at the lines of the model's .so",),
        needs=("dlopen",),
    ),
    cpp_stack("shim"),
)  # fmt: skip

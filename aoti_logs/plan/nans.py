"""NaN or infinity: which call made it, from which numbers?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import MINIFY, PRINTER, check, eager, values
from aoti_logs.plan.rung import Rung

_SAVE = Rung(
    "save what each kernel is given and makes",
    "which elements are NaN, and what they were made from: .pt files for torch.load(weights_only=True)",
    "compile",
    "the saving calls are written into the code when it is compiled; a package that exists does not change",
    "disk space of every argument of every launch",
    'torch/_inductor/codegen/debug_utils.py: SAVE_ONLY = "1"',
    ((PRINTER, "1"),),
    misleads=(
        "a second launch of a kernel overwrites the files of the first",
        "2.10 to 2.13 write `tmp/aoti_torch<name>.pt`, beside an empty folder",
    ),
    needs=("printable",),
    has="values_saved",
    since=(2, 6),
    always=True,
)

RUNGS = (
    *check(
        (
            Outcome(
                "an input is refused",
                "numbers are computed from what is not what the caller meant",
                ("AL201",),
            ),
            Outcome("no complaint, and the same numbers", "inputs are of the promised kind", (), ("AL201",)),
        )
    ),
    *eager(
        (
            Outcome("NaN in eager, too", "the model or its weights make it", (), ("AL108",)),
            Outcome("eager has none", "rounding, fusion, or uninitialised memory of the compiled code"),
        )
    ),
    Rung(
        "check for NaN after kernels",
        "the first checked tensor that holds NaN or infinity",
        "compile",
        "the checks are written into the code when it is compiled; only `1` is on",
        "a wait a check on CUDA",
        'torch/_inductor/config.py: os.environ.get("TORCHINDUCTOR_NAN_ASSERTS") == "1"',
        (("TORCHINDUCTOR_NAN_ASSERTS", "1"),),
        outcomes=(
            Outcome("an input is named", "it came from outside", ("AL402",)),
            Outcome("a buffer is named", "made by that call or before it", ("AL402",)),
        ),
        misleads=(
            "CPU kernels and extern calls inside of a model are not checked, nor are weights",
            "the AssertionError of torch.compile has no text",
        ),
        needs=("nan",),
        has="nan_asserts",
    ),
    *values(
        (
            Outcome("finite before a launch, NaN after it", "that call makes it", ("AL401",)),
            Outcome("NaN before the first launch", "an input or a weight has it", ("AL401",)),
        )
    ),
    _SAVE,
    Rung(
        "round as eager does",
        "whether the difference is only that fused kernels keep float32 between operations",
        "compile",
        "read when compiling",
        "slower kernels with half precision",
        "torch/_inductor/config.py: TORCHINDUCTOR_EMULATE_PRECISION_CASTS",
        (("TORCHINDUCTOR_EMULATE_PRECISION_CASTS", "1"),),
        outcomes=(Outcome("the numbers agree with eager", "rounding, no bug", (), ("AL108",)),),
        misleads=("fused code is more exact than eager: a difference alone is no bug",),
        since=(2, 7),
    ),
    *MINIFY,
)

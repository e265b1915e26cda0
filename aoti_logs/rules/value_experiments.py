"""What to run next when values are wrong and nothing crashed: each says when it takes effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.commands import COMPILES
from aoti_logs.explain import Experiment

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence

PRINTER = "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER"
_AGAIN = COMPILES + " && {command}"


def flavours(evidence: Evidence) -> dict[str, bool]:
    """Return which compilers wrote the code at hand (`aoti`, `jit`), each with whether some of it launches on a GPU."""
    found: dict[str, bool] = {}
    for code in evidence.base.wrappers:
        if code.wrapper is not None:
            key = "aoti" if code.wrapper.flavour.startswith("aoti") else "jit"
            found[key] = found.get(key, False) or any(d != "cpu" for d in code.wrapper.devices)
    return found


def nan_asserts(command: str, *, aoti: bool) -> Experiment:
    """Let generated code look for NaN behind each of its kernels."""
    return Experiment(
        _AGAIN.format(command=command) if aoti else command,
        (("TORCHINDUCTOR_NAN_ASSERTS", "1"),),
        "compile",
        "the run then stops at the first Triton kernel behind which a NaN is found",
        "torch/_inductor/config.py reads it; the checks are generated when compiling, and a package that exists does not change",
        "CPU kernels and extern calls are not checked",
    )


def print_values(command: str) -> Experiment:
    """Let AOTInductor print every argument before and after each launch."""
    return Experiment(
        _AGAIN.format(command=command),
        ((PRINTER, "2"), ("PYTHONUNBUFFERED", "1")),
        "compile",
        "every argument is printed before and after each launch: the first one that is wrong shows which call makes it",
        f"torch/_inductor/codegen/debug_utils.py writes the printing calls into the generated code; {PRINTER} does nothing to a package that exists",
    )


def uncompiled(command: str) -> Experiment:
    """Run what torch.compile compiles as plain Python."""
    return Experiment(
        command,
        (("TORCH_COMPILE_DISABLE", "1"),),
        "compile",
        "without torch.compile: where it is the same, the model or its data is the cause, and no generated code",
        "torch/_dynamo/config.py reads it when it is imported; torch.compile then returns the function itself",
        "a model that AOTInductor compiled does not change",
    )


def compare_graphs(command: str) -> Experiment:
    """Let Dynamo find the smallest graph that gives other values than without compiling."""
    return Experiment(
        command,
        (("TORCHDYNAMO_REPRO_AFTER", "aot"), ("TORCHDYNAMO_REPRO_LEVEL", "4")),
        "compile",
        "each graph is compared with the same graph uncompiled, and the first that differs is made small",
        "torch/_dynamo/config.py: level 4 compares values, the lower ones look for exceptions",
        "slow: every graph runs several times",
    )

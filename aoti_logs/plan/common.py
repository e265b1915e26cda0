"""Rungs that several families share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.ladder import Outcome
from aoti_logs.plan.rung import Rung

if TYPE_CHECKING:
    from collections.abc import Sequence

PRINTER = "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER"
FILTER = "AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT"
PROCESS = "read when the process starts"
DRIVER = "read by the CUDA driver when it is initialised"

_CHECK = Rung(
    "check the inputs",
    "whether every input has the dtype, sizes, strides and kind of device that the model was compiled for",
    "run",
    "read once for each loaded library, at its first run (torch 2.7 and newer)",
    "some comparisons a run",
    'torch/_inductor/codegen/cpp_wrapper_cpu.py writes getenv("AOTI_RUNTIME_CHECK_INPUTS") into the code',
    (("AOTI_RUNTIME_CHECK_INPUTS", "1"),),
    misleads=(
        "it refuses sizes 0 and 1 that the code may compute correctly (AL206)",
        "it tests no relation between two sizes and no device index; `false` and the empty text switch it on, too",
    ),
    needs=("aoti", "checks_generated"),
    has="checks_on",
    since=(2, 8),
    older="torch before 2.7 does not read it: there, compile with AOT_INDUCTOR_DEBUG_COMPILE=1",
)
_CHECK_27 = replace(
    _CHECK,
    tells="whether every input has the dtype, sizes and strides that the model was compiled for",
    misleads=(
        _CHECK.misleads[0],
        "it tests no relation between two sizes and no device; any text that is not empty switches it on, `0` too",
    ),
    since=(2, 7),
    below=(2, 8),
    older="",
)
_CHECK_OLD = replace(
    _CHECK_27,
    name="compile with checks of the inputs",
    effect="compile",
    when="generates the checks when compiling; they then run always",
    cost="a compile without optimisation: slow CPU kernels",
    proof="torch 2.6 and older: torch/_inductor/codegen/cpp_wrapper_cpu.py tests config.aot_inductor.debug_compile",
    env=(("AOT_INDUCTOR_DEBUG_COMPILE", "1"),),
    misleads=(
        "they test no device: a tensor on another device, or a meta tensor, passes",
        "unoptimised CPU kernels round differently",
        _CHECK.misleads[0],
    ),
    needs=("aoti",),
    since=(2, 6),
    below=(2, 7),
)
_CHECK_FIRST = replace(
    _CHECK_OLD,
    proof="torch 2.4: torch/_inductor/codegen/cpp_wrapper_cpu.py writes them for abi_compatible code only",
    env=(*_CHECK_OLD.env, ("TORCHINDUCTOR_ABI_COMPATIBLE", "1")),
    since=(2, 4),
    below=(2, 6),
)
_BLOCKING = Rung(
    "wait for each launch",
    "which launch fails: with this the call that reports the error is the one that made it",
    "run",
    DRIVER,
    "no overlap of kernels, copies and Python: often several times slower",
    "NVIDIA, CUDA C++ Programming Guide, environment variables",
    (("CUDA_LAUNCH_BLOCKING", "1"),),
    misleads=(
        "a failure that needs two kernels at once may not come again",
        "inside of a CUDA graph it shows the graph, not the kernel",
    ),
    needs=("cuda",),
    has="blocking",
)
_BLOCKING_ROCM = replace(
    _BLOCKING,
    when="read by the HIP runtime when it is initialised",
    proof="AMD, HIP environment variables: it waits before and after every kernel",
    env=(("AMD_SERIALIZE_KERNEL", "3"),),
    misleads=_BLOCKING.misleads[:1],
    needs=("rocm",),
)
_NAMES = Rung(
    "announce each launch",
    "the last kernel that is announced and not finished is the one that fails",
    "compile",
    "the printing calls are written into the model when it is compiled; a package that exists does not change",
    "a compile; printing names is cheap",
    'torch/_inductor/codegen/debug_utils.py: PRINT_KERNEL_NAMES_ONLY = "3"',
    ((PRINTER, "3"),),
    run_env=(("CUDA_LAUNCH_BLOCKING", "1"), ("PYTHONUNBUFFERED", "1")),
    misleads=(
        "names that are in a buffer when the process ends are lost: PYTHONUNBUFFERED=1 or a terminal",
        "it does not wait for kernels: without CUDA_LAUNCH_BLOCKING=1 an earlier one may be it",
    ),
    needs=("aoti", "cuda"),
    has="names_printed",
    since=(2, 6),
)
_LAUNCH_LIST = Rung(
    "write down each launch",
    "the last kernel in the file is the last one that was launched, with its arguments and grid",
    "run",
    "read when a kernel's object is made",
    "a line a launch",
    "torch/_inductor/runtime/triton_heuristics.py appends to `<script>.launch_params`",
    (("TORCHINDUCTOR_DUMP_LAUNCH_PARAMS", "1"), ("CUDA_LAUNCH_BLOCKING", "1")),
    misleads=("calls of cuBLAS and of other libraries are not in it",),
    needs=("jit", "cuda"),
    has="names_printed",
)
_VALUES = Rung(
    "print what the suspect kernel is given",
    "shape, dtype, stride, minimum and maximum of every tensor before and after the launch of {kernels}",
    "compile",
    "the printing calls are written into the code when it is compiled; a package that exists does not change",
    "a copy to the host and a wait for each tensor of these kernels",
    "torch/_inductor/codegen/debug_utils.py compares the names, in any case of letters, in mode 2 only",
    ((PRINTER, "2"), (FILTER, "{kernels}")),
    run_env=(("PYTHONUNBUFFERED", "1"),),
    misleads=(
        "outputs are printed before the launch, too: uninitialised memory",
        "numbers are of a float32 copy: integers above 16,777,216 are rounded; one NaN makes all three NaN",
        "under torch.compile the printer itself ends the run at an empty tensor",
        "a name that matches no kernel prints nothing and says nothing; the model's inputs are printed all the same",
    ),
    needs=("printable",),
    has="values_printed",
    since=(2, 6),
)
_VALUES_ALL = replace(
    _VALUES,
    name="print what every kernel is given",
    tells="shape, dtype, stride, minimum and maximum of every tensor before and after each launch",
    env=((PRINTER, "2"),),
    cost="a copy to the host and a wait for each tensor of each launch: very slow, much text",
    proof='torch/_inductor/codegen/debug_utils.py: PRINT_ONLY = "2"',
    misleads=_VALUES.misleads[:3],
    needs=("printable", "suspects_unknown"),
)
_CORE = Rung(
    "core dump of the GPU",
    "kernel, block, thread and instruction that faulted, also inside of CUDA graphs",
    "run",
    DRIVER,
    "none until the fault; the dump may be as large as the GPU's memory",
    "NVIDIA, CUDA-GDB, GPU core dump support",
    (("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1"), ("CUDA_COREDUMP_SHOW_PROGRESS", "1")),
    read="cuda-gdb -batch -ex 'target cudacore <the dump>' -ex bt",
    misleads=("the driver ends the process after the dump: the Python traceback is missing",),
    needs=("cuda",),
    has="core_dumped",
)
_SANITIZE = Rung(
    "compute-sanitizer",
    "kernel, line, thread and address of the access, and the allocation next to it",
    "run",
    "PYTORCH_NO_CUDA_MEMORY_CACHING is read at the first allocation: every tensor is then one of its own",
    "ten to a hundred times slower; CUDA graphs do not work",
    "NVIDIA, Compute Sanitizer, memcheck",
    (("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),),
    form="compute-sanitizer --tool memcheck {command}",
    misleads=(
        "with expandable_segments it reports what is no error: unset PYTORCH_CUDA_ALLOC_CONF",
        "an access that stays inside of another tensor's memory is not seen",
    ),
    needs=("cuda",),
    has="sanitized",
)
_TRACE = Rung(
    "record the compile",
    "the generated code, the graphs, the names and ranges of sizes: what links the error to a Python line",
    "compile",
    "read when torch is imported; loading a package writes nothing",
    "a slower compile, megabytes a model",
    'torch/_logging/_internal.py: TRACE_ENV_VAR = "TORCH_TRACE"; the kernels\' Python lines need INDUCTOR_PROVENANCE (2.9+)',
    (("TORCH_TRACE", "trace_dir"), ("INDUCTOR_PROVENANCE", "1")),
    read="aoti-logs explain <this log> --context trace_dir",
    misleads=(
        "code that comes from a cache is not generated again: add TORCHINDUCTOR_FORCE_DISABLE_CACHES=1",
    ),
    has="code",
    always=True,
    rerun=False,
)
_CPP_STACK = Rung(
    "C++ stack of the error",
    "the frame of the model, with the line of the wrapper where line tables are compiled in",
    "run",
    "read when torch is imported",
    "seconds an exception",
    "libtorch_cpu.so: TORCH_SHOW_CPP_STACKTRACES",
    (("TORCH_SHOW_CPP_STACKTRACES", "1"),),
    outcomes=(Outcome("a frame in the wrapper", "the call that failed", ("AL213", "AL214", "AL215")),),
    misleads=(
        "input checks and `API call failed` have none even with it; nothing in a program without Python",
    ),
    has="cpp_stack",
)
_MINIFIER = Rung(
    "minifier of AOTInductor",
    "a small graph that still fails: what a bug report of the compiler needs",
    "compile",
    "read when compiling; level 3 always writes a launcher, which is then run by hand",
    "minutes to hours",
    "torch/_inductor/debug.py: config.aot_inductor.dump_aoti_minifier, config.aot_inductor.repro_level",
    (("DUMP_AOTI_MINIFIER", "1"), ("AOTINDUCTOR_REPRO_LEVEL", "3")),
    read="python <the minifier_launcher.py that the log names>",
    outcomes=(Outcome("the small graph fails with the same message", "a bug of the compiler", ("AL108",)),),
    misleads=(
        "worth it only when the steps above found no fault in the data",
        "the small graph may fail for another reason: compare the messages",
    ),
    needs=("aoti",),
    since=(2, 7),
    always=True,
    rerun=False,
)
_MINIFIER_JIT = Rung(
    "minifier of torch.compile",
    "a small graph that still fails: what a bug report of the compiler needs",
    "compile",
    "read when compiling; level 3 always writes a launcher, which is then run by hand",
    "minutes to hours",
    'torch/_dynamo/config.py: os.environ.get("TORCHDYNAMO_REPRO_AFTER"), TORCHDYNAMO_REPRO_LEVEL',
    (("TORCHDYNAMO_REPRO_AFTER", "aot"), ("TORCHDYNAMO_REPRO_LEVEL", "3")),
    read="python <the minifier_launcher.py that the log names>",
    misleads=_MINIFIER.misleads,
    needs=("jit",),
    always=True,
    rerun=False,
)
_BISECT = Rung(
    "bisect the compiler",
    "which backend, and which pass or lowering of it, makes the difference",
    "compile",
    "the program is run again and again, each time with another part of the compiler switched off",
    "tens of runs, without caches",
    "torch/_inductor/compiler_bisector.py, `run`",
    form="python -m torch._inductor.compiler_bisector run {command}",
    misleads=(
        "the program has to end with an exit code other than 0 when it is wrong, and has to pass TORCH_COMPILE_BACKEND on to torch.compile(backend=...)",
    ),
    needs=("jit",),
    since=(2, 11),
    always=True,
    rerun=False,
)
_BISECT_BY_HAND = replace(
    _BISECT,
    proof="torch/_inductor/compiler_bisector.py; `run`, which does it alone, came with 2.11",
    form="{command}",
    before="python -m torch._inductor.compiler_bisector start",
    read="python -m torch._inductor.compiler_bisector <good or bad>",
    misleads=("repeat the program and `good` or `bad` until it names a pass",),
    since=(2, 6),
    below=(2, 11),
)
_EAGER_JIT = Rung(
    "the same in eager",
    "whether the program fails without the compiler, too",
    "run",
    "torch.compile then compiles nothing",
    "eager speed",
    'torch/_dynamo/config.py: os.environ.get("TORCH_COMPILE_DISABLE")',
    (("TORCH_COMPILE_DISABLE", "1"),),
    misleads=("a package that is loaded runs all the same",),
    needs=("jit",),
)
_EAGER_AOTI = Rung(
    "the same in eager",
    "whether the model fails on these inputs without the compiler, too",
    "run",
    "nothing is compiled",
    "a change of the program; eager speed",
    "an ATen operator tests its own arguments",
    change="the eager model in place of the package, on the same inputs",
    needs=("aoti",),
)


def check(outcomes: Sequence[Outcome], *needs: str) -> tuple[Rung, ...]:
    """Check the inputs: by a variable of the run, in torch 2.6 and older by compiling again."""
    found = tuple(outcomes)
    # Checks of 2.7 and older test no device, so they neither show nor exclude a tensor on another one.
    rest = tuple(_without(o, "AL203") for o in found if "device" not in o.seen)
    older = (replace(rung, outcomes=rest) for rung in (_CHECK_27, _CHECK_OLD, _CHECK_FIRST))
    rungs = (replace(_CHECK, outcomes=found), *older)
    return tuple(replace(rung, needs=(*rung.needs, *needs)) for rung in rungs)


def _without(outcome: Outcome, code: str) -> Outcome:
    return replace(
        outcome,
        proves=tuple(c for c in outcome.proves if c != code),
        excludes=tuple(c for c in outcome.excludes if c != code),
    )


def eager(outcomes: Sequence[Outcome]) -> tuple[Rung, Rung]:
    """Run without the compiler."""
    found = tuple(outcomes)
    return replace(_EAGER_JIT, outcomes=found), replace(_EAGER_AOTI, outcomes=found)


def blocking(outcomes: Sequence[Outcome], *needs: str) -> tuple[Rung, Rung]:
    """Wait for each launch, on CUDA or ROCm."""
    found = tuple(outcomes)
    return (
        replace(_BLOCKING, outcomes=found, needs=(*_BLOCKING.needs, *needs)),
        replace(_BLOCKING_ROCM, outcomes=found, needs=(*_BLOCKING_ROCM.needs, *needs)),
    )


def names(outcomes: Sequence[Outcome], *needs: str) -> tuple[Rung, Rung]:
    """Tell the name of each kernel as it is launched, in a model of AOTInductor or under torch.compile."""
    found = tuple(outcomes)
    return (
        replace(_LAUNCH_LIST, outcomes=found, needs=(*_LAUNCH_LIST.needs, *needs)),
        replace(_NAMES, outcomes=found, needs=(*_NAMES.needs, *needs)),
    )


def values(outcomes: Sequence[Outcome]) -> tuple[Rung, Rung]:
    """Print what kernels are given: the suspects where they are known, else all."""
    found = tuple(outcomes)
    return replace(_VALUES, outcomes=found), replace(_VALUES_ALL, outcomes=found)


def core_dump(outcomes: Sequence[Outcome], *needs: str) -> Rung:
    """Let the driver write the state of the GPU."""
    return replace(_CORE, outcomes=tuple(outcomes), needs=(*_CORE.needs, *needs))


def sanitize(outcomes: Sequence[Outcome]) -> Rung:
    """Let compute-sanitizer watch every access."""
    return replace(_SANITIZE, outcomes=tuple(outcomes))


def trace(outcomes: Sequence[Outcome] = ()) -> Rung:
    """Record the compile."""
    return replace(_TRACE, outcomes=tuple(outcomes))


def cpp_stack(*needs: str) -> Rung:
    """Print the C++ stack of an exception."""
    return replace(_CPP_STACK, needs=needs)


MINIFY = (_BISECT, _BISECT_BY_HAND, _MINIFIER, _MINIFIER_JIT)
"""Make a small case of a bug of the compiler."""

"""What a failed compile says about itself, taken apart: one type for traces and for logs.

`parse/compiles/compile_failure.py` makes them from the type and text of an exception; rules only read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aoti_logs.parse.aoti.facts import ImageError, VersionMismatch


class FailureKind(StrEnum):
    """What kind of failure the text of an exception certainly is."""

    DYNAMO_UNSUPPORTED = "dynamo_unsupported"
    """Dynamo met code that it cannot trace (`Unsupported`, `UserError`)."""
    BACKEND_FAILED = "backend_compiler_failed"
    """The backend raised something that no kind below names."""
    FAKE_TENSOR = "fake_tensor_error"
    """An operator refused the shapes or dtypes that tracing gave it."""
    UNSUPPORTED_OPERATOR = "unsupported_operator"
    """An operator that has no fake kernel."""
    INVALID_CXX = "invalid_cxx_compiler"
    """There is no C++ compiler that works, or no C compiler for what Triton launches kernels with."""
    NO_TRITON = "triton_missing"
    """Inductor needs Triton for this device, and cannot import a Triton that it can use."""
    GPU_TOO_OLD = "gpu_too_old_for_triton"
    """Triton compiles no code for this GPU."""
    CXX_ERROR = "cpp_compile_error"
    """The C++ compiler (or nvcc, or the linker) returned an error."""
    LOWERING = "lowering_exception"
    """Inductor could not lower an operator."""
    DATA_DEPENDENT = "data_dependent"
    """A condition on a value that is not known while tracing."""
    CONSTRAINT = "constraint_violation"
    """A size that was declared dynamic is not."""
    RECOMPILE_LIMIT = "recompile_limit"
    """A function was compiled as often as it may be."""
    KERNEL_IMAGE = "kernel_image_invalid"
    """The driver refused what was compiled."""
    VERSIONS = "version_mismatch"
    """Torch looked for a name that the installed Triton has not."""
    TRITON = "triton_compilation_error"
    """Triton, or what it calls (MLIR, LLVM, ptxas), refused a kernel."""
    RESOURCES = "triton_out_of_resources"
    """A kernel needs more shared memory (or registers, threads) than the device has."""
    TRITON_DUMP = "triton_compile_failure_dump"
    """torch printed the source of a kernel that Triton refused; what Triton said is not there."""
    SUBPROCESS = "subprocess_exception"
    """A worker process of the compile raised something that no other kind names."""
    OTHER = "compile_failed"


@dataclass(frozen=True)
class Diagnostic:
    """One line of a compiler: `FILE:12:3: error: TEXT`, or `PROGRAM: error: TEXT` without a line."""

    severity: str
    """As printed: `error`, `fatal error`, `warning`, `note`."""
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    program: str | None = None
    """Who speaks of no file: `cc1plus`, `<command-line>`, `/usr/bin/ld`."""
    row: int = 0
    """Line (from 0) within the text that was read."""


@dataclass(frozen=True)
class CompilerRun:
    """A failed call of a compiler. `diagnostics` holds errors and the notes that belong to them."""

    command: str | None
    compiler: str | None
    source_file: str | None
    output_file: str | None
    standard: str | None
    """`c++20`, from `-std=`."""
    diagnostics: tuple[Diagnostic, ...]
    n_warnings: int
    recorded: bool
    """False where the text has no output of the compiler (torch before 2.7 sends AOTInductor's to stderr)."""


@dataclass(frozen=True)
class Violation:
    """One line of a ConstraintViolationError.

    `form`: `specialized` (the code made it a constant), `constant` (it was inferred to be one), `equal`,
    `related` and `derived` (to another size, in `other`), `guard` (in `other`), `solved`, `range` (the
    example lies outside).
    """

    form: str
    text: str
    name: str | None = None
    """The user's name of the size (`Dim("b")`); None where it has none."""
    source: str | None = None
    """`L['x'].size()[0]`, where told."""
    constant: int | None = None
    other: str | None = None
    declared: str | None = None
    """The declared range, `batch <= 32`."""
    constraint: str | None = None
    """`RelaxedUnspecConstraint`: the size was marked with mark_dynamic."""


@dataclass(frozen=True)
class SuggestedFix:
    """`NAME = VALUE  # COMMENT` under `Suggested fixes:`."""

    name: str
    value: str
    comment: str | None = None


@dataclass(frozen=True)
class Violations:
    """The lines of a ConstraintViolationError and what torch suggests."""

    rows: tuple[Violation, ...]
    fixes: tuple[SuggestedFix, ...]


@dataclass(frozen=True)
class Caused:
    """`Caused by:` under a data-dependent failure.

    `code` is the statement; `generated` its place in generated code (`<eval_with_key>.1057:23`);
    `location` the innermost place, as torch shortens it, and `function` there.
    """

    code: str | None
    generated: str | None
    location: str | None
    function: str | None


@dataclass(frozen=True)
class Undecided:
    """A condition that tracing could not decide.

    `symbols` are the unbacked symbols in it (`u0`; `i1` before torch 2.2), `size_like` those that
    torch takes for sizes, None where not told. `checks` are the calls of `torch._check` that torch suggests.
    """

    expression: str
    unhinted: str | None
    symbols: tuple[str, ...]
    size_like: tuple[str, ...] | None
    caused: Caused | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeCall:
    """The graph node that could not be run with fake tensors: `call_function`, `<built-in function matmul>`."""

    opcode: str
    target: str


@dataclass(frozen=True)
class LoweredTensor:
    """A tensor among the arguments of an operator; sizes that are no numbers are symbolic expressions."""

    index: int
    buffer: str | None
    """Name in the generated code, `arg1_1`; None for one that has no memory yet."""
    device: str | None
    dtype: str | None
    size: tuple[int | str, ...] | None
    stride: tuple[int | str, ...] | None


@dataclass(frozen=True)
class Lowered:
    """What a LoweringException says about the operator; `args` are (index, text)."""

    target: str
    args: tuple[tuple[int, str], ...]
    tensors: tuple[LoweredTensor, ...] = ()
    kwargs: str | None = None


@dataclass(frozen=True)
class Limit:
    """A limit on compiles of one function: the setting's name and value, where told."""

    config: str | None
    limit: int | None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    last_reason: str | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class TritonError:
    """What Triton says of a kernel.

    `form`: `source` (a statement of the kernel), `passes` (MLIR or LLVM), `ptxas`, `codegen` (the compiler of
    another device). `line` and `column` count in the
    kernel's own source, from 1 and from 0; `excerpt` are the lines up to that one. `inner` is the repr of the
    exception in it, `said` its text, `undefined` the name that is not defined. `messages` are those of ptxas.
    """

    form: str
    said: str
    inner: str | None
    line: int | None = None
    column: int | None = None
    excerpt: tuple[str, ...] = ()
    undefined: str | None = None
    messages: tuple[str, ...] = ()
    command: str | None = None


@dataclass(frozen=True)
class Resources:
    """`out of resource`: what was required and what there is, in bytes for shared memory."""

    resource: str
    required: int
    limit: int
    kernel: str | None = None


@dataclass(frozen=True)
class Unsupported:
    """Dynamo's own text: explanation, hints, the address of its page (torch 2.7+)."""

    explanation: str | None
    hints: tuple[str, ...]
    context: str | None
    url: str | None


Detail = (
    CompilerRun
    | Violations
    | Undecided
    | NodeCall
    | Lowered
    | Limit
    | Unsupported
    | ImageError
    | VersionMismatch
    | TritonError
    | Resources
)


@dataclass(frozen=True)
class UserFrame:
    """A frame of the user's code."""

    file: str
    line: int
    function: str | None
    code: str | None


@dataclass(frozen=True)
class Failure:
    """An exception of a compile, with what it wraps.

    `exception_type` as printed, `inner` the types inside of it, outermost first. `message` is the
    innermost message's first line, `text` the whole. `operator` is the operator it is about.
    """

    kind: FailureKind
    exception_type: str | None
    inner: tuple[str, ...]
    message: str
    text: str
    backend: str | None = None
    operator: str | None = None
    detail: Detail | None = None
    user_frames: tuple[UserFrame, ...] = ()
    """`from user code:`, outermost first."""
    node: NodeCall | None = None
    """The node that was being run, where the text names one beside its `detail`."""

    @property
    def class_name(self) -> str | None:
        """The type without its module: `InductorError`."""
        return self.exception_type.rpartition(".")[2] if self.exception_type else None

    @property
    def inner_names(self) -> tuple[str, ...]:
        """The types inside without their modules, outermost first."""
        return tuple(name.rpartition(".")[2] for name in self.inner)

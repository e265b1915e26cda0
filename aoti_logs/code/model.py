"""The compiled model as data: what a wrapper says about inputs, sizes, kernels and launches.

One `CompiledModel` a generated wrapper, whichever language it is in and wherever it was found
(file, package, trace, TORCH_LOGS text). Line numbers are those of `source`; quote them through
`source.place(line)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.body import Param

if TYPE_CHECKING:
    from aoti_logs.code.expr import Expr
    from aoti_logs.sources.source import Source


class Backend(StrEnum):
    """Which language a kernel's body is in."""

    TRITON = "triton"
    CPP = "cpp"
    EXTERN = "extern"
    """A call into ATen or a library: there is no body."""
    OTHER = "other"
    """A kernel in a language that is not read (Pallas, CuteDSL, Halide)."""


@dataclass(frozen=True)
class Kernel:
    """A kernel definition.

    `line` to `end_line` are the lines of the definition in `source`; for Triton they hold the text
    of the kernel file (`first_line` is where line 1 of that file would be, so that line n of the
    cache's `.py` is line `first_line + n - 1` here). `path` is the cache file that the code names,
    if it does. `asserts` are (line, message) of the bounds checks in it, found by text only.
    """

    name: str
    backend: Backend
    source: Source
    line: int
    end_line: int
    params: tuple[Param, ...] = ()
    first_line: int = 1
    path: str | None = None
    asserts: tuple[tuple[int, str], ...] = ()


class ArgumentKind(StrEnum):
    """What a launch gives for a parameter."""

    BUFFER = "buffer"
    INPUT = "input"
    CONSTANT = "constant"
    SIZE = "size"
    LITERAL = "literal"
    EXPRESSION = "expression"
    OTHER = "other"
    """Streams, grids, null pointers and whatever else only the launcher needs."""


@dataclass(frozen=True)
class Argument:
    """One actual argument bound to its parameter.

    `name` is the variable behind casts and views (`arg1_1`, `buf0`, `emb_weight`, `s70`), None for
    literals and expressions of several names; `text` is the argument as written.
    """

    position: int
    param: str | None
    text: str
    kind: ArgumentKind
    name: str | None = None
    value: Expr | None = None
    dtype: str | None = None
    """The parameter's type as the kernel writes it (`*fp32`, `i64`, `const int64_t*`); None where it says none."""


@dataclass(frozen=True)
class Launcher:
    """How a kernel is started on a device, as the generated code around it says.

    Texts are as written, in the names of the kernel's parameters (`((xnumel + (128 - 1)) / (128))`).
    """

    kernel: str
    line: int
    grid: tuple[str, ...] = ()
    """Blocks along x, y and z."""
    skips_empty: bool = False
    """True where a grid without blocks returns before the launch."""
    num_warps: int | None = None
    shared_bytes: int | None = None
    binary: str | None = None
    """File (`cubin`, `hsaco`, `spv`) or embedded object that the kernel is loaded from."""
    symbol: str | None = None
    """Name of the function in the binary."""
    workspaces: tuple[str, ...] = ()
    """Memory that only the launcher allocates (scratch of the kernel), sizes as written."""
    passed: tuple[str, ...] = ()
    """Parameters that reach the device, in its order: constants of the kernel are not among them."""


@dataclass(frozen=True)
class Launch:
    """A kernel launch or extern call, in program order (`index` from 0, calls of all kinds counted)."""

    index: int
    kernel: str
    backend: Backend
    line: int
    text: str
    arguments: tuple[Argument, ...]
    checked: bool = True
    """False for a shim call whose error code the generated code ignores."""
    handle: int | None = None
    """Provenance debug handle (`kernel:3`), torch 2.9+ with provenance on."""
    source_nodes: tuple[str, ...] = ()
    """Names from `Topologically Sorted Source Nodes: [...]` above the launch."""
    stack: str | None = None
    """Python stack from a `KernelContextGuard`, if the wrapper has one."""
    outputs: tuple[str, ...] = ()
    """Buffers that this call defines or writes, as far as the wrapper alone can tell (`out=`,
    `&buf2_handle`, `auto buf1 = ...`); for fused kernels known from the kernel's body instead."""
    branch: tuple[str, ...] = ()
    """The control flow around the call, outermost first, as the code writes its heads (`if (buf0_scalar)`,
    `else`, `while (1)`); empty for what every run of the model executes."""
    subgraph: str | None = None
    """Name of the subgraph (`true_graph_0`, `while_loop_body_graph_0`) that the call belongs to."""
    grid: tuple[str, ...] = ()
    """Blocks along x, y and z as written; in the names of the kernel's parameters where `call_<kernel>` computes them."""
    stream: str | None = None
    """The stream as written (`stream0`); None where the call names none."""
    unbound: str | None = None
    """Why the arguments are not bound to parameters (their numbers differ, ...); None where they are."""
    within: Within = ()
    """Which statements `branch` means, so that two with the same head can be told apart."""


Within = tuple[tuple[int, int], ...]
"""The control flow around a statement, outermost first: (number of the `if` or loop, which of its arms).

The first arm is 0, `else` is 1, a further `else if` counts on; the body of a loop is `LOOP`. Numbers are unique in
one wrapper.
"""
LOOP = -1


class Call(NamedTuple):
    """A launch or extern call as far as it is known without its arguments."""

    kernel: str
    checked: bool
    within: Within = ()


@dataclass(frozen=True)
class ModelInput:
    """A run-time input: index in the caller's list, name in the generated code."""

    index: int
    name: str
    line: int
    unpack_line: int | None = None
    scalar: bool = False
    """True for a symint input of torch.compile (`arg0_1` that only carries `s70`)."""


@dataclass(frozen=True)
class Constant:
    """A weight, buffer or folded constant, as `constants_info_` describes it.

    `fqn` is the module path (`emb.weight`), `dtype`, `device` and `layout` are torch's words (`float32`, `cpu`,
    `strided`). `offset` is the storage offset in elements; `data_size` are the bytes of its storage, filled up to 64
    where the model has constants on the CPU. `constant_type` is torch's: `Parameter`, `Buffer`, `TensorConstant`,
    `FoldedConstant`, `Unknown`; before torch 2.6 nothing tells it. What the code does not say is None.
    """

    index: int
    name: str
    fqn: str | None
    dtype: str | None
    shape: tuple[int, ...] | None
    line: int
    device: str | None = None
    offset: int | None = None
    data_size: int | None = None
    from_folded: bool | None = None
    constant_type: str | None = None
    stride: tuple[int, ...] | None = None
    layout: str | None = None
    opaque_metadata_size: int | None = None
    """Bytes of oneDNN's description of an opaque tensor; None for all others."""


@dataclass(frozen=True)
class Size:
    """Where a size symbol gets its value: a dimension of a tensor, another symbol (alias), an
    expression, a scalar input, or data (unbacked).
    """

    symbol: str
    line: int
    text: str
    tensor: str | None = None
    dim: int | None = None
    stride: bool = False
    alias_of: str | None = None
    value: Expr | None = None
    unbacked: bool = False
    at: int = 0
    """How many launches stand before it in program order."""


class CheckKind(StrEnum):
    """What a run-time input check compares."""

    DTYPE = "dtype"
    MIN = "min"
    MAX = "max"
    EQUAL = "equal"
    STRIDE = "stride"
    DEVICE = "device"
    SIZE_STRIDE = "size_stride"
    ALIGNMENT = "alignment"
    RUNTIME_ASSERT = "runtime_assert"


@dataclass(frozen=True)
class InputCheck:
    """One comparison of `check_input_N`, `__check_inputs_outputs` or an assert in the wrapper.

    `gated`: the code runs it only when AOTI_RUNTIME_CHECK_INPUTS is set (torch 2.7+).
    """

    kind: CheckKind
    tensor: str
    input_index: int | None
    dim: int | None
    expected: str
    line: int
    gated: bool
    text: str
    at: int = 0
    """How many launches stand before it in program order; 0 for checks that stand outside of the entry function."""


@dataclass(frozen=True)
class Buffer:
    """A buffer's birth or rename.

    `shape` and `stride` are element texts (`s95`, `16L`). `alias_of` is the older name whose memory
    it takes over (reuse) or looks into (`view` is then True).
    """

    name: str
    line: int
    shape: tuple[str, ...] | None = None
    stride: tuple[str, ...] | None = None
    dtype: str | None = None
    device: str | None = None
    alias_of: str | None = None
    view: bool = False
    at: int = 0
    """How many launches stand before it in program order: launch number `at` is the first that can use it."""
    offset: str | None = None
    """For a view: the storage offset as written, in elements (in bytes for a part of a memory pool); `?` where it
    cannot be told which part it shows."""
    branch: tuple[str, ...] = ()
    """The control flow around it, as in `Launch`."""
    reuse: bool = False
    """True where the code says that only the memory is taken over (`// reuse`): the values are dead, but for a
    kernel that updates them in place."""
    item: str | None = None
    """For one of several results of a call (`buf6 = buf5[0]`): which one; the tensor is another than its sisters."""
    within: Within = ()
    """Which statements `branch` means."""


@dataclass(frozen=True)
class Release:
    """The end of a buffer's name: `buf0.reset();`, `del buf0`. `at` and `branch` as in `Buffer`."""

    name: str
    line: int
    at: int = 0
    branch: tuple[str, ...] = ()
    within: Within = ()


@dataclass(frozen=True)
class CompiledModel:
    """Everything that one generated wrapper says, and the kernels that belong to it."""

    source: Source
    flavour: str
    """`aoti_cpp`, `jit_python` or `jit_cpp` (torch.compile with cpp_wrapper)."""
    devices: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    launches: tuple[Launch, ...] = ()
    inputs: tuple[ModelInput, ...] = ()
    constants: tuple[Constant, ...] = ()
    sizes: tuple[Size, ...] = ()
    checks: tuple[InputCheck, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    releases: tuple[Release, ...] = ()
    outputs: tuple[str, ...] = ()
    """Names returned, in order."""
    kernel_files: tuple[str, ...] = field(default=())
    """Base names of kernel files that the wrapper or kernel file names as belonging together."""
    unread: tuple[tuple[int, str], ...] = ()
    """(line, text) of statements of the entry function that no form fits."""

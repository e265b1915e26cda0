"""What a run printed, as typed events with the span that proves each.

`parse/logs/log.py` makes them from the text of a log; tables and rules only read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.compiles.autotune import Autotuning
    from aoti_logs.parse.logs.sender import Sender
    from aoti_logs.sources.source import Span


class AssertionForm(StrEnum):
    """Which program printed a failed bounds check."""

    CUDA = "cuda"
    """``FILE:LINE: FUNC: block: [..], thread: [..] Assertion `TEXT` failed.`` (Triton and ATen on NVIDIA)."""
    HIP = "hip"
    """`device assertion failed: 'TEXT', in FUNC at FILE:LINE` (Triton on AMD)."""
    XPU = "xpu"
    """``FILE:LINE: FUNC: global id: [..], local id: [..] Assertion `TEXT` failed`` (SYCL)."""
    CPU = "cpu"
    """`index out of bounds: TEXT` as the text of a C++ exception."""


@dataclass(frozen=True)
class AssertionText:
    """The condition of an assertion, taken apart by `grammars/assertion.lark`.

    `full` is the condition as printed (`0 <= tmp4 < ks0`); `operand_name` the variable in the
    operand when the operand is an expression (`tl.broadcast_to(tmp26, [XBLOCK])`).
    """

    full: str
    operand: str | None
    operand_name: str | None
    lower: str | None
    bound: str | None
    bound_kind: str | None
    """`literal`, `symbol`, `symbolic_expr` or None (one-sided without an upper bound)."""
    bound_value: int | None
    bound_symbols: tuple[str, ...] = ()

    @property
    def one_sided(self) -> bool:
        """True when only one end is tested."""
        return (self.lower is None) != (self.bound is None)


@dataclass(frozen=True)
class Assertion:
    """One distinct failed assertion: all lines that differ only in block and thread.

    A storm of a million lines is one of these. `blocks` and `threads` hold the distinct triples
    in order of first appearance, at most `aoti_logs.parse.asserts.threads.KEEP` of them; the counts are
    always exact. On XPU they are global and local ids. `spans` are runs of all kinds of assertion
    lines where several kinds alternate line by line. `text` is None for asserts that are not index checks of generated code
    (`condition` is then all there is). `glued` when other output stands on the same line.
    """

    form: AssertionForm
    message: str
    """The whole asserted text, `index out of bounds: 0 <= tmp4 < ks0`."""
    text: AssertionText | None
    file: str | None
    line: int | None
    function: str | None
    count: int
    first: Span
    last: Span
    spans: tuple[Span, ...]
    """Runs of consecutive assertion lines of this kind; together they hold every line of it."""
    rank: int | None = None
    n_blocks: int = 0
    n_threads: int = 0
    """Distinct (block, thread) pairs."""
    blocks: tuple[tuple[int, int, int], ...] = ()
    threads: tuple[tuple[int, int, int], ...] = ()
    glued: bool = False
    sender: Sender | None = None
    """Who sent its first line, where the log is wrapped."""
    silent: tuple[tuple[int, int, int], tuple[int, int]] | None = None
    """A block, and two threads of one of its warps: the first printed nothing, though no element of it is above those
    of the second, which failed (`parse/asserts/silent.py`)."""


@dataclass(frozen=True)
class Frame:
    """One C++ stack frame. `symbol` is None where the printer knew none.

    `line` is a source line only; a number that is a byte offset is in `offset`.
    """

    number: int
    symbol: str | None
    file: str | None
    line: int | None
    library: str | None
    offset: int | None
    address: int | None
    span: Span
    column: int | None = None
    build_id: str | None = None
    arguments: str | None = None
    """Values of arguments as gdb prints them, `ptr=0x0, size=-1`."""
    inlined: bool = False
    """True where the printer says, or its form shows, that the frame shares its code with the one above or below."""


@dataclass(frozen=True)
class Stack:
    """A native stack. `omitted`: Python frames left out."""

    format: str
    """Who printed it, one of `aoti_logs.parse.stacks.stack_form.FORMS`: `c10`, `captured_traceback`, `gdb`, `sanitizer`, ..."""
    frames: Sequence[Frame]
    span: Span
    omitted: bool = False
    thread: str | None = None
    """Thread as printed: gdb's number, a sanitizer's `T0`, `Thread 0x...`."""
    role: str = ""
    """What the stack shows in a report of several: `access`, `allocated`, `freed`, `created`, `previous`, `waiting`."""
    signal: str | None = None
    """Signal that stopped this thread, `SIGSEGV`."""
    sender: Sender | None = None
    """Who sent its first line, where the log is wrapped."""


@dataclass(frozen=True)
class RaisedFrom:
    """`Exception raised from FUNCTION at FILE:LINE`."""

    function: str
    file: str
    line: int
    span: Span


class ErrorForm(StrEnum):
    """How an error reached the log."""

    AOTI_ERROR = "aoti_error"
    """`Error: TEXT` that the AOTI runtime prints to stderr before it returns a code."""
    PYTHON = "python"
    """The last line(s) of a Python traceback, `RuntimeError: TEXT`."""
    TERMINATE = "terminate"
    """`terminate called after throwing an instance of ...` and its `what():`."""
    CPP = "cpp"
    """The text of a C++ exception that a host program printed in its own words."""
    CUDA = "cuda"
    """A CUDA/HIP error text outside a Python traceback (`Failed to destroy CUDA event ...`)."""
    SIGNAL = "signal"
    """`Aborted (core dumped)`, `Fatal Python error: ...`, gdb's `received signal`."""
    MEMORY_REPORT = "memory_report"
    """A report of AddressSanitizer, or of one of its relatives."""
    WARNING = "warning"
    """A warning that explains something (`[WARNING] ...`, glog W lines)."""
    COMPILER = "compiler"
    """What a C++ compiler wrote itself, `FILE.cpp:12:3: error: TEXT` and the lines below it."""
    SHIM = "shim"
    """`CALL(...) API call failed at FILE, line N` and glog/c10 `Exception in aoti_torch: ...`."""
    SANITIZER = "sanitizer"
    """A report of compute-sanitizer or cuda-memcheck."""
    COLLECTIVE = "collective"
    """What a process group says of a collective that failed (`[E... ProcessGroupNCCL.cpp:689] ...`)."""
    DEVICE = "device"
    """What NVIDIA's driver (while it writes a core dump) or cuda-gdb says of a kernel that faulted."""
    KERNEL_LOG = "kernel_log"
    """A line of the operating system's kernel about a device, `NVRM: Xid ...`."""
    LOGGED = "logged"
    """An error that a logger reports and the program goes on from (`Runtime error during autotuning`)."""


@dataclass(frozen=True)
class ErrorText:
    """One error as printed.

    `message` is the first line without its prefix; `text` everything that belongs to it.
    `exception_type` as printed (`RuntimeError`, `torch.AcceleratorError`, `c10::Error`).
    `call` and `call_file`, `call_line` are those of an `API call failed at` text.
    """

    form: ErrorForm
    message: str
    span: Span
    exception_type: str | None = None
    raised_from: RaisedFrom | None = None
    stack: Stack | None = None
    assertion: Assertion | None = None
    call: str | None = None
    call_file: str | None = None
    call_line: int | None = None
    text: str = ""
    """The whole text without frames: the message, its further lines, hints."""
    cuda_error: str | None = None
    """`cudaErrorAssert`, ... where named or known from the text."""
    signal: str | None = None
    rank: int | None = None
    python_frames: tuple[PythonFrame, ...] = ()
    sender: Sender | None = None
    """Who sent its first line, where the log is wrapped."""
    detail: object | None = None
    """What the reader of its format took apart: a frozen dataclass of that reader's module."""
    depth: int = 0
    """In how many messages of other exceptions it is printed: the traceback of a worker process is 1."""
    within: Span | None = None
    """Where the exception stands in whose message, or group, it is printed."""
    chained: str | None = None
    """How it follows the exception printed before it: `cause` (raised from it) or `context` (raised while it was
    handled); None where nothing says so."""


@dataclass(frozen=True)
class PythonFrame:
    """One frame of a Python traceback, outermost first."""

    file: str
    line: int
    function: str
    code: str | None
    span: Span
    repeated: int = 0
    """`[Previous line repeated N more times]`."""
    marked: str | None = None
    """The part of `code` that was run, which Python 3.11 and later mark below it."""


@dataclass(frozen=True)
class Dump:
    """One record of the intermediate value printer (AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER).

    `format` is `cpp_v2` or `cpp_v1_no_mean` (tensor blocks, torch 2.5 without a mean), `cpp_scalar`, `python`,
    `kernel_names_only` (mode 3) or `save` (mode 1, `value` is the file). `phase` is `aoti_model_inputs`,
    `before_launch` or `after_launch`, or empty where a program called the printer itself. `min`, `max`, `mean`
    are as printed: they come from a copy in float32, so integers above 2**24 are rounded. `complete` is False for
    a block that ends early (the process died while printing) or whose lines are mixed with another's.
    """

    format: str
    phase: str
    kernel: str | None
    argument: str | None
    span: Span
    dtype: str | None = None
    """As printed (`long int`); `parse/dtype.py` gives torch's name."""
    device: str | None = None
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None
    layout: str | None = None
    contiguous: bool | None = None
    requires_grad: bool | None = None
    numel: int | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    std: float | None = None
    value: str | None = None
    """The value of a scalar or the printed elements of a small tensor, as text."""
    values: tuple[float, ...] | None = None
    """The elements; None where they were not printed, or not all of them could be read."""
    has_nan: bool | None = None
    has_inf: bool | None = None
    """None where the record does not tell."""
    complete: bool = True
    bare: bool = False
    """Nothing stands under the header."""
    rank: int | None = None
    launch: int | None = None
    """Which launch of this kernel it was in this process, from 1."""
    uninitialised: bool | None = None
    """Of a tensor before a launch: True when the launch then wrote it and no earlier record shows that anything
    had, so that its elements may be whatever stood in that memory; None when that cannot be told."""

    @property
    def is_tensor(self) -> bool:
        """True for a block with the summary of a tensor."""
        return self.format.startswith("cpp_v") or (self.format == "python" and self.numel is not None)

    sender: Sender | None = None
    """Who sent its first line, where the log is wrapped."""


@dataclass(frozen=True)
class LogLine:
    """One message with a TORCH_LOGS/glog prefix; its lines are joined, the prefix taken off.

    `lines` are the line numbers in the source of each line of `text`; a `range` where they follow
    each other. `style` is that of the prefix, as `parse/logs/log_prefix.py` names it.
    """

    level: str
    time: str
    process: int
    module: str
    module_line: int
    compile_id: str | None
    artifact: str | None
    rank: int | None
    text: str
    lines: range | tuple[int, ...]
    span: Span
    style: str = "default"
    prefixed: int | None = None
    """How many of its lines have the prefix; None: all in the default style, one in the others."""
    sender: Sender | None = None
    """Who sent its first line, where the log is wrapped."""


@dataclass(frozen=True)
class Note:
    """A line that tells something about the run itself: the command that started it and the
    environment given there (`$ A=1 python serve.py`), an exit code, a shape printed by the caller, an issue
    of a draft export.

    `kind` is `command`, `exit`, `shapes`, `draft_export` or `save_directory` (of the value printer); `facts` are
    plain (key, value) pairs.
    """

    kind: str
    span: Span
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Unparsed:
    """Bytes that no reader claimed, or that one expected and could not read."""

    span: Span
    expected: str
    """What was expected there; `text` for free text, which is nobody's format."""


@dataclass(frozen=True)
class Record:
    """A claimed range of bytes and what it is; records and `Unparsed` rows partition a source."""

    kind: str
    span: Span


@dataclass(frozen=True)
class LogEvents:
    """Everything found in one log."""

    records: tuple[Record, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    errors: tuple[ErrorText, ...] = ()
    stacks: tuple[Stack, ...] = ()
    dumps: tuple[Dump, ...] = ()
    messages: tuple[LogLine, ...] = ()
    notes: tuple[Note, ...] = ()
    autotunings: tuple[Autotuning, ...] = ()
    unparsed: tuple[Unparsed, ...] = field(default=())

    @property
    def says_nothing(self) -> bool:
        """Whether none of it is known as output of torch, of a launcher, or of what kills a process."""
        found = (
            self.assertions,
            self.errors,
            self.stacks,
            self.dumps,
            self.messages,
            self.notes,
            self.autotunings,
        )
        return not any(found) and all(row.expected == "text" for row in self.unparsed)

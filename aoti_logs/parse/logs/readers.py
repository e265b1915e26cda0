"""Who reads what in a log, in the order in which they are asked: which literals announce it, and what its lines need.

A module is imported when a line has what it needs: most logs hold text of a few kinds only, and importing all
modules takes longer than reading a small log. A new kind is a module with `read_...(log, line) -> bool`, and a row here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from aoti_logs.parse.python import exception_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.logs.lines import Line, Log

    Read = Callable[[Log, Line], bool]


@dataclass(frozen=True)
class Reader:
    """A function of a module of `parse/` that claims what begins on a line.

    `words` announce: one that begins with a newline stands at the start of a line. Each passes over every log, so there
    are as few as will do. `needs` are texts in lower case: without any of them on the line the function does nothing.
    """

    module: str
    function: str
    words: tuple[bytes, ...] = ()
    needs: tuple[str, ...] = ()

    @cached_property
    def read(self) -> Read:
        """The function."""
        found: Read = getattr(import_module(f"aoti_logs.parse.{self.module}"), self.function)
        return found


_HEADER = "traceback (most recent call last)"
_FIRST = (
    Reader("errors.collective", "read_collective", (b"ProcessGroup", b" NCCL "), ("processgroup", " nccl ")),
    Reader("aoti.line", "read_shim", (b"Exception in aoti_torch: ",), ("exception in aoti_torch: ",)),
)
"""Asked before the messages of torch's loggers, `parse/logs/torch_logs.py`, which look like theirs."""
_SECOND = (
    Reader("guards.limit_line", "read_limit_line", (b" hit recompilation cache limit (",), (" hit recompilation",)),
    Reader(
        "logs.note",
        "read_note",
        (b"\n$ ", b"exit code", b"exit status", b"exited with code", b"Script done on", b"Script started on", b"torch.Size(", b"=("),
        ("$ ", "exit", "script done on", "script started on", "torch.size(", "=(", ":(", ": ("),
    ),
    Reader("errors.sanitizer", "read_sanitizer", (b"========= ",), ("=========",)),
    Reader("errors.kernel_log", "read_kernel_log", (b"NVRM: ", b"amdgpu"), ("nvrm: ", "amdgpu ")),
    Reader(
        "errors.device_exception",
        "read_device_exception",
        (b"] coredump: ", b"CUDA Exception: ", b"CUDA_EXCEPTION_", b"][CUDA]["),
        ("] coredump: ", "cuda exception: ", "cuda_exception_", "][cuda]["),
    ),
    Reader(
        "printer.printer",
        "read_dump",
        (b"_launch", b"aoti_model_inputs", b"aoti_torch_save_tensor_handle", b"[  "),
        ("_launch", "aoti_torch_save_tensor_handle", "[  "),
    ),
    Reader(
        "errors.memory_report",
        "read_memory_report",
        (b"Sanitizer: ", b" is located ", b"allocated by ", b"freed by ", b": runtime error: ", b"allocated from:"),
        ("sanitizer: ", " is located ", "by thread t", "leak of ", " of size ", ": runtime error: ", "#"),
    ),
    Reader("errors.pruned_choice", "read_pruned", (b" for benchmark choice ",), (" for benchmark choice ",)),
    Reader("python.escaped_traceback", "read_escaped", (), (_HEADER,)),
    Reader("python.exception_group", "read_group", (), ("exception group traceback",)),
    # pytest's `E   TEXT` and `FILE:LINE: TYPE`
    Reader("python.styled_traceback", "read_styled", (), (_HEADER, "e  ", *(f"{digit}: " for digit in range(10)))),
    Reader(
        "python.traceback",
        "read_traceback",
        (b"Traceback (most recent call last)", b'  File "', b"Error", b"Exception", b"Interrupt", b"OutOfResources", b"Failed: "),
        (_HEADER, 'file "', "above exception"),
    ),
    Reader(
        "deaths.crash",
        "read_crash",
        (
            b"Fatal Python error", b"fatal exception: ", b"(most recent call first):", b"Timeout (", b"received signal",
            b"terminated with signal", b"stop reason = ", b"\nThread ", b"\n  thread #", b"Aborted", b"Abort trap",
            b"egmentation fault", b"us error", b"loating point exception", b"llegal instruction", b"IOT instruction",
            b"Killed", b"zsh: ", b"by signal", b"*** SIG", b"*** Signal", b"*** Aborted at", b"Caught signal",
            b"*** Process received", b"on signal ", b"(signal ", b"received by PID", b"exitcode", b": segfault at ",
            b"traps: ", b"oom_kill", b"oom-kill", b"OOMKilled", b"free(): ", b"alloc(): ", b"double free", b"\ncorrupted ",
            b"smashing detected", b"overflow detected", b"malloc_consolidate", b"munmap_chunk", b"virtual method called",
            b"' failed.", b"libc++abi: terminating", b"==== backtrace", b"Stack dump", b"LLVM ERROR: ",
            b"UNREACHABLE executed", b"\nProcess ",
        ),
        (
            "fatal python error: ", "fatal exception: ", "(most recent call first):", "timeout (", 'file "', "file ???",
            "received signal", "terminated with signal", "thread ", "abort", "segmentation fault", "bus error",
            "floating point exception", "illegal ", "iot instruction", "breakpoint trap", "trace trap", "killed",
            "fish: job ", "*** s", "*** aborted at", "caught signal ", "noticed that process rank",
            "your application terminated", "received by pid", "exitcode", "srun: error: ", "slurmstepd: error: ",
            ": segfault at ", "traps: ", "out of memory: kill", "process finished with exit code", "(): ", "double free",
            "corrupted ", "smashing detected", "overflow detected", "virtual method called", "assertion `",
            "llvm error: ", "unreachable executed",
        ),
    ),
    Reader(
        "errors.error",
        "read_error",
        (
            b"Error: ", b"terminate called", b"what():", b"API call failed at", b"CUDA error", b"CUDA driver error",
            b" out of memory", b"HSA_STATUS_ERROR", b"Native API failed", b"would exceed allowed memory", b"HIP error",
            b"Triton Error", b"in AOTInductor model", b"L0 runtime error", b"Memory access fault by GPU", b"input_handles[",
            b"expected inputs vector size", b"index out of bounds: ", b"Exception raised from ", b"[WARNING]", b"\n[W", b"\n[E",
        ),
        (
            "error: ", "terminate called", "libc++abi", "what():", "[v", "[i", "[w", "[e", "[f", "[c", "cuda error",
            "cuda driver error", "hip error", "hip driver error", "out of memory", "triton error [", "l0 runtime error",
            "in aotinductor model", "memory access fault by gpu", "native api failed", "hsa_status_error",
            "allocation on device ", "input_handles[", "vector size to be ", "api call failed at", "index out of bounds: ",
            "exception raised from ",
        ),
    ),
    Reader(
        "errors.failure_line",
        "read_compiler",
        (b" error: ", b": cannot find -l", b"undefined reference to"),
        ("error", "unimplemented", "cannot find", "undefined reference", "undefined symbol", "no such file"),
    ),
    Reader("python.traceback", "read_exception", exception_name.WORDS, exception_name.NEEDS),
    Reader(
        "errors.failure_line",
        "read_failure_line",
        (b"Could not guard on data-dependent", b"be a constant (", b": Compiler: ", b"ptxas fatal", b"ptxas error"),
        (
            "error", "exception", "unsupported", "limit", "guardondatadependent", "missingoperator", "invalidcxxcompiler",
            "backendcompilerfailed", "compiletimeassertionfailure", "triton", "ptxas", "passmanager", "pass manager",
            "failed to translate module", "failed to run pass", "out of resource: ", "- ", "constraints violated (",
            "specializations unexpectedly required (", " not in range [", "data-dependent expression", "hit config.",
            "hit recompilation", "no fake impl", "meta tensors", "backend=", "c++ compile", "is not found.", "triton installation", "find c compiler", "too old to be supported",
        ),
    ),
    Reader("errors.bare_break", "read_bare_break", (b"\n  Explanation: ",), (" explanation: ",)),
    Reader("compiles.draft_export", "read_draft_report", (b"issue(s) found during export",), ("issue(s) found during export",)),
    Reader(
        "aoti.line",
        "read_host",
        (b"undefined symbol: ", b"Error in dlopen", b" zip archive", b"Unknown exception occurred.", b"-bytes aligned, but"),
        (": undefined symbol: ", "error in dlopen", " zip archive", "generated cpp file", "unknown exception occurred", "-bytes aligned, but"),
    ),
    Reader("compiles.autotune", "read_autotune", (b"AUTOTUNE ", b"Autotune Choices Stats:"), ("autotune ",)),
    Reader(
        "stacks.stack",
        "read_stack_alone",
        (b"frame #", b"CapturedTraceback", b"Exception raised from ", b"\n#", b" 0x", b"[0x", b"+0x", b"@ 0000"),
        ("#", "0x", "@", "capturedtraceback"),
    ),
    Reader(
        "graphs.printed_program",
        "read_printed_program",
        (b"\nExportedProgram:", b"def forward(", b"class GraphModule("),
        ("exportedprogram:", "class ", "def forward(self"),
    ),
    Reader("errors.python_warning", "read_python_warning", (b"Warning: ",), ("warning: ",)),
)  # fmt: skip
WORDS = tuple(word for reader in (*_FIRST, *_SECOND) for word in reader.words)
"""Literals of all readers but those of torch's loggers."""


_LOGGED = ("]", "DEBUG:", "INFO:", "WARNING:", "ERROR:", "CRITICAL:")
"""What lines of torch's loggers need, where the format is none of the user's own."""
_DIGITS = str.maketrans("123456789", "000000000")
_SHORT = 512  # characters of lines whose kind is remembered: what differs in digits only is of one kind


class Readers:
    """All readers of one log.

    Args:
        messages: reads those of torch's loggers.
        any_format: whether these may have a format of the user's own.
    """

    def __init__(self, messages: Read, *, any_format: bool) -> None:
        self._messages = messages
        self._any_format = any_format

    def read(self, log: Log, line: Line) -> bool:
        """Let the first reader that knows it claim what begins on a line; tell whether there was one."""
        text = line.text
        ask = _fitting(text.translate(_DIGITS)) if len(text) <= _SHORT else _fitting.__wrapped__(text)
        if any(reader.read(log, line) for reader in ask.first):
            return True
        # What was taken off a line may be what it needs.
        peeled = line.end - line.start > len(text) + 2
        if (ask.logged or peeled or self._any_format) and self._messages(log, line):
            return True
        return any(reader.read(log, line) for reader in ask.second)


@dataclass(frozen=True)
class _Fitting:
    first: tuple[Reader, ...]
    logged: bool
    second: tuple[Reader, ...]


@lru_cache(maxsize=4096)
def _fitting(text: str) -> _Fitting:
    """Return the readers to whom a line has something that they need."""
    has = text.lower().__contains__
    first, second = (tuple(r for r in readers if any(map(has, r.needs))) for readers in (_FIRST, _SECOND))
    return _Fitting(first, any(map(text.__contains__, _LOGGED)), second)

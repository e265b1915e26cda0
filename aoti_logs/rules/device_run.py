"""What a run shows about its launches: were they waited for, which kernel was announced last, which call reports."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.errors.device_fault import DeviceFault
    from aoti_logs.parse.events import Dump, ErrorText, LogEvents, PythonFrame
    from aoti_logs.sources.source import Span

_BLOCKING = ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL")
_GENERATED = re.compile(
    r"torchinductor_|/inductor_cache/|[/\\][a-z0-9]{2}[/\\]c[a-z2-7]{50,}\.py$|^<string>$"
)
_LOADS = re.compile(r"\b_init_handles\b|\bload_binary\(")
_AUTOTUNES = re.compile(r"\bautotune_to_one_config\b|\bbenchmark_all_configs\b|\bcoordinate_descent_tuning\b")
_BACKWARD = re.compile(
    r"\bCompiledFunctionBackward\b|\b_engine_run_backward\b|\.backward\(|\bbackward_pass\b"
)
_OWN = ("self", "super", "launcher", "fn", "kernel", "bin", "compiled_kernel")
_INDUCTOR_NAMES = re.compile(
    r"(?:triton_|cpp_fused|cuda_fused|cutlass_|extern_kernels\b|aoti_torch_|aten\b|at::|torch\b|cub\b|void |std::)"
)
_LONGEST = 4096  # characters of a launch's line


@dataclass(frozen=True)
class ReportedCall:
    """The launch at which Python was when an error was reported: it reports, it need not be the one that failed.

    `args` are its arguments without grid and stream, as written. `loading` when the kernel was only being loaded,
    `autotuning` when its configurations were being measured.
    """

    kernel: str
    args: tuple[str, ...]
    file: str
    line: int
    span: Span
    generated: bool
    loading: bool
    autotuning: bool
    backward: bool


def reported_call(errors: Iterable[ErrorText]) -> ReportedCall | None:
    """Return the innermost launch of the first of these errors whose traceback goes through one."""
    for error in errors:
        frames = error.python_frames
        text = "\n".join(f"{f.function} {f.code or ''}" for f in frames)
        for frame in reversed(frames):
            found = _launch(frame)
            if found is None:
                continue
            name, args = found
            return ReportedCall(
                name,
                args,
                frame.file,
                frame.line,
                frame.span,
                generated=_GENERATED.search(frame.file) is not None,
                autotuning=_AUTOTUNES.search(text) is not None,
                loading=_LOADS.search(text) is not None,
                backward=_BACKWARD.search(text) is not None or any(a.startswith("tangents_") for a in args),
            )
    return None


def _launch(frame: PythonFrame) -> tuple[str, tuple[str, ...]] | None:
    """Read `KERNEL.run(ARGS, grid=..., stream=...)` of generated code, or `KERNEL[GRID](ARGS)`."""
    code = (frame.code or "").strip()
    if len(code) > _LONGEST or not (".run(" in code or "](" in code):
        return None
    try:
        tree = ast.parse(code.removeprefix("return "), mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        if not isinstance(value, ast.Call):
            continue
        function = value.func
        own: tuple[str, ...] = ()
        if isinstance(function, ast.Attribute) and function.attr == "run":
            owner: ast.expr = function.value
            own = _OWN
        elif isinstance(function, ast.Subscript):
            owner = function.value
        else:
            continue
        name = owner.id if isinstance(owner, ast.Name) else None
        if name is None or name in own:
            continue
        return name, tuple(ast.unparse(a) for a in value.args)
    return None


@dataclass(frozen=True)
class Blocking:
    """Whether launches were waited for; `how` says from what that is known.

    `told` is False where only a hint of torch's is missing, which a person may have left out.
    """

    on: bool
    how: str
    told: bool = True


def launch_blocking(events: LogEvents, faults: Iterable[DeviceFault | None]) -> Blocking | None:
    """Return what the command line, else the hints of the errors tell; None where neither does."""
    for note in events.notes:
        if note.kind != "command":
            continue
        shown = dict(note.facts)
        for name in _BLOCKING:
            if name in shown:
                return Blocking(shown[name] not in {"", "0"}, f"{name}={shown[name]} in the command")
    for fault in faults:
        if fault is not None and fault.blocking is not None:
            how = "the hint about asynchronous errors is " + ("missing" if fault.blocking else "printed")
            return Blocking(fault.blocking, how, told=not fault.blocking)
    for note in events.notes:
        # Who writes variables in front of a command writes this one there, too; it may still be exported.
        if note.kind == "command" and len(note.facts) > 1:
            return Blocking(on=False, how="the command sets variables, and not CUDA_LAUNCH_BLOCKING")
    return None


@dataclass(frozen=True)
class Printed:
    """The last launches that the value printer announced before an error. `values` when it printed tensors.

    `started` began and nothing was printed after it; `finished` is the last one that something was printed after.
    """

    started: str | None
    finished: str | None
    values: bool
    span: Span

    @property
    def user_kernel(self) -> bool:
        """Whether the name of the one that began is none that Inductor gives."""
        return self.started is not None and _INDUCTOR_NAMES.match(self.started) is None


def printed_of(dumps: Iterable[Dump], rank: int | None) -> list[Dump]:
    """Return what the process of a rank printed; nothing where lines of several ranks leave open which is meant."""
    told = list(dumps)
    if rank is None:
        return told if len({d.rank for d in told}) < 2 else []
    return [d for d in told if d.rank == rank]


def last_printed(events: LogEvents, before: int, rank: int | None = None) -> Printed | None:
    """Return the last launches that a rank announced above an offset of the log."""
    started: str | None = None
    finished: str | None = None
    values = False
    last: Span | None = None
    for dump in printed_of(events.dumps, rank):
        if dump.span.start >= before or not dump.kernel:
            continue
        values = values or dump.format.startswith("cpp_v")
        if dump.phase == "before_launch":
            started, last = dump.kernel, dump.span
        elif dump.phase == "after_launch":
            finished, last = dump.kernel, dump.span
            started = None if started == dump.kernel else started
    return None if last is None else Printed(started, finished, values, last)


def uses_aoti(events: LogEvents) -> bool:
    """Tell whether compiled code ran through AOTInductor: its switches are settled when it compiles."""
    return any(
        "run_func_" in e.message or "AOTInductor" in e.message or e.form == "aoti_error"
        for e in events.errors
    ) or any("AOTInductorModel" in (f.symbol or "") for s in events.stacks for f in s.frames)


def inputs_checked(events: LogEvents) -> bool:
    """Tell whether the command shows that an AOTInductor model compares its inputs with what it was compiled for."""
    shown = (dict(n.facts).get("AOTI_RUNTIME_CHECK_INPUTS") for n in events.notes if n.kind == "command")
    return any(value is not None and not value.startswith("0") for value in shown)

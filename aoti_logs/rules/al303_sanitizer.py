"""compute-sanitizer saw a kernel do what it must not.

## What it says
The report names the kernel, its line, the thread and block, and the address: that proves which kernel it is. The finding
adds what the distance to the nearest allocation tells, and how many reports there are.

## Why it matters
It is the only tool that names the kernel without guessing. A run ends with a CUDA error some time later, which is a
consequence. With several hundred reports only the first hundred are printed.

## Example
`Invalid __global__ write of size 4 bytes at runaway_copy_kernel+0x2c0 in kernel.py:22 by thread (96,0,0) in block
(100,0,0)`, 476,170,753 bytes after an allocation of 512 bytes.

## Evidence it needs
The report. The generated source of that name adds the line of code; for a Triton kernel of the user's own and a literal
stride it also tells which product does not fit int32 in the block of the report. With the caching allocator on, a report covers
whole segments of 2 MB and more: reads past a tensor into its neighbour are not seen.

A report that an address is out of bounds *and inside the nearest allocation* is true where the access is so wide that it ends
beyond the allocation. Where that is a multiple of 2 MiB it may be one of the pieces in which an expandable segment is mapped: seen as a false alarm with `expandable_segments:True`, where the allocator maps memory in a way that the tool does not follow.

## What to do
Look at the offset that the thread computes at that line: a missing mask, a size that the kernel was not compiled for, or
an int32 product that overflows (an address gigabytes *before* an allocation). Repeat with
`PYTORCH_NO_CUDA_MEMORY_CACHING=1` and without `expandable_segments` before believing that there is nothing.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Finding, Link, Verdict
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.errors.sanitizer import SanitizerReport
from aoti_logs.rules.device_suspects import products
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.events import ErrorText, LogEvents, Note
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.log_notes import LogCase

_FAR = 1 << 30  # bytes before an allocation from which an overflow is likelier than a small mistake
_NULL = 1 << 12
_PIECE = 1 << 21  # bytes: c10/cuda/CUDACachingAllocator.cpp maps expandable segments in multiples of 2 MiB
_NEAR = 1 << 16  # bytes behind an allocation that are just beyond its end
_WHAT = {
    "uninitialized": "uninitialized memory is read",
    "leak": "memory was not freed",
    "api": "a call of the CUDA API failed",
}
_TOOL = "compute_sanitizer"
_MOST = 10
_MACHINERY = frozenset(
    [
        "<string>",
        "driver.py",
        "jit.py",
        "autotuner.py",
        "triton_heuristics.py",
        "benchmarking.py",
        "utils.py",
        "output_code.py",
        "runtime_wrappers.py",
        "aot_autograd.py",
        "eval_frame.py",
        "module.py",
        "functional.py",
        "codecache.py",
        "compile_fx.py",
        "cudagraph_trees.py",
        "_package.py",
        "convert_frame.py",
        "graph.py",
        "function.py",
    ]
)
"""Files of torch and triton between a program and its kernel: the tool prints names without folders."""


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the first report of the sanitizer shows."""
    reports = [(e, e.detail) for e in case.group if isinstance(e.detail, SanitizerReport)]
    report = case.error.detail
    if not isinstance(report, SanitizerReport):
        return None
    doubtful = report.relation == "inside" and report.reason == "out of bounds" and not _overruns(report)
    memory = report.what == "access"
    facts = _facts(case, report, [r for _, r in reports])
    if memory:
        facts["suspect_false_positive"] = doubtful
    if memory and report.kernel and not doubtful:
        facts["suspect_kernel"] = _name(_outermost(report) or report.kernel)
    return ErrorTold(
        "AL303",
        _kind(report, case.group),
        f"{_title(report)}; it may be a false alarm" if doubtful else _title(report),
        Confidence.POSSIBLE if doubtful else Confidence.PROVEN,
        because=(*_because(report), *_wraps(case, report)),
        links=tuple(_links(case, report)),
        facts=facts,
        decide=("unset expandable_segments and run compute-sanitizer again",) if doubtful else (),
        notes=tuple(_notes(case.error, report, reports)),
        experiments=_experiments(case, doubtful=doubtful),
        doubt="the address is inside the nearest allocation: known as a false alarm with expandable_segments"
        if doubtful
        else None,
    )


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield what the tool says of itself: that it could not check the program, that it left a kernel out."""
    told: dict[str, Note] = {}
    for note in case.events.notes:
        facts = dict(note.facts)
        if note.kind == "sanitizer" and "tool" not in facts:
            told.setdefault(facts["text"], note)
    for text, note in list(told.items())[:_MOST]:
        title = f"compute-sanitizer says of itself: {text}"
        yield Finding(
            rule="AL303",
            kind=_TOOL,
            role="note",
            severity="note",
            confidence=Confidence.PROVEN,
            title=title,
            facts={"text": text},
            log=case.source.name,
            rank=case.source.rank,
            chain=(Link("sanitizer", text, note.span.place),),
            verdicts=(
                Verdict("AL303", title, Confidence.PROVEN, ("what it did not check, it cannot report",)),
            ),
        )


def _kind(report: SanitizerReport, group: Sequence[ErrorText]) -> str:
    """Return the failure where the process died of it, else that the tool complained."""
    names = {f.error.name for e in group if (f := device_fault(e.text or e.message)) and f.error}
    if report.what != "access" or not names:
        return _TOOL
    if report.reason and "misaligned" in report.reason:
        return "cuda_misaligned_address"
    return "cuda_illegal_memory_access" if report.space == "global" else _TOOL


def _name(kernel: str) -> str:
    """Return a kernel's name without its parameters."""
    return kernel.split("(", 1)[0] if "<" not in kernel else kernel


def _outermost(report: SanitizerReport) -> str | None:
    """Return the kernel that called the function of the access, where the device's call stack is printed."""
    return report.device_frames[-1].symbol if report.device_frames else None


def _title(report: SanitizerReport) -> str:
    kernel = f"`{report.kernel}`" if report.kernel else "a kernel"
    where = f" at {report.file}:{report.line}" if report.file else ""
    if report.what == "access":
        verb = {"read": "reads", "write": "writes", "atomic": "updates"}.get(report.access or "", "uses")
        what = f"{report.size:,} bytes" if report.size is not None else "memory"
        reason = f", {report.reason}" if report.reason else ""
        return f"{kernel} {verb} {what} of {report.space} memory at {report.address}{where}{reason}"
    if report.what == "uninitialized":
        return f"{kernel} reads {report.space} memory that nothing has written{where}"
    if report.what == "race":
        other = next((f" and line {r.line}" for r in report.races if r.line), "")
        return f"{kernel} has a race{where}{other}: threads use shared memory that others write, without a barrier between"
    if report.what in _WHAT:
        return report.text
    return f"{report.text}{f': {kernel}{where}' if report.kernel else ''}"


def _facts(case: ErrorCase, report: SanitizerReport, reports: list[SanitizerReport]) -> dict[str, Any]:
    own = asdict(report)
    for key in ("what", "host_frames", "device_frames", "races", "further"):
        del own[key]
    own["thread"] = list(report.thread) if report.thread else None
    own["block"] = list(report.block) if report.block else None
    facts: dict[str, Any] = {
        "error": own,
        "sanitizer_check": report.what,
        "n_errors": _counted(case.events, "ERROR") or len(reports),
        "n_host_frames": len(report.host_frames),
        "host_symbols": [f.symbol for f in report.host_frames],
        "n_device_frames": len(report.device_frames),
        "null_address": _is_null(report),
    }
    if report.further:
        facts["further"] = list(report.further)
    python = [f"{f.file}:{f.line} in {f.symbol}" for f in report.host_frames if f.file]
    if python:
        facts["python_frames"] = python
    return facts


def _counted(events: LogEvents, tool: str) -> int | None:
    """Return the number of a summary line of the tool."""
    for note in events.notes:
        facts = dict(note.facts)
        if note.kind == "sanitizer" and facts.get("tool") == tool and "not printed" not in facts["text"]:
            return int(facts["count"][:18] or 0)
    return None


def _is_null(report: SanitizerReport) -> bool:
    return (
        report.what == "access"
        and report.space == "global"
        and report.address is not None
        and int(report.address[:18], 16) < _NULL
    )


def _beyond(report: SanitizerReport) -> int | None:
    """Return how many bytes of an access that begins inside an allocation are behind its end; None where none is."""
    if report.address is None or report.allocation is None or not report.size or not report.allocation_size:
        return None
    begin, base = int(report.address[:18], 16), int(report.allocation[:18], 16)
    beyond = begin + report.size - (base + report.allocation_size)
    return beyond if base <= begin and 0 < beyond < report.size else None


def _overruns(report: SanitizerReport) -> bool:
    """Tell whether an access ends behind an allocation that is no piece of an expandable segment, by its size."""
    size = report.allocation_size
    return _beyond(report) is not None and size is not None and size % _PIECE != 0


def _because(report: SanitizerReport) -> Iterator[str]:
    if report.what != "access":
        return
    if _is_null(report):
        yield "the address is null, or an offset from null: a pointer was not set"
    elif report.relation == "inside" and (beyond := _beyond(report)) is not None:
        yield f"the access begins inside the nearest allocation and ends {beyond:,} bytes beyond its end" + (
            ""
            if _overruns(report)
            else ": a real error, or one piece of memory that expandable_segments mapped in several, which the tool takes for "
            "an allocation each"
        )
    elif report.relation == "inside" and report.reason == "out of bounds":
        yield (
            "the address is inside the nearest allocation, which is no place out of bounds; this false alarm is known with "
            "expandable_segments"
        )
    elif report.relation == "before" and (report.distance or 0) >= _FAR:
        yield (
            f"the address is {report.distance:,} bytes before the nearest allocation: a negative offset, as from an "
            "int32 product that overflows, or a pointer of something else"
        )
    elif report.relation == "after" and report.allocation_size:
        yield (
            f"the address is {report.distance or 0:,} bytes after an allocation of {report.allocation_size:,} bytes"
            + (
                ""
                if (report.distance or 0) > min(report.allocation_size, _NEAR)
                else ": an index or a size just beyond its end"
            )
        )
    if report.reason and "misaligned" in report.reason and report.size:
        yield f"an access of {report.size} bytes needs an address that is a multiple of {report.size}"


def _wraps(case: ErrorCase, report: SanitizerReport) -> Iterator[str]:
    """Say which int32 product of the kernel does not fit in the block of the report."""
    name = _name(_outermost(report) or report.kernel or "")
    if report.what != "access" or report.block is None or not name:
        return
    own = [p for p in products(case.evidence) if name in {p.function, p.kernel}]
    for found in own:
        program = report.block[found.product.axis] if found.product.axis < len(report.block) else None
        wrapped = found.wrapped(program) if program is not None else None
        if wrapped is None or program is None or found.value is None:
            continue
        others = {p.value for p in own if p.place == found.place and p.product == found.product} - {
            found.value
        }
        where = (
            f"possible: in the launch with {found.product.param} = {found.value:,} (others have another), "
            if others
            else ""
        )
        yield (
            f"{where}`{found.product.text}` ({found.where}) is {program:,} * {found.value:,} = {program * found.value:,} in this "
            f"block, which int32 does not hold: it wraps to {wrapped:,}"
        )


def _links(case: ErrorCase, report: SanitizerReport) -> Iterator[Link]:
    place = case.error.span.place
    who = []
    if report.thread and report.block:
        who.append(f"by thread {report.thread} in block {report.block}")
    if report.allocation:
        how = (
            f"{report.distance:,} bytes {report.relation}" if report.distance is not None else report.relation
        )
        size = f"{report.allocation_size:,}" if report.allocation_size is not None else "unknown"
        who.append(f"{how} the nearest allocation, of {size} bytes")
    if report.kernel:
        where = f" in {report.file}:{report.line}" if report.file else ""
        yield Link("kernel", f"{report.kernel}{where}", place, details=tuple(who))
    for frame in report.device_frames:
        where = f" in {frame.file}:{frame.line}" if frame.file else ""
        yield Link("called by", f"{frame.symbol}{where}", place)
    for race in report.races:
        yield Link("other access", f"{race.symbol} in {race.file}:{race.line}", place)
    for frame in report.host_frames:
        if frame.file and frame.file not in _MACHINERY:
            yield Link("python", f"{frame.file}:{frame.line} in {frame.symbol}", place)
    if report.file and report.line:
        for code, _ in case.evidence.base.named(report.file)[:1]:
            text = _line(bytes(code.source.data), report.line)
            if text:
                yield Link("code", text, code.source.place(report.line))


def _line(data: bytes, number: int) -> str:
    lines = data.split(b"\n", number)
    return lines[number - 1].decode("utf-8", "replace").strip() if len(lines) >= number else ""


def _notes(
    error: ErrorText, report: SanitizerReport, reports: Sequence[tuple[ErrorText, SanitizerReport]]
) -> Iterator[str]:
    kernels = {r.kernel for e, r in reports if e is not error and r.kernel and r.kernel != report.kernel}
    if kernels:
        names = ", ".join(f"`{k}`" for k in sorted(kernels)[:3])
        more = f" and {len(kernels) - 3} more" if len(kernels) > 3 else ""
        yield f"later reports name {names}{more}, too: what was overwritten before may be their cause"
    if report.pc and not report.file:
        yield "the kernel has no line numbers: compile with -lineinfo (Triton does unless TRITON_DISABLE_LINE_INFO=1)"


def _experiments(case: ErrorCase, *, doubtful: bool) -> tuple[Experiment, ...]:
    if not doubtful:
        return ()
    return (
        Experiment(
            case.command,
            (
                ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:False"),
                ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),
            ),
            "run",
            "a real error is reported again, a false alarm is not",
            "the caching allocator reads both when the process starts",
        ),
    )


RULE = Rule("AL303", "sanitizer", __doc__ or "")

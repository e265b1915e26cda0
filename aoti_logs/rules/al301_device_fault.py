"""A kernel faulted on the device, and a later call reported it.

## What it says
The runtime of the device returned an error that only a running kernel can cause: an illegal memory access, a misaligned
address, an illegal instruction, an unspecified launch failure. The finding says which call *reported* it. It names a
kernel as the one that failed only where the log shows that: launches were waited for (`CUDA_LAUNCH_BLOCKING=1`), or
AOTInductor's value printer announced it and printed nothing after it.

## Why it matters
Launches are asynchronous. The host goes on while the kernel runs, so the error surfaces at some later call: a copy, a
`torch.randn`, the loading of the next kernel, a destructor, the watchdog of a process group. The kernel in the traceback
is where the host was, not what failed. These errors are sticky: every later call of the process into the device returns
the same error, so only the first one counts, and the process has to be started again.

## Example
`RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered` with
`triton_poi_fused__to_copy_0.run(tangents_1, buf0, ...)` in the traceback: that launch reports it.

## Evidence it needs
The error text. With the command line or the hints below the error it knows whether launches were waited for; with output
of the value printer it knows the last launch that began. What the driver says while it writes a core dump of the device
(`coredump: Detected an exception ...`), and what cuda-gdb shows, proves the kernel, as compute-sanitizer does (AL303).

Of a model of AOTInductor it lists what ends so, each as possible: inputs that do not fit (excluded where they were printed
or compared), weights that nobody loaded, kernels of the user's own, in which Inductor tests no index, with products that
int32 does not hold (`program_id * stride`), and custom operators, whose fake function has to compute sizes with SymInts.
Where the value printer shows what the last kernel was given, an abnormal tensor is followed back to the launch that wrote it
and to the first NaN; where all is sound, the kernel itself is suspect.

On recent GPUs a wild access is often reported as `operation not supported on global/shared address space`
(cudaErrorInvalidAddressSpace): the address points into a window that is not global memory.

## What to do
Run with `CUDA_LAUNCH_BLOCKING=1` first (`AMD_SERIALIZE_KERNEL=3` on ROCm). If that does not point at a kernel, let
AOTInductor print the names of launches, then run compute-sanitizer with `PYTORCH_NO_CUDA_MEMORY_CACHING=1`. A misaligned
address is often a tensor that is no multiple of 16 bytes away from its allocation (`x[1:]`), given to code that was
compiled for an aligned one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.code.index.case import prints_launches
from aoti_logs.commands import COMPILES
from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.errors.device_errors import device_errors
from aoti_logs.parse.errors.device_exception import DeviceException
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.events import ErrorForm, LogLine
from aoti_logs.rules.device_experiments import (
    dump_core,
    keep_names,
    print_names,
    sanitize,
    wait_for_launches,
    waiting,
)
from aoti_logs.rules.device_kinds import KINDS, NAMES
from aoti_logs.rules.device_run import last_printed, launch_blocking, reported_call, uses_aoti
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.given_inputs import given_inputs
from aoti_logs.rules.input_experiments import check_inputs, in_words
from aoti_logs.rules.launch_values import LaunchValues, launch_values
from aoti_logs.rules.model_death import compared
from aoti_logs.rules.model_suspicions import suspicions
from aoti_logs.rules.model_weights import full_update, model_weights
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Experiment
    from aoti_logs.parse.errors.device_errors import DeviceError
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.device_run import Blocking, Printed, ReportedCall
    from aoti_logs.rules.error_case import ErrorCase

_HARDWARE = "cuda_hardware_error"
_MOST = 64
"""So many wrappers are looked into."""
_CONTEXTS = {"cuda": "the CUDA context"}


@dataclass(frozen=True)
class _Run:
    """What is known of the run of an error: each part is None where the log does not show it."""

    error: DeviceError
    backend: str
    blocking: Blocking | None
    call: ReportedCall | None
    printed: Printed | None
    exception: ErrorText | None
    """What the driver or cuda-gdb says of the kernel; its detail is a `DeviceException`."""

    @property
    def waited(self) -> bool:
        """Whether launches are known to have been waited for."""
        return self.blocking is not None and self.blocking.on


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say that a kernel faulted, who reports it, and which kernel it was where the log shows that."""
    run = _run(case)
    if run is None:
        return None
    kind, what = KINDS[run.error.name]
    facts = _facts(case, run)
    title = f"{what} on {NAMES[run.backend]}"
    if kind == _HARDWARE:
        return _hardware(kind, title, facts, known=run.error.name != "cudaErrorContained")
    suspect, sureness = _suspect(run)
    if suspect is not None:
        facts["suspect_kernel"] = suspect
        possible = sureness is Confidence.POSSIBLE
        title += f"; `{suspect}` may have made it" if possible else f", in `{suspect}`"
    else:
        title += "; which kernel made it is not known"
    why, links = _possible(case, run, suspect, sureness)
    return ErrorTold(
        "AL301",
        kind,
        title,
        sureness,
        because=(*_because(case.error, run), *why),
        links=(*_links(run), *links),
        facts=facts,
        decide=() if sureness is Confidence.PROVEN else _decide(case, run),
        notes=_notes(kind, case.error, run),
        missing=() if suspect else _missing(run),
        experiments=_experiments(case, run, sureness),
        doubt=_doubt(run) if suspect and sureness is not Confidence.PROVEN else None,
        only_reported=not run.waited,
    )


def _run(case: ErrorCase) -> _Run | None:
    error, group = case.error, case.group
    fault = device_fault(error.text or error.message)
    exception = next((e for e in (error, *group) if isinstance(e.detail, DeviceException)), None)
    known = fault.error if fault is not None else None
    if known is None and error is exception and isinstance(exception.detail, DeviceException):
        known = device_errors().get(exception.detail.error or "")
    if known is None or known.name not in KINDS:
        return None
    if exception is not None and not _same(exception, known.name):
        exception = None
    faults = (device_fault(e.text or e.message) for e in (error, *group))
    return _Run(
        known,
        fault.backend if fault is not None else "cuda",
        launch_blocking(case.events, faults),
        reported_call((error, *(e for e in group if e is not error))),
        last_printed(case.events, error.span.start, error.rank),
        exception,
    )


def _same(exception: ErrorText, name: str) -> bool:
    """Tell whether an exception on the device is what the runtime reports: another process may have its own."""
    detail = exception.detail
    known = detail.error if isinstance(detail, DeviceException) else None
    return known is None or name in {known, "cudaErrorLaunchFailure"}


def _facts(case: ErrorCase, run: _Run) -> dict[str, Any]:
    error = case.error
    facts: dict[str, Any] = {
        "cuda_error": run.error.text,
        "backend": run.backend,
        "asynchronous": not run.waited,
        "sticky": run.error.sticky,
        "n_lines": error.span.source.data[error.span.start : error.span.end].count(b"\n"),
    }
    if run.blocking is not None:
        facts["launch_blocking"] = run.blocking.on
    if isinstance(error.detail, LogLine):
        facts["phase"] = "autotuning"
        facts["compile_id"] = error.detail.compile_id
        facts["log_level"] = error.detail.level[:1]
    if run.call is not None:
        call = run.call
        facts["reported_kernel"] = call.kernel
        facts["kernel_args"] = list(call.args)
        facts["call_site"] = {"file": call.file, "line": call.line}
        facts["backward"] = call.backward
        if call.loading:
            facts["raised_while"] = "load_binary"
            facts["previous_kernel_suspected"] = True
        if call.autotuning:
            facts["phase"] = "autotuning"
    if run.printed is not None:
        facts["last_started_kernel"] = run.printed.started
        facts["last_finished_kernel"] = run.printed.finished
        if run.printed.user_kernel:
            facts["user_kernel"] = True
    if run.exception is not None:
        facts["device_exception"] = asdict(run.exception.detail)  # type: ignore[call-overload]  # a DeviceException
    return facts


def _suspect(run: _Run) -> tuple[str | None, Confidence]:
    """Return the kernel that the log points at, and how surely; nothing is said of a launch that only reports."""
    found = run.exception.detail if run.exception is not None else None
    if isinstance(found, DeviceException) and found.kernel:
        return (found.frames or (found.kernel,))[-1], Confidence.PROVEN
    if run.printed is not None and run.printed.started is not None:
        # A printed tensor was copied from the device, so what was launched before it had ended well.
        sure = run.waited or run.printed.values
        return run.printed.started, Confidence.LIKELY if sure else Confidence.POSSIBLE
    if run.waited and run.call is not None and not run.call.loading:
        return run.call.kernel, Confidence.LIKELY
    return None, Confidence.UNKNOWN


def _because(error: ErrorText, run: _Run) -> tuple[str, ...]:
    found = []
    call, blocking = run.call, run.blocking
    if (
        run.exception is not None
        and isinstance(run.exception.detail, DeviceException)
        and run.exception.detail.kernel
    ):
        found.append("the state of the device names the kernel in which the exception was raised")
    if call is not None and call.loading:
        found.append(
            f"`{call.kernel}` was only being loaded when the error was reported: an earlier kernel made it"
        )
    elif call is not None and not run.waited:
        found.append(
            f"`{call.kernel}` is the launch at which it was reported; an earlier kernel may have made it"
        )
    if blocking is None:
        if run.exception is None:
            found.append(
                "the log does not show whether launches were waited for, so the call that reports it need not have "
                "made it"
            )
    elif blocking.on:
        sure = "" if blocking.told else "most likely "
        found.append(f"launches were {sure}waited for: {blocking.how}")
    else:
        found.append(f"launches were not waited for as far as the log shows: {blocking.how}")
    if run.printed is not None and run.printed.started is not None:
        found.append(f"`{run.printed.started}` is the last launch that was announced and not finished")
    if error.form is ErrorForm.LOGGED:
        found.append(
            "autotuning tried a kernel and passed over its failure; torch goes on, but the device does not"
        )
    if run.error.sticky:
        found.append(
            f"the error is sticky: {_CONTEXTS.get(run.backend, 'the device')} is lost, and every later call of this process "
            "fails with it"
        )
    return tuple(found)


def _possible(
    case: ErrorCase, run: _Run, suspect: str | None, sureness: Confidence
) -> tuple[tuple[str, ...], tuple[Link, ...]]:
    """Return what ends so in a model of AOTInductor, and what of it is excluded; for a kernel that began last, what it was given."""
    started = run.printed.started if run.printed is not None else None
    values = LaunchValues()
    if started is not None:
        values = launch_values(case.events, case.evidence, started, case.error.span.start, case.error.rank)
    aoti = uses_aoti(case.events)
    if sureness in {Confidence.PROVEN, Confidence.LIKELY} or not aoti:
        null = model_weights(case.evidence).read_by(suspect) if aoti and suspect is not None else None
        return (*values.because, *((null,) if null is not None else ())), values.links
    found = suspicions(case, aoti=True)
    return (*values.because, *found.because), (*values.links, *found.links)


def _links(run: _Run) -> list[Link]:
    found = []
    if run.call is not None:
        call = run.call
        step = "launch" if run.waited and not call.loading else "reported by"
        said = (("it was being loaded, not run", call.loading), ("it was being autotuned", call.autotuning))
        detail = tuple(text for text, true in said if true)
        text = f"{call.kernel}({', '.join(call.args)})"
        found.append(Link(step, text, call.span.place, details=detail))
    if run.printed is not None and run.printed.started is not None:
        before = (f"finished before it: {run.printed.finished}",) if run.printed.finished else ()
        found.append(Link("last started", run.printed.started, run.printed.span.place, details=before))
    if run.exception is not None and isinstance(run.exception.detail, DeviceException):
        seen = run.exception.detail
        where = f" at {seen.file}:{seen.line}" if seen.file else ""
        text = f"{seen.name}{f' in {seen.kernel}' if seen.kernel else ''}{where}"
        found.append(Link("device", text, run.exception.span.place))
    return found


def _decide(case: ErrorCase, run: _Run) -> tuple[str, ...]:
    weights = uses_aoti(case.events) and model_weights(case.evidence).absent
    first = (
        *(
            ("load the weights with check_full_update=True: one that is left out is then refused",)
            if weights
            else ()
        ),
        *in_words(_input_checks(case)),
    )
    sanitizer = run.backend == "cuda"
    if run.waited:
        return (
            *first,
            *(("run under compute-sanitizer: it names kernel, line and thread",) if sanitizer else ()),
        )
    return (
        *first,
        f"run again with {waiting(run.backend)}",
        *(("or under compute-sanitizer",) if sanitizer else ()),
    )


def _input_checks(case: ErrorCase) -> tuple[Experiment, ...]:
    """Return how to have the inputs compared, where they were not, and no printed values settle it."""
    if not uses_aoti(case.events) or compared(case.evidence, case.events):
        return ()
    if given_inputs(case.events, case.evidence, case.error.span.start, case.error.rank).settled:
        return ()
    return check_inputs(case.command, case.evidence)


def _missing(run: _Run) -> tuple[Missing, ...]:
    names = "the names that AOTInductor's printer prints"
    if run.waited:
        how = f"compute-sanitizer with PYTORCH_NO_CUDA_MEMORY_CACHING=1, or {names}"
        how = how if run.backend == "cuda" else names
    else:
        how = f"the same run with {waiting(run.backend)}"
    return (Missing("the kernel that faulted", how),)


def _notes(kind: str, error: ErrorText, run: _Run) -> tuple[str, ...]:
    notes = []
    if kind == "cuda_misaligned_address":
        notes.append(
            "Inductor's kernels read up to 16 bytes at once from tensors that were 16-byte aligned when they were compiled; "
            "a view such as `x[1:]` is not"
        )
    if run.call is not None and run.call.backward:
        notes.append("it was reported in the backward")
    if error.form is ErrorForm.LOGGED:
        notes.append(
            "with TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC=1 choices are tried in another process, which may lose its context"
        )
    return tuple(notes)


def _doubt(run: _Run) -> str | None:
    if run.printed is not None and run.printed.started is not None:
        doubt = "names that were still in a buffer when the process ended are not in the log"
        if run.printed.values or run.waited:
            return doubt
        return f"launches were not waited for, so an earlier kernel may be it; {doubt}"
    return "kernels that other threads or libraries launched may be it"


def _experiments(case: ErrorCase, run: _Run, sureness: Confidence) -> tuple[Experiment, ...]:
    command = case.command
    found: list[Experiment] = []
    aoti = uses_aoti(case.events)
    if aoti and sureness is not Confidence.PROVEN and model_weights(case.evidence).absent:
        found.append(full_update(command))
    if sureness is not Confidence.PROVEN:
        # The cheapest question: a kernel without a fault reads what it is given, on whatever device that is.
        found += _input_checks(case)
    if not run.waited and sureness is not Confidence.PROVEN:
        found.append(wait_for_launches(command, run.backend))
    if run.backend != "cuda":
        return tuple(found)
    if sureness is Confidence.PROVEN:
        return (sanitize(command),)
    if aoti and not case.events.dumps:
        if any(prints_launches(c.source) for c in case.evidence.base.wrappers[:_MOST]):
            found.append(keep_names(command))
        elif not case.evidence.releases.before((2, 6)):
            found.append(print_names(f"{COMPILES} && {command}"))
    return (*found, sanitize(command), dump_core(command))


def _hardware(kind: str, title: str, facts: dict[str, Any], *, known: bool) -> ErrorTold:
    return ErrorTold(
        "AL301",
        kind,
        title,
        Confidence.PROVEN,
        because=("the hardware reports this error, no kernel asks for it",) if known else (),
        facts=facts,
        missing=(Missing("what the driver logged", "`dmesg | grep -i xid` on the machine, as root"),),
    )


RULE = Rule("AL301", "device-fault", __doc__ or "")

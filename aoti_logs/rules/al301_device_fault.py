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
of the value printer it knows the last launch that began. A report of compute-sanitizer (AL303) proves the kernel.

On recent GPUs a wild access is often reported as `operation not supported on global/shared address space`
(cudaErrorInvalidAddressSpace): the address points into a window that is not global memory.

## What to do
Run with `CUDA_LAUNCH_BLOCKING=1` first (`AMD_SERIALIZE_KERNEL=3` on ROCm). If that does not point at a kernel, let
AOTInductor print the names of launches, then run compute-sanitizer with `PYTORCH_NO_CUDA_MEMORY_CACHING=1`. A misaligned
address is often a tensor that is no multiple of 16 bytes away from its allocation (`x[1:]`), given to code that was
compiled for an aligned one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.device_fault import device_fault
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.device_experiments import dump_core, print_names, sanitize, wait_for_launches
from aoti_logs.rules.device_run import last_printed, launch_blocking, reported_call, uses_aoti
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Experiment
    from aoti_logs.parse.device_fault import DeviceFault
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.device_run import Blocking, Printed, ReportedCall
    from aoti_logs.rules.error_case import ErrorCase

_KINDS = {
    "cudaErrorIllegalAddress": ("cuda_illegal_memory_access", "an illegal memory access"),
    "cudaErrorInvalidAddressSpace": (
        "cuda_illegal_memory_access",
        "an illegal memory access (an address outside of global memory)",
    ),
    "cudaErrorMisalignedAddress": ("cuda_misaligned_address", "an access to a misaligned address"),
    "cudaErrorLaunchFailure": ("cuda_launch_failure", "a launch that failed for an unspecified reason"),
    "cudaErrorIllegalInstruction": ("cuda_illegal_instruction", "an illegal instruction"),
    "cudaErrorInvalidPc": ("cuda_invalid_program_counter", "a jump to an invalid program counter"),
    "cudaErrorHardwareStackError": (
        "cuda_hardware_stack_error",
        "a corrupted or exhausted call stack on the device",
    ),
    "cudaErrorLaunchTimeout": ("cuda_launch_timeout", "a kernel that ran longer than the driver allows"),
    "cudaErrorTensorMemoryLeak": ("cuda_tensor_memory_leak", "tensor memory that a kernel did not free"),
    "cudaErrorECCUncorrectable": ("cuda_hardware_error", "an uncorrectable memory error of the hardware"),
    "cudaErrorNvlinkUncorrectable": ("cuda_hardware_error", "an uncorrectable error of NVLink"),
    "cudaErrorContained": ("cuda_hardware_error", "a contained error of the hardware or of a peer's memory"),
}
_HARDWARE = "cuda_hardware_error"
_NAMES = {"cuda": "the GPU", "rocm": "the AMD GPU", "xpu": "the XPU"}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say that a kernel faulted, who reports it, and which kernel it was where the log shows that."""
    fault = device_fault(case.error.text or case.error.message)
    if fault is None or fault.error is None or fault.error.name not in _KINDS:
        return None
    kind, what = _KINDS[fault.error.name]
    blocking = launch_blocking(
        case.events, (device_fault(e.text or e.message) for e in (case.error, *case.group))
    )
    call = reported_call((case.error, *(e for e in case.group if e is not case.error)))
    printed = last_printed(case.events, case.error.span.start)
    facts = _facts(case, fault, blocking, call, printed)
    title = f"{what} on {_NAMES[fault.backend]}"
    if kind == _HARDWARE:
        return _hardware(kind, title, facts)
    suspect, sureness = _suspect(blocking, call, printed)
    if suspect is not None:
        facts["suspect_kernel"] = suspect
        title += f", in `{suspect}`" if sureness is Confidence.LIKELY else f", perhaps in `{suspect}`"
    else:
        title += "; which kernel made it is not known"
    return ErrorTold(
        "AL301",
        kind,
        title,
        sureness,
        because=_because(case.error, fault, blocking, call, printed),
        links=tuple(_links(blocking, call, printed)),
        facts=facts,
        decide=_decide(blocking),
        notes=_notes(kind, call),
        missing=() if suspect else _missing(blocking),
        experiments=_experiments(case, fault, blocking),
        doubt=_doubt(blocking, printed) if suspect else None,
    )


def _facts(
    case: ErrorCase,
    fault: DeviceFault,
    blocking: Blocking | None,
    call: ReportedCall | None,
    printed: Printed | None,
) -> dict[str, Any]:
    error = case.error
    facts: dict[str, Any] = {
        "cuda_error": fault.error.text if fault.error else fault.text,
        "backend": fault.backend,
        "asynchronous": blocking is None or not blocking.on,
        "sticky": fault.error is not None and fault.error.sticky,
        "n_lines": error.span.source.data[error.span.start : error.span.end].count(b"\n"),
    }
    if blocking is not None:
        facts["launch_blocking"] = blocking.on
    if error.form is ErrorForm.LOGGED:
        facts["phase"] = "autotuning"
    if call is not None:
        facts["reported_kernel"] = call.kernel
        facts["kernel_args"] = list(call.args)
        facts["call_site"] = {"file": call.file, "line": call.line}
        facts["backward"] = call.backward
        if call.loading:
            facts["raised_while"] = "load_binary"
            facts["previous_kernel_suspected"] = True
    if printed is not None:
        facts["last_started_kernel"] = printed.started
        facts["last_finished_kernel"] = printed.finished
        if printed.user_kernel:
            facts["user_kernel"] = True
    return facts


def _suspect(
    blocking: Blocking | None, call: ReportedCall | None, printed: Printed | None
) -> tuple[str | None, Confidence]:
    """Return the kernel that the log points at, and how surely; nothing is said of a launch that only reports."""
    waited = blocking is not None and blocking.on
    if printed is not None and printed.started is not None:
        # A printed tensor was copied from the device, so what was launched before it had ended well.
        return printed.started, Confidence.LIKELY if waited or printed.values else Confidence.POSSIBLE
    if waited and call is not None and not call.loading:
        return call.kernel, Confidence.LIKELY
    return None, Confidence.UNKNOWN


def _because(
    error: ErrorText,
    fault: DeviceFault,
    blocking: Blocking | None,
    call: ReportedCall | None,
    printed: Printed | None,
) -> tuple[str, ...]:
    found = []
    if call is not None and call.loading:
        found.append(
            f"`{call.kernel}` was only being loaded when the error was reported: an earlier kernel made it"
        )
    elif call is not None and not (blocking is not None and blocking.on):
        found.append(
            f"`{call.kernel}` is the launch at which it was reported; an earlier kernel may have made it"
        )
    if blocking is None:
        found.append(
            "the log does not show whether launches were waited for, so the call that reports it need not have made it"
        )
    elif blocking.on:
        found.append(f"launches were waited for: {blocking.how}")
    else:
        found.append(f"launches were not waited for ({blocking.how}): an earlier kernel may have made it")
    if printed is not None and printed.started is not None:
        found.append(f"`{printed.started}` is the last launch that was announced and not finished")
    if error.form is ErrorForm.LOGGED:
        found.append("autotuning tried a kernel that faulted; torch goes on, but the device does not")
    if fault.error is not None and fault.error.sticky:
        found.append(
            "the error is sticky: the CUDA context is lost, and every later call of this process fails with it"
        )
    return tuple(found)


def _links(blocking: Blocking | None, call: ReportedCall | None, printed: Printed | None) -> list[Link]:
    found = []
    if call is not None:
        step = "launch" if blocking is not None and blocking.on and not call.loading else "reported by"
        detail = ("it was being loaded, not run",) if call.loading else ()
        text = f"{call.kernel}({', '.join(call.args)})"
        found.append(Link(step, text, call.span.place, details=detail))
    if printed is not None and printed.started is not None:
        detail = (f"finished before it: {printed.finished}",) if printed.finished else ()
        found.append(Link("last started", printed.started, printed.span.place, details=detail))
    return found


def _decide(blocking: Blocking | None) -> tuple[str, ...]:
    if blocking is not None and blocking.on:
        return ("run under compute-sanitizer: it names kernel, line and thread",)
    return ("run again with CUDA_LAUNCH_BLOCKING=1", "or under compute-sanitizer")


def _missing(blocking: Blocking | None) -> tuple[Missing, ...]:
    if blocking is not None and blocking.on:
        how = "compute-sanitizer with PYTORCH_NO_CUDA_MEMORY_CACHING=1, or the names that AOTInductor's printer prints"
    else:
        how = "the same run with CUDA_LAUNCH_BLOCKING=1"
    return (Missing("the kernel that faulted", how),)


def _notes(kind: str, call: ReportedCall | None) -> tuple[str, ...]:
    notes = []
    if kind == "cuda_misaligned_address":
        notes.append(
            "Inductor's kernels read up to 16 bytes at once from tensors that were 16-byte aligned when they were compiled; "
            "a view such as `x[1:]` is not"
        )
    if call is not None and call.backward:
        notes.append("it was reported in the backward")
    return tuple(notes)


def _doubt(blocking: Blocking | None, printed: Printed | None) -> str | None:
    if printed is not None and printed.started is not None:
        doubt = "names that were still in a buffer when the process ended are not in the log"
        if printed.values or (blocking is not None and blocking.on):
            return doubt
        return f"launches were not waited for, so an earlier kernel may be it; {doubt}"
    return "kernels that other threads or libraries launched may be it"


def _experiments(case: ErrorCase, fault: DeviceFault, blocking: Blocking | None) -> tuple[Experiment, ...]:
    command = case.command
    found = []
    if blocking is None or not blocking.on:
        found.append(wait_for_launches(command, fault.backend))
    if fault.backend != "cuda":
        return tuple(found)
    if uses_aoti(case.events) and not case.events.dumps:
        found.append(print_names(command))
    return (*found, sanitize(command), dump_core(command))


def _hardware(kind: str, title: str, facts: dict[str, Any]) -> ErrorTold:
    return ErrorTold(
        "AL301",
        kind,
        title,
        Confidence.PROVEN,
        because=("the hardware reports this error, no kernel asks for it",),
        facts=facts,
        missing=(Missing("what the driver logged", "`dmesg | grep -i xid` on the machine, as root"),),
    )


RULE = Rule("AL301", "device-fault", __doc__ or "")

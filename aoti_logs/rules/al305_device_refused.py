"""A call into a device's runtime was refused.

## What it says
The runtime or a library returned an error that says what the *call* lacked: an invalid argument or launch configuration, no
such device, a driver that is too old, a stream that is being captured. The device goes on, and later calls can succeed.
For a status of a library (`CUBLAS_STATUS_EXECUTION_FAILED`) it says that an earlier kernel may be behind it.

## Why it matters
Unlike the faults of AL301 these are mostly reported by the call that made them, so the traceback is right, unless a launch
was not checked (`cudaGetLastError`) and the next check found it. A library that could not
run its kernel is the exception: it reports what any earlier kernel has broken.

## Example
`CUDA error: invalid configuration argument`; ``CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling
`cublasCreate(handle)` ``: most often no memory was left for the library.

## Evidence it needs
The error text.

## What to do
Read the call that failed. For a library's status, run with `CUDA_LAUNCH_BLOCKING=1` to see whether an earlier kernel fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.rules.device_experiments import wait_for_launches, waiting
from aoti_logs.rules.device_run import launch_blocking
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.errors.device_fault import DeviceFault
    from aoti_logs.rules.error_case import ErrorCase

_WHY = {
    "cudaErrorInvalidValue": "an argument of the call is out of its range: a size, a pointer, a number of threads",
    "cudaErrorInvalidConfiguration": "a launch asked for more blocks, threads or shared memory than the device allows, or for none",
    "cudaErrorLaunchOutOfResources": "the kernel needs more registers or threads than one multiprocessor has",
    "cudaErrorInvalidDevice": "there are fewer GPUs than the program uses, or CUDA_VISIBLE_DEVICES hides some",
    "cudaErrorNoDevice": "the process sees no GPU: no driver, or CUDA_VISIBLE_DEVICES hides them",
    "cudaErrorInitializationError": "CUDA was first used in a process that was forked from one that had used it, or the driver is broken",
    "cudaErrorInsufficientDriver": "the driver is older than this CUDA runtime needs",
    "cudaErrorSystemNotReady": "the fabric manager of the machine is not running",
    "cudaErrorSystemDriverMismatch": "the versions of the kernel's driver and of libcuda differ",
    "cudaErrorDevicesUnavailable": "other processes use the GPU in exclusive mode, or it is broken",
    "cudaErrorInvalidResourceHandle": "a stream or event of another device or context was used",
    "cudaErrorStreamCaptureUnsupported": "an operation that a CUDA graph cannot hold was called while one was captured",
    "cudaErrorStreamCaptureInvalidated": "an earlier call failed while a CUDA graph was captured; that one is the cause",
    "cudaErrorStreamCaptureImplicit": "work on the default stream was started while a CUDA graph was captured",
    "cudaErrorPeerAccessUnsupported": "the two GPUs cannot reach each other's memory",
    "cudaErrorCudartUnloading": "the process was ending already, and this call came too late",
    "cudaErrorMpsConnectionFailed": "the MPS server of the machine is not running, or not for this user",
}
_REFUSED = (
    "a call was refused, and the device goes on; mostly the traceback is that of the call, unless an earlier one was "
    "not checked"
)
_MEMORY = ("NOT_INITIALIZED", "ALLOC_FAILED")
_RAN = ("EXECUTION_FAILED", "INTERNAL_ERROR", "DEVICE_LOST", "MAPPING_ERROR")
_IMAGES = {  # the rules on packages and loading say more about these
    "cudaErrorNoKernelImageForDevice", "cudaErrorInvalidKernelImage", "cudaErrorInvalidDeviceFunction",
    "cudaErrorFileNotFound", "cudaErrorInvalidPtx", "cudaErrorUnsupportedPtxVersion",
}  # fmt: skip


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the call lacked; nothing about faults of kernels, which AL301 knows."""
    fault = device_fault(case.error.text or case.error.message)
    if fault is None:
        return None
    if fault.error is None:
        return _status(case, fault) if fault.status is not None else None
    if fault.error.sticky or fault.error.name in _IMAGES:
        return None
    why = _WHY.get(fault.error.name)
    facts: dict[str, Any] = {
        "cuda_error": fault.error.text,
        "cuda_error_name": fault.error.name,
        "backend": fault.backend,
        "sticky": False,
    }
    return ErrorTold(
        "AL305",
        "cuda_error",
        f"{fault.api}: {fault.error.text}" + (f": {why}" if why else ""),
        Confidence.PROVEN if why is None else Confidence.LIKELY,
        because=() if fault.error.name == "cudaErrorCudartUnloading" else (_REFUSED,),
        facts=facts,
        doubt=None if why is None else "the runtime says what it refused, not why; this is the usual reason",
    )


def _status(case: ErrorCase, fault: DeviceFault) -> ErrorTold:
    status = fault.status or ""
    faults = (device_fault(e.text or e.message) for e in case.group)
    blocking = launch_blocking(case.events, faults)
    waited = blocking is not None and blocking.on
    because = []
    if any(word in status for word in _MEMORY):
        because.append(
            "a library's handle or workspace could not be made: most often no memory was left for it"
        )
    elif any(word in status for word in _RAN):
        because.append(
            "the library could not run its kernel: an earlier kernel that faulted looks the same from there"
        )
    facts: dict[str, Any] = {
        "status": status,
        "call": fault.call,
        "backend": fault.backend,
        "asynchronous": not waited,
    }
    if blocking is not None:
        facts["launch_blocking"] = blocking.on
    how = waiting(fault.backend)
    call = f" in {fault.call.partition('(')[0]}" if fault.call else ""
    return ErrorTold(
        "AL305",
        "device_library_error",
        f"{status}{call}; what it comes from is not known",
        Confidence.UNKNOWN,
        because=tuple(because),
        facts=facts,
        decide=() if waited or how is None else (f"run again with {how}",),
        experiments=()
        if waited or fault.backend == "xpu"
        else (wait_for_launches(case.command, fault.backend),),
    )


RULE = Rule("AL305", "device-refused", __doc__ or "")

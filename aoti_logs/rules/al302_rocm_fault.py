"""An AMD GPU aborted the process: a page fault, or a queue that was given up.

## What it says
The ROCm runtime prints `Memory access fault by GPU node-N ... on address A. Reason: R` or `Queue ... aborting with error :
HSA_STATUS_ERROR_...` and aborts the process. No Python exception is raised, and no kernel is named.

## Why it matters
The process ends with SIGABRT in a thread of the runtime. The stack of that thread, and the last line of the program's
own output, say nothing about the kernel. The runtime prints the page of the address, and null as `(nil)`.

## Evidence it needs
The runtime's line.

## What to do
Run with `AMD_SERIALIZE_KERNEL=3`: each kernel is waited for, so that the last launch is the one that faults.
`AMD_LOG_LEVEL=3` prints each launch with its name. A fault at a null address is often a kernel that was given a tensor
without storage, or code for another gfx architecture (`HSA_OVERRIDE_GFX_VERSION`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Missing
from aoti_logs.parse.errors.device_fault import memory_fault, queue_fault
from aoti_logs.rules.device_experiments import wait_for_launches
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.errors.device_fault import MemoryFault, QueueFault
    from aoti_logs.rules.error_case import ErrorCase

_HSA = {
    "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION": "a kernel used an address beyond the largest legal one",
    "HSA_STATUS_ERROR_MEMORY_FAULT": "a kernel used an address that is not mapped",
    "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION": "a kernel ran an instruction that the GPU does not know",
    "HSA_STATUS_ERROR_EXCEPTION": "a kernel trapped; a failed device assert does that, too",
    "HSA_STATUS_ERROR_OUT_OF_RESOURCES": "the runtime had no memory left for a queue or its scratch space",
    "HSA_STATUS_ERROR_INVALID_ISA": "a kernel was compiled for another gfx architecture",
}
"""What HSA's statuses mean, from hsa.h and hsa_ext_amd.h of ROCR."""


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the ROCm runtime printed before it aborted."""
    text = case.error.text or case.error.message
    fault, queue = memory_fault(text), queue_fault(text)
    if fault is None and queue is None:
        return None
    kind, title, own = _page_fault(fault) if fault is not None else _queue(queue)
    facts: dict[str, Any] = {"backend": "rocm", "asynchronous": True, **own}
    signals = [e.signal for e in case.events.errors if e.signal]
    if signals:
        facts["signal"] = signals[0]
    command = case.command
    return ErrorTold(
        "AL302",
        kind,
        f"{title}; which kernel made it is not known",
        Confidence.UNKNOWN,
        because=("kernels run asynchronously, and the runtime does not name the one that faulted",),
        facts=facts,
        decide=("run again with AMD_SERIALIZE_KERNEL=3",),
        missing=(Missing("the kernel that faulted", "the same run with AMD_SERIALIZE_KERNEL=3"),),
        experiments=(
            wait_for_launches(command, "rocm"),
            Experiment(
                command,
                (("AMD_LOG_LEVEL", "3"), ("AMD_SERIALIZE_KERNEL", "3")),
                "run",
                "the HIP runtime then prints the name of every kernel that it launches",
                "the HIP runtime reads it when the process starts",
                "it prints very much",
            ),
        ),
    )


def _page_fault(fault: MemoryFault) -> tuple[str, str, dict[str, Any]]:
    where = "the null address" if fault.null else f"address {fault.address}"
    title = (
        f"a memory access fault on AMD GPU node {fault.node} at {where}: {fault.reason or 'no reason given'}"
    )
    facts = {
        "node": fault.node,
        "agent_handle": fault.agent_handle,
        "address": fault.address,
        "reason": fault.reason,
        "null_address": fault.null,
    }
    return "rocm_memory_fault", title, facts


def _queue(queue: QueueFault | None) -> tuple[str, str, dict[str, Any]]:
    if queue is None:
        return "rocm_queue_error", "", {}
    what = _HSA.get(queue.status) or queue.text or queue.status
    kind = "rocm_memory_fault" if "MEMORY" in queue.status else "rocm_queue_error"
    facts = {"hsa_status": queue.status, "reason": queue.text, "code": queue.code}
    return kind, f"the AMD GPU gave up a queue: {what}", facts


RULE = Rule("AL302", "rocm-fault", __doc__ or "")

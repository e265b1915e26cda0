"""What an error says about a device: which runtime failed, with which error, and what its hints give away.

Format: `grammars/device_fault.lark`. The text of an error is taken apart when a rule asks, because most errors are of
other kinds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from aoti_logs.parse.errors.device_errors import DeviceError, device_error
from aoti_logs.parse.shape import fields, first

_SAID = re.compile(
    r"\b(?:(?:CUDA|HIP)(?: driver)? error|Triton Error \[\w+\]|(?:cuDNN|cusolver|cuFFT|cusparse|MIOpen|rocBLAS) [Ee]rror|"
    r"Failed to [^:\n]{1,80} in AOTInductor model): ?[^\n]*"
)
_NATIVE = re.compile(r"(?:Native API failed\. Native API returns|\b\w+ backend failed with error): [^\n]*")
_LEVEL = re.compile(r"\bL0 runtime error: [^\n]*")
_FAULT = re.compile(r"\bMemory access fault by GPU [^\n]*")
_QUEUE = re.compile(r"\bCallback: Queue 0x[^\n]*")
_LATER = "kernel errors might be asynchronously reported at some"
_BLOCKING = ("CUDA_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL")
_DSA = re.compile(r"Compile with `TORCH_USE_(?:CUDA|HIP)_DSA`")
_HIP = re.compile(r"\bhipError[A-Z]|\bAMD_SERIALIZE_KERNEL=|`TORCH_USE_HIP_DSA`")
"""Hints of hipified sources of torch (c10/hip/HIPException.cpp, HIPMiscFunctions.cpp), whose error may be called CUDA's."""
_ABOUT = 4096  # characters from which a text is searched; what a device says stands at the beginning


@dataclass(frozen=True)
class DeviceFault:
    """What an error says about a device.

    `backend` is `cuda`, `rocm` or `xpu`. `api` are the words in front (`CUDA error`, `Triton Error [CUDA]`). `text` is
    what the runtime says, `error` the CUDA error of that name or text. `status` is that of a library
    (`CUBLAS_STATUS_EXECUTION_FAILED`), of SYCL (`UR_RESULT_ERROR_DEVICE_LOST`) or of HSA, `call` the call that returned it.
    `blocking` tells whether the hints show that launches were waited for; None where they do not.
    """

    backend: str
    api: str
    text: str
    error: DeviceError | None = None
    status: str | None = None
    call: str | None = None
    blocking: bool | None = None


@dataclass(frozen=True)
class MemoryFault:
    """A page fault that the ROCm runtime prints before it aborts the process; `address` may be `(nil)`."""

    node: int
    agent_handle: str | None
    address: str
    reason: str | None

    @property
    def null(self) -> bool:
        """Whether the address is null."""
        return self.address == "(nil)" or int(self.address[:18], 16) == 0


@dataclass(frozen=True)
class QueueFault:
    """A queue that the HIP runtime gave up: `status` is HSA's, `text` what it says, `code` its number."""

    status: str
    text: str | None
    code: str | None


@lru_cache(maxsize=4096)
def device_fault(text: str) -> DeviceFault | None:
    """Return what the whole text of an error says about a device, None where it speaks of none."""
    about = text[:_ABOUT]
    found = _SAID.search(about)
    if found is not None:
        return _said(found[0].rstrip(), text)
    found = _NATIVE.search(about) or _LEVEL.search(about)
    if found is None:
        return None
    said = found[0].rstrip()
    read = fields("device_fault", "level" if said.startswith("L0") else "native", said)
    api, _, rest = said.partition(": ")
    name = first(read, "NAME") if read is not None else None
    return DeviceFault("xpu", api, name or rest, status=name)


def _said(said: str, whole: str) -> DeviceFault | None:
    read = fields("device_fault", "said", said)
    if read is None:
        return None
    api = read["API"][0].rstrip(":")
    status, call = first(read, "STATUS"), first(read, "CALL")
    error = None if status else device_error(whole)
    amd = "HIP" in api or api.startswith(("MIOpen", "rocBLAS")) or _HIP.search(whole[:_ABOUT])
    backend = "rocm" if amd else "cuda"
    return DeviceFault(
        backend,
        api,
        status or first(read, "TEXT") or "",
        error=error,
        status=status,
        call=call.strip("`") if call else None,
        blocking=_blocking(whole),
    )


def _blocking(text: str) -> bool | None:
    """Tell from the hints whether launches were waited for.

    The hint about asynchronous errors is printed unless `CUDA_LAUNCH_BLOCKING` is set, the one about device-side
    assertions always; newer sources of torch print a hint to `CUDA_LOG_FILE` instead of the former for some errors.
    """
    if _LATER in text:
        return False
    hinted = _DSA.search(text) is not None and "CUDA_LOG_FILE" not in text
    return True if hinted and not any(words in text for words in _BLOCKING) else None


@lru_cache(maxsize=1024)
def memory_fault(text: str) -> MemoryFault | None:
    """Return the page fault of which an error tells."""
    found = _FAULT.search(text[:_ABOUT])
    read = fields("device_fault", "fault", found[0].rstrip()) if found else None
    if read is None:
        return None
    node = int(read["NODE"][0].removeprefix("node-")[:9])
    return MemoryFault(node, first(read, "ADDRESS"), read["AT"][0], first(read, "REASON"))


@lru_cache(maxsize=1024)
def queue_fault(text: str) -> QueueFault | None:
    """Return the queue of which an error tells that it was given up."""
    found = _QUEUE.search(text[:_ABOUT])
    read = fields("device_fault", "queue", found[0].rstrip()) if found else None
    if read is None:
        return None
    code = read["ADDRESS"][1] if len(read.get("ADDRESS", ())) > 1 else None
    return QueueFault(read["HSA"][0], first(read, "EXPLAINED"), code)

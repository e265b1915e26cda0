"""The driver refused the binary of a kernel that was just compiled.

## What it says
Triton compiled the kernel, and the driver did not load it: the image is invalid, there is none for this device, or
a symbol is missing in it.

## Why it matters
The model does not come into it. `ptxas`, the driver and the GPU do not fit each other: a `ptxas` newer than the driver
supports, a cache of kernels from another machine, or a device that the toolkit does not know.

## Example
`RuntimeError: Triton Error [CUDA]: device kernel image is invalid`

## Evidence it needs
The exception in a log or in a trace.

## What to do
Compare the CUDA version of the driver (`nvidia-smi`) with that of Triton's ptxas; remove the caches of Triton and of
Inductor; else install a driver that is at least as new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase


def tell(case: FailureCase) -> Told:
    """Say what the driver says."""
    failure = case.failure
    return Told(
        f"the driver does not load a compiled kernel: {failure.message}",
        because=(
            "the kernel was compiled; what was refused is its binary: ptxas, driver and GPU do not fit each other",
        ),
        facts={
            "inner_message": failure.message,
            "root_exception": failure.inner[-1] if failure.inner else failure.exception_type,
        },
        decide=(
            "the CUDA version of the driver (nvidia-smi) against that of Triton's ptxas (ptxas --version)",
        ),
        experiments=(
            Experiment(
                "the same command as before",
                (
                    ("TRITON_CACHE_DIR", "/tmp/empty-triton"),
                    ("TORCHINDUCTOR_CACHE_DIR", "/tmp/empty-inductor"),
                ),
                "compile",
                "tells a cache of another machine from a toolchain that does not fit",
                "both caches hold binaries by the text of the kernel; empty folders force a new compile",
            ),
        ),
    )


RULE = Rule("AL619", "kernel-image-invalid", __doc__ or "")

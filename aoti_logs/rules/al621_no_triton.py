"""Inductor needs Triton for this device and has none that works there.

## What it says
Code for a GPU is compiled by Triton. Either no usable Triton can be imported, or it compiles no code for this GPU;
then the finding names the GPU and its compute capability.

## Why it matters
This is about the machine: the model does not come into it. On Windows, and with a torch that was not built for the GPU,
no Triton is installed beside torch.

## Example
`TritonMissing: Cannot find a working triton installation. Either the package is not installed or it is too old.`

`GPUTooOldForTriton: Found Tesla P100-PCIE-16GB which is too old to be supported by the triton GPU compiler, ...`

## Evidence it needs
The exception in a log, or the metrics of the compile.

## What to do
`python -c "import triton; print(triton.__version__)"` with the same Python shows what torch finds. Install the Triton that
belongs to this release of torch. Where there is none for the device, compile with `backend="aot_eager"`, or not at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment
from aoti_logs.parse.compiles.failure import FailureKind
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase

_GPU = re.compile(r"Found (?P<gpu>.{1,200}?) which is too old to be supported")
_NEEDED = re.compile(
    r"Capability >= (?P<needed>\d{1,3}\.\d{1,3}).{0,200}?capability (?P<own>\d{1,3}\.\d{1,3})", re.DOTALL
)
_MACHINE = "this is about the machine: the model does not come into it"
_IMPORT = Experiment(
    'python -c "import triton; print(triton.__version__)"',
    (),
    "run",
    "shows whether this Python can import a Triton, and which one",
    "torch/utils/_triton.py imports it to tell whether there is one",
)


def tell(case: FailureCase) -> Told:
    """Say that Triton is missing, or for which GPU it compiles nothing."""
    if case.failure.kind is FailureKind.GPU_TOO_OLD:
        return _too_old(case.failure.text)
    return Told(
        "Inductor needs Triton for this device, and finds none that works",
        because=(_MACHINE,),
        fixes=(
            (
                "install the Triton that belongs to this release of torch, with the pip of the same Python "
                "(python -m pip install ...); on Windows that is the package triton-windows"
            ),
        ),
        experiments=(_IMPORT,),
    )


def _too_old(text: str) -> Told:
    found, numbers = _GPU.search(text), _NEEDED.search(text)
    gpu = found["gpu"] if found else None
    own = f" (compute capability {numbers['own']})" if numbers else ""
    needed = numbers["needed"] if numbers else None
    return Told(
        f"Triton compiles no code for {gpu or 'this GPU'}{own}{f': it needs {needed} or more' if needed else ''}",
        because=(_MACHINE,),
        facts={"gpu": gpu, "capability": numbers["own"] if numbers else None, "capability_needed": needed},
        fixes=('run without torch.compile on this GPU, or with backend="aot_eager", which needs no Triton',),
    )


RULE = Rule("AL621", "no-triton", __doc__ or "")

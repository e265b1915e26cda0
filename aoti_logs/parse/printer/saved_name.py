"""Names of the files that hold saved tensors: launch, kernel, argument and device joined by `_`.

Written by `aoti_torch_save_tensor_handle` (torch/csrc/inductor/aoti_torch/shim_common.cpp):
`<cwd>/tmp/aoti_torch/PHASE_KERNEL_ARGUMENT_DEVICE.pt`, in torch 2.10 to 2.13 without the separator behind
`aoti_torch`; and by generated Python (torch/_inductor/codegen/debug_utils.py):
`<cwd>/tmp/jit_inductor/PHASE_KERNEL_ARGUMENT.pt`. A second launch of a kernel overwrites the files of the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

_NAME = re.compile(r"(?:aoti_torch)?(before_launch|after_launch)_(.+)\.pt$", re.DOTALL)
_DEVICE = re.compile(r"_((?:cpu|cuda|hip|xpu|mps|hpu|mtia|meta|privateuseone|vulkan|ipu|xla)(?::\d{1,4})?)$")
# A buffer or input of the graph, alone or inside a call (`copy_arrayref_tensor_to_tensor(buf0)`).
_BUFFER = re.compile(
    r"_((?:copy_arrayref_tensor_to_tensor\()?(?:buf\d+|arg\d+_\d+|primals_\d+|tangents_\d+)\)?)$"
)
_SERIAL = re.compile(r".*?_\d+(?=_[A-Za-z])")
_LONGEST = 4096


class SavedName(NamedTuple):
    """What the name of a saved tensor says; `device` is None where the Python wrapper saved it."""

    phase: str
    kernel: str
    argument: str
    device: str | None


def saved_name(path: str, kernels: Collection[str] = ()) -> SavedName | None:
    """Return what a path's last part says, or None when it is no saved tensor.

    Args:
        path: with slashes or backslashes between its parts.
        kernels: names of kernels that are known from elsewhere; the longest that fits is the kernel.
            Without one, arguments are told by their form (`buf0`, `arg0_1`), weights (`emb_weight`) by the
            number that ends the name of a fused kernel.
    """
    name = path.strip().strip('"').replace("\\", "/").rpartition("/")[2]
    found = _NAME.search(name) if len(name) <= _LONGEST else None
    if found is None or found.start() != 0:
        return None
    phase, rest = found[1], found[2]
    device = _DEVICE.search(rest)
    if device is not None:
        rest = rest[: device.start()]
    known = max((k for k in kernels if k and rest.startswith(k + "_")), key=len, default=None)
    if known is not None:
        return SavedName(phase, known, rest[len(known) + 1 :], device[1] if device else None)
    argument = _BUFFER.search(rest)
    if argument is not None and argument.start():
        return SavedName(phase, rest[: argument.start()], argument[1], device[1] if device else None)
    serial = _SERIAL.match(rest)
    if serial is not None:
        return SavedName(phase, serial[0], rest[serial.end() + 1 :], device[1] if device else None)
    kernel, _, last = rest.rpartition("_")
    if not kernel:
        return None
    return SavedName(phase, kernel, last, device[1] if device else None)

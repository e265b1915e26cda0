"""Parameters of one kernel: what each is for, and what the kernel does with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.dtypes import torch_dtype
from aoti_logs.code.model import Backend

if TYPE_CHECKING:
    from collections.abc import Collection

    from aoti_logs.code.body import Param
    from aoti_logs.code.model import Kernel
    from aoti_logs.code.triton.meta import KernelMeta

_NAMED = (
    (re.compile(r"^in_out_ptr\d+$"), "in_out_ptr"),
    (re.compile(r"^in_ptr\d+$|^seed\d+$"), "in_ptr"),
    (re.compile(r"^out_ptr\d+$"), "out_ptr"),
    (re.compile(r"^ks\d+$"), "ks"),
    (re.compile(r"^[xyzr]\d*_?numel(?:_\d+)?$"), "numel"),
    (re.compile(r"^ws_ptr(?:_?\d+)?$|^workspace_\d+$"), "workspace"),
    (re.compile(r"^semaphores?(?:_?\w+)?$|^sem_ptr(?:_?\d+)?$"), "semaphore"),
    (re.compile(r"^load_seed_offset\d*$|^seed_offset\d*$"), "seed_offset"),
)
"""Names that `KernelArgs` (`torch/_inductor/codegen/common.py`) and `simd.py` give."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    `role` is `in_ptr`, `out_ptr`, `in_out_ptr`, `ks` (a size), `numel` (how many elements an axis has), `constexpr`,
    `workspace`, `semaphore`, `seed_offset`, `scalar` (any other number), or `pointer` for memory that the kernel,
    as far as its body could be read, neither reads nor writes. Kernels of Inductor are told by their names; in those
    of users and in templates the body decides.

    `mutated`: Inductor says that the kernel changes memory that held something before (`mutated_arg_names`), perhaps
    through another parameter: `in_ptr0` and `out_ptr1` may be one buffer. None where it does not say. `constant` is the value that the kernel was compiled for, as written.
    """

    position: int
    name: str
    written: str
    dtype: str | None
    role: str
    pointer: bool
    mutated: bool | None
    constant: str | None = None


def parameters(
    kernel: Kernel,
    meta: KernelMeta | None,
    read: Collection[str] = (),
    written: Collection[str] = (),
) -> tuple[Parameter, ...]:
    """Return the parameters in order.

    Args:
        kernel: the kernel.
        meta: its decorator, for Triton kernels that have one.
        read: pointer parameters that the body reads.
        written: pointer parameters that the body writes.
    """
    constants = dict(meta.constants) if meta is not None else {}
    mutated = meta.mutated if meta is not None else None
    own = meta is None or meta.kind not in {"user", "template"}
    found = []
    for place, param in enumerate(kernel.params):
        constant = constants.get(param.name, constants.get(str(place)))
        pointer = param.pointer or param.dtype.startswith("tensordesc")
        found.append(
            Parameter(
                position=place,
                name=param.name,
                written=param.dtype,
                dtype=torch_dtype(param.dtype),
                role=_role(kernel, param, pointer, own, read, written),
                pointer=pointer,
                mutated=param.name in mutated if mutated is not None and pointer else None,
                constant=constant,
            )
        )
    return tuple(found)


def _role(
    kernel: Kernel,
    param: Param,
    pointer: bool,
    own: bool,
    read: Collection[str],
    written: Collection[str],
) -> str:
    if param.dtype == "constexpr":
        return "constexpr"
    named = next((role for pattern, role in _NAMED if pattern.match(param.name)), None)
    memory = named in {"in_ptr", "out_ptr", "in_out_ptr"}
    # A tensor of one number on the CPU is passed by value, under the name of a pointer.
    if named is not None and (own or not memory) and (pointer or not memory or not param.dtype):
        return named
    if not pointer:
        return "scalar"
    reads, writes = param.name in read, param.name in written
    if reads or writes:
        return "in_out_ptr" if reads and writes else "in_ptr" if reads else "out_ptr"
    if kernel.backend is Backend.CPP and "const" in param.dtype.split():
        return "in_ptr"
    return named or "pointer"

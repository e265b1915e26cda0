"""What stands above a Triton kernel's `def`: its heuristics decorator with `triton_meta` and `inductor_meta`.

Printed by `TritonKernel.codegen_kernel` (`torch/_inductor/codegen/triton.py`), `ComboKernel.jit_line`
(`triton_combo_kernel.py`), `TritonTemplateKernel.jit_lines` (`select_algorithm.py`) and
`define_user_defined_triton_kernel` (`codegen/wrapper.py`). What releases add or leave out is None or missing here;
all that is written is in `triton` and `inductor`.
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import decorators_of
from aoti_logs.code.model import Backend
from aoti_logs.code.triton.printed_value import Made, Printed, mapping, number, printed, strings, text_of

if TYPE_CHECKING:
    from aoti_logs.code.model import Kernel

_HEURISTICS = "@triton_heuristics."
_LONGEST = 1 << 20
_KINDS = {"user_autotune": "user", "fixed_config": "pointwise"}


@dataclass(frozen=True)
class Device:
    """The device that a kernel was compiled for.

    `type` is `cuda`, `hip`, `xpu`, `cpu` or another backend's name; `capability` is as written: 90 for compute
    capability 9.0 of CUDA, `gfx942` for HIP. A number of old releases (`'device': 0`) is `index` alone.
    """

    type: str | None = None
    index: int | None = None
    capability: str | None = None
    warp_size: int | None = None
    processors: int | None = None


@dataclass(frozen=True)
class KernelMeta:
    """The decorator of one Triton kernel.

    `heuristic` is the decorator's name as written, `kind` what a person calls it: the same, but `combo` for several
    kernels in one that do not come from a `_foreach` operator, and `user` for a kernel that a user wrote. Counts are Inductor's own. `mutated` is None where the
    release does not tell it. `unread` is the text of the decorator when it is no Python.
    """

    heuristic: str | None = None
    kind: str | None = None
    size_hints: tuple[tuple[str, int], ...] = ()
    reduction_hint: str | None = None
    tile_hint: str | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    grid_type: str | None = None
    mutated: tuple[str, ...] | None = None
    num_load: int | None = None
    num_store: int | None = None
    num_reduction: int | None = None
    signature: tuple[tuple[str, str], ...] = ()
    """Parameter, or its position in releases before 2.6, and type, as written."""
    constants: tuple[tuple[str, str], ...] = ()
    """Parameter or its position, and the value that the kernel is compiled for, as written."""
    device: Device = Device()
    triton: dict[Printed, Printed] = field(default_factory=dict, compare=False)
    inductor: dict[Printed, Printed] = field(default_factory=dict, compare=False)
    unread: str | None = None

    @property
    def checks_indices(self) -> bool | None:
        """`assert_indirect_indexing`: False when the kernel was made without bounds checks; None when not told."""
        value = self.inductor.get("assert_indirect_indexing")
        return value if isinstance(value, bool) else None


def kernel_meta(kernel: Kernel) -> KernelMeta | None:
    """Return what the decorator of a Triton kernel says; None for other kernels and for one without decorator."""
    if kernel.backend is not Backend.TRITON:
        return None
    lines = kernel.source.lines_from(kernel.line, kernel.end_line)
    return meta_of("\n".join(lines), kernel.name)


def meta_of(text: str, name: str | None = None) -> KernelMeta | None:
    """Return what the decorator says in the text of a kernel file, which may be indented.

    Args:
        text: the file, or the part of it from the decorator on.
        name: the kernel, where it is known by the name of its `def`.
    """
    read = _meta if len(text) <= _LONGEST else _meta.__wrapped__
    return read(text, name)


@lru_cache(maxsize=512)
def _meta(text: str, name: str | None) -> KernelMeta | None:
    first = text.lstrip("\n")[:1]
    decorators = decorators_of(textwrap.dedent(text) if first.isspace() else text, name)
    start = -1 if decorators is None else decorators.rfind(_HEURISTICS)
    if decorators is None or start < 0:
        return None
    # The next decorator begins at the start of a line.
    call = decorators[start + 1 :].partition("\n@")[0]
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return KernelMeta(unread=call)
    value = printed(node)
    return _from_call(value) if isinstance(value, Made) else KernelMeta(unread=call)


def _from_call(call: Made) -> KernelMeta:
    heuristic = call.name.rpartition(".")[2]
    fields = call.fields
    triton, inductor = mapping(fields.get("triton_meta")), mapping(fields.get("inductor_meta"))
    if not triton:
        # Before 2.1 it was called `meta`, and what is in `inductor_meta` now stood beside it.
        triton = mapping(fields.get("meta"))
    mutated = inductor.get("mutated_arg_names", fields.get("mutated_arg_names"))
    return KernelMeta(
        heuristic=heuristic,
        kind=_kind(heuristic, fields, inductor),
        size_hints=_size_hints(fields.get("size_hints")),
        reduction_hint=_last(text_of(fields.get("reduction_hint"))),
        tile_hint=_last(text_of(fields.get("tile_hint"))),
        num_warps=number(fields.get("num_warps")),
        num_stages=number(fields.get("num_stages")),
        grid_type=text_of(inductor.get("grid_type")),
        mutated=strings(mutated) if mutated is not None else None,
        num_load=number(inductor.get("num_load")),
        num_store=number(inductor.get("num_store")),
        num_reduction=number(inductor.get("num_reduction")),
        signature=tuple((str(k), str(v)) for k, v in mapping(triton.get("signature")).items()),
        constants=tuple((str(k), str(v)) for k, v in mapping(triton.get("constants")).items()),
        device=_device(triton.get("device"), triton.get("device_type")),
        triton=triton,
        inductor=inductor,
    )


def _kind(heuristic: str, fields: dict[str, Printed], inductor: dict[Printed, Printed]) -> str:
    if "combo_grid_meta" in inductor and heuristic != "foreach":
        return "combo"
    if fields.get("custom_kernel") is True:
        return "user"
    return _KINDS.get(heuristic, heuristic)


def _last(text: str | None) -> str | None:
    """Return `INNER` of `ReductionHint.INNER`."""
    return None if text is None else text.rpartition(".")[2]


def _size_hints(value: Printed) -> tuple[tuple[str, int], ...]:
    """Read `{'x': 16, 'r0_': 512}`, and `[16, 512]` of releases before 2.6, whose last one may be a reduction's."""
    if isinstance(value, dict):
        pairs = [(str(k), number(v)) for k, v in value.items()]
    elif isinstance(value, tuple):
        pairs = [(str(n), number(v)) for n, v in enumerate(value)]
    else:
        pairs = []
    return tuple((k, v) for k, v in pairs if v is not None)


def _device(value: Printed, type_: Printed) -> Device:
    if isinstance(value, Made):
        told = value.fields
        capability = told.get("cc")
        return Device(
            type=text_of(told.get("type")),
            index=number(told.get("index")),
            capability=None if capability is None else str(capability),
            warp_size=number(told.get("warp_size")),
            processors=number(told.get("multi_processor_count")),
        )
    return Device(type=text_of(type_), index=number(value))

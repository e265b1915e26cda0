"""Calls of operators: what their names tell about the arguments.

Shims are named by `torchgen/gen_aoti_c_shim.py` and `torch/csrc/inductor/aoti_torch/c/shim.h`
(`aoti_torch_cpu_index_put_out`), Python calls as `torch.ops.aten.sort.stable`, `aten.scatter_reduce_.two`,
`extern_kernels.mm`, C++ of torch 2.4 as `at::addmm_out`. Roles of arguments are those of
`aten/src/ATen/native/native_functions.yaml`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

_SHIM = re.compile(r"aoti_torch_(?:(?:cpu|cuda|xpu|mps|mtia|hpu|vulkan)_)?(\w+)")
_DOTTED = re.compile(
    r"(?:torch\.ops\.)?aten\.(\w+)(?:\.\w+)?|extern_kernels\.(\w+)|at::(?:_ops::)?(\w+?)(?:::\w+)?"
)
_METHOD = re.compile(r"Tensor\.(\w+)")
_DISPATCHED = re.compile(r"aten::(\w+)(?:\.\w+)?")
_KEEPS_REST = re.compile(r"scatter|index_put|index_copy|index_add|index_fill|index_reduce|masked|slice|put_$")
_ONLY_WRITES = re.compile(
    r"(?:copy|fill|zero|normal|uniform|random|bernoulli|exponential|cauchy|geometric|log_normal)_?(?:_.*)?"
)
_NOT_OPERATORS = frozenset({"proxy_executor_call_function", "call_dispatcher"})
_WITH_OVERLOAD = re.compile(
    r"(scatter_reduce|scatter_add|scatter|index_put|index_copy|index_add|index_fill|index_select|gather|masked_scatter"
    r"|masked_fill|embedding_bag|embedding|index|take|sort|topk|cumsum|nonzero)(?:_(?:two|src|value|stable|default|out|"
    r"int|Tensor|Scalar|self|values|forward_only))*_?"
)


class Role(StrEnum):
    """How a tensor takes part in what a store writes."""

    VALUE = "value"
    """Its elements are what is written is computed from."""
    INDEX = "index"
    """Its elements tell which elements are read or written."""
    CONDITION = "condition"
    """Its elements choose between values, or whether anything is written."""
    ARGUMENT = "argument"
    """It is given to a call, and nothing here tells what the call makes of it."""


class Called(NamedTuple):
    """`name` without prefix, `_out` and overload (`scatter_reduce`); `out`: it has an out argument; `in_place`."""

    name: str
    out: bool
    in_place: bool


@lru_cache(maxsize=4096)
def operator(callee: str) -> Called:
    """Return what a call of an operator calls."""
    shim = _SHIM.fullmatch(callee)
    dotted = _DOTTED.fullmatch(callee) or _METHOD.fullmatch(callee) or _DISPATCHED.fullmatch(callee)
    name = shim[1] if shim else next((g for g in dotted.groups() if g), callee) if dotted else callee
    out = bool(re.search(r"_out(?:_|$)", name)) or callee.startswith("extern_kernels.")
    name = re.sub(r"_out_?$", "", name)
    in_place = name.endswith("_") and not name.endswith("__")
    match = _WITH_OVERLOAD.fullmatch(name)
    return Called(match[1] if match else name.rstrip("_") if in_place else name, out, in_place)


def is_aten(callee: str) -> bool:
    """Tell whether a call is one of ATen or of Inductor's own helpers: those write only what they say."""
    if _SHIM.fullmatch(callee):
        return operator(callee).name not in _NOT_OPERATORS
    return bool(
        _DOTTED.fullmatch(callee)
        or _METHOD.fullmatch(callee)
        or _DISPATCHED.fullmatch(callee)
        or callee.startswith(
            ("torch.ops.prims.", "torch.ops._c10d_functional.", "inductor_ops.", "torch.ops.inductor.")
        )
    )


def keeps_rest(called: Called) -> bool:
    """Tell whether the operator leaves elements of what it writes as they were."""
    return _KEEPS_REST.search(called.name) is not None


def only_writes(called: Called) -> bool:
    """Tell whether an operator in place does not read what it writes."""
    return _ONLY_WRITES.fullmatch(called.name) is not None


_VALUE_NAMES = """mm addmm bmm baddbmm _int_mm _scaled_mm convolution addmv mv dot linear _addmm_activation cumsum cumprod
    logcumsumexp sum mean amax amin max min prod any all sort topk kthvalue median mode add sub mul div copy clone fill
    zero _softmax _log_softmax sigmoid tanh relu gelu exp log sqrt rsqrt pow neg abs cat stack angle complex view_as_real
    view_as_complex nonzero unique _unique2 bucketize searchsorted histc bincount _cudnn_rnn _adaptive_avg_pool2d
    avg_pool2d max_pool2d_with_indices native_layer_norm native_group_norm native_batch_norm _fft_r2c _fft_c2c _fft_c2r
    _trilinear polar addcmul addcdiv bernoulli _weight_int8pack_mm _weight_int4pack_mm mkldnn_linear
    mkldnn__linear_pointwise mkldnn__linear_pointwise_binary mkldnn__convolution_pointwise mkl_linear _mkl_linear
    _flash_attention_forward _efficient_attention_forward _scaled_dot_product_flash_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_cudnn_attention"""
_VALUES = frozenset(_VALUE_NAMES.split())
_INDICES: dict[str, tuple[str, ...]] = {
    "embedding": ("value", "index"),
    "embedding_bag": ("value", "index", "index"),
    "index": ("value", "index*"),
    "index_select": ("value", "index"),
    "gather": ("value", "index"),
    "take": ("value", "index"),
    "take_along_dim": ("value", "index"),
    "scatter": ("value", "index", "value"),
    "scatter_add": ("value", "index", "value"),
    "scatter_reduce": ("value", "index", "value"),
    "index_add": ("value", "index", "value"),
    "index_copy": ("value", "index", "value"),
    "index_fill": ("value", "index", "value"),
    "index_put": ("value", "index*", "value"),
    "masked_fill": ("value", "condition", "value"),
    "masked_scatter": ("value", "condition", "value"),
    "masked_select": ("value", "condition"),
    "where": ("condition", "value", "value"),
}
"""Operator -> roles of its tensors in order; `*` takes all that are left for it."""


def roles(called: Called, count: int) -> tuple[Role, ...]:
    """Return the roles of an operator's tensor arguments, results left out.

    Args:
        called: the operator.
        count: number of its tensors.
    """
    if called.name in _VALUES:
        return (Role.VALUE,) * count
    known = _INDICES.get(called.name)
    if known is None:
        return (Role.ARGUMENT,) * count
    found: list[str] = []
    for n, role in enumerate(known):
        after = len(known) - n - 1
        found += [role.rstrip("*")] * (max(count - len(found) - after, 0) if role.endswith("*") else 1)
    if len(found) < count:
        return (Role.ARGUMENT,) * count
    return tuple(Role(r) for r in found[:count])

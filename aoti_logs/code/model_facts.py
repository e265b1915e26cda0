"""What a compiled model is, as plain values: counts, names, launches, and what deserves a look."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.code.kernel.inside import checks_of_model
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.sizes.answers import size_facts
from aoti_logs.code.wrapper.argument_text import behind, passed
from aoti_logs.code.wrapper.shims import shim

if TYPE_CHECKING:
    from aoti_logs.code.model import Launch
    from aoti_logs.code.view import ModelView

FLAVOURS = {
    "aoti_cpp": "AOTInductor",
    "jit_cpp": "torch.compile with a C++ wrapper",
    "jit_python": "torch.compile",
}
_MOST = 2000
"""Lists of more launches than this are left to the tables."""
_DEBUG_CALLS = (
    b"aoti_torch_print_tensor_handle",
    b"aoti_torch_save_tensor_handle",
    b"aoti_torch_check_inf_and_nan",
)


def headline(view: ModelView) -> str:
    """Return one line that tells what a model is."""
    wrapper = view.wrapper
    calls, kernels = wrapper.calls, set(wrapper.kernel_names)
    own = sum(call.kernel in kernels for call in calls)
    parts = [
        count(len(wrapper.inputs), "input"),
        count(len(wrapper.constants), "constant"),
        count(len(kernels), "kernel"),
        count(own, "kernel launch", "kernel launches"),
        count(len(calls) - own, "extern call"),
        count(len(wrapper.outputs), "output"),
    ]
    made_by = FLAVOURS.get(wrapper.flavour, wrapper.flavour)
    return f"{made_by} for {', '.join(wrapper.devices)}: {', '.join(parts)}"


def count(number: int, one: str, several: str | None = None) -> str:
    """Return `3 inputs`, `1 input`."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def unchecked(view: ModelView) -> tuple[Launch, ...]:
    """Return the calls that return an error code which the code does not look at."""
    return tuple(
        view.wrapper.launch(i)
        for i, call in enumerate(view.wrapper.calls)
        if not call.checked and _can_fail(call.kernel)
    )


def _can_fail(name: str) -> bool:
    known = shim(name)
    return known is None or known.can_fail


def debug_calls(view: ModelView) -> dict[str, int]:
    """Return how often a C++ wrapper calls what prints, saves or checks the values of tensors."""
    data = view.wrapper.source.data
    found = {
        name.decode(): len(re.findall(rb"\b" + name + rb"\(", data))
        for name in _DEBUG_CALLS
        if data.find(name) >= 0
    }
    return {name: number for name, number in found.items() if number}


def model_facts(view: ModelView) -> dict[str, Any]:
    """Return the facts of a model under the names that tables and findings use."""
    wrapper = view.wrapper
    names = set(wrapper.kernel_names)
    cpp = wrapper.flavour != "jit_python"
    facts: dict[str, Any] = {
        "flavour": wrapper.flavour,
        "devices": list(wrapper.devices),
        "wrapper": wrapper.source.name,
        "n_kernels": len(names),
        "kernels": list(wrapper.kernel_names),
        "n_launches": sum(call.kernel in names for call in wrapper.calls),
        "n_inputs": len(wrapper.inputs),
        "n_constants": len(wrapper.constants),
        "inputs": [
            {"index": i.index, "name": i.name, "input_name": view.named(i.name).name} for i in wrapper.inputs
        ],
        **size_facts(view),
        "output_buffers": list(wrapper.outputs),
        "debug_calls": [{"call": name, "times": times} for name, times in debug_calls(view).items()],
    }
    if len(wrapper.calls) > _MOST:
        return facts
    launches = wrapper.launches
    own = [k for k in launches if k.kernel in names]
    extern = [k for k in launches if k.backend is Backend.EXTERN]
    ignored = {k.index for k in unchecked(view)}
    facts["launches"] = [{"kernel": k.kernel, "args": passed(k, cpp=cpp)} for k in own]
    facts["kernel_params"] = [
        {"kernel": k.kernel, "param": a.param, "value": behind(a, cpp=cpp)}
        for k in own
        for a in k.arguments
        if a.kind is ArgumentKind.SIZE and a.param is not None
    ]
    texts, number = checks_of_model(view)
    facts["index_checks"], facts["n_index_checks"] = list(texts), number
    facts["constants"] = [
        {"name": c.name, "original_fqn": c.fqn, "shape": list(c.shape) if c.shape is not None else None}
        for c in wrapper.constants
    ]
    facts["reuse"] = [
        {"buffer": b.name, "reuses": b.alias_of}
        for b in wrapper.buffers
        if b.reuse and b.alias_of is not None
    ]
    facts["extern_calls"] = list(dict.fromkeys(k.kernel for k in extern))
    facts["checked_shim_calls"] = [
        k.kernel for k in extern if k.checked and k.kernel.startswith("aoti_torch_")
    ]
    facts["unchecked_shim_calls"] = [k.kernel for k in extern if k.index in ignored]
    return facts

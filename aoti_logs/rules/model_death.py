"""What is known to end a process inside a compiled model without a word, and what a package says about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.rules.model_weights import ModelWeights

_DEVICE_KEY = re.compile(rb'"AOTI_DEVICE_KEY":\s*"(\w{1,20})"')


def possible_causes(
    device: str | None, weights: ModelWeights, *, aoti: bool, checked: bool = False
) -> tuple[str, ...]:
    """Return what may have happened, each said to be possible; none is chosen.

    Args:
        device: of the package.
        weights: what is known of the model's weights.
        aoti: it is a model of AOTInductor, which tests its inputs only when asked to.
        checked: it was asked to, and refused none.
    """
    said = [
        "possible: an input of another dtype, a shorter or strided one, or a meta tensor, read as raw memory"
    ]
    if checked:
        said = []
    elif aoti:
        where = f" than the package's ({device})" if device else " than the package's"
        said.insert(0, f"possible: an input on another device{where}; nothing checks that unless asked to")
    if aoti and weights.possible is not None:
        said.insert(0 if weights.absent else len(said), weights.possible)
    return tuple(said)


def package_device(evidence: Evidence) -> tuple[str, Link] | None:
    """Return the device that the model was compiled for, where one and only one is at hand."""
    found: dict[str, Link] = {}
    for source in evidence.sources:
        if source.name.endswith(("wrapper_metadata.json", "_metadata.json")) and len(source.data) < 1 << 20:
            key = _DEVICE_KEY.search(bytes(source.data))
            if key is not None:
                device = key[1].decode()
                found.setdefault(device, Link("package", f'"AOTI_DEVICE_KEY": "{device}"', source.place(1)))
    if not found:
        for code in evidence.base.wrappers:
            wrapper = code.wrapper
            if wrapper is not None and len(wrapper.devices) == 1:
                device = wrapper.devices[0]
                found.setdefault(
                    device, Link("package", f"the wrapper is compiled for {device}", wrapper.source.place(1))
                )
    return next(iter(found.items())) if len(found) == 1 else None


def user_kernels(evidence: Evidence) -> tuple[str, ...]:
    """Return the names of the Triton kernels at hand that a user wrote and a wrapper launches, each once."""
    from aoti_logs.code.kernel.inside import Inside

    found: dict[str, None] = {}
    for code in evidence.base.wrappers:
        launched = {launch.kernel for launch in code.wrapper.launches} if code.wrapper is not None else set()
        for kernel in code.kernels:
            meta = Inside(kernel).meta if kernel.name in launched else None
            if meta is not None and meta.kind == "user":
                found.setdefault(kernel.name)
    return tuple(found)

"""A model was compiled for one device and is loaded, built or fed for another.

## What it says
Which device the package, the constants or the tensors are for, and what stands against it: a build of torch without
that device, a device string, a pointer of the other kind.

## Why it matters
A model of AOTInductor is machine code for one kind of device. Torch says so in many ways, most of them late, and two
of the worst combinations (CUDA tensors for a CPU model, weights of a CUDA model on the CPU in older releases) end in a
segmentation fault without any text.

## Example
`Mixed-device constants are only supported when the secondary device is CPU. Constant 'emb_weight' was compiled for a
non-CPU device.`: compiled on a GPU, loaded on the CPU.

## Evidence it needs
The text; for `Torch not compiled with CUDA enabled` also the traceback, which goes through the loading of a package.

## What to do
Compile and load on the same kind of device, with a build of torch that has it, and give tensors of that device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.parse.aoti.facts import DeviceError
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.aoti_story import loads_package, story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_FIXES = ("compile and load on the same kind of device, with a build of torch that has it",)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which devices meet."""
    told = case.error.detail
    if not isinstance(told, DeviceError):
        return None
    story = story_of(case)
    title = _title(told)
    if told.problem == "not_built" and not loads_package(case.error):
        return None  # a program of its own asks for a device
    if told.problem == "invalid" and not (case.error.form is ErrorForm.AOTI_ERROR or story.from_model):
        return None
    inside = story.from_model or (told.problem == "host_memory" and loads_package(case.error))
    if told.problem in {"operands", "out_tensor", "host_memory"} and not inside:
        return None
    package = told.device if told.problem in {"not_built", "no_runner", "out_tensor"} else None
    loading = told.problem not in {"operands", "out_tensor"}
    facts = {
        "package_device": package,
        "got_device": told.got,
        "constant": told.constant,
        "device": told.device,
        "phase": "load" if loading else "run",
        **story_facts(story),
    }
    return ErrorTold(
        "AL203",
        "aoti_device_mismatch",
        title,
        Confidence.PROVEN,
        because=_because(told),
        links=story_links(story),
        facts={k: v for k, v in facts.items() if v is not None},
        fixes=_FIXES,
    )


def _title(told: DeviceError) -> str:
    return {
        "constants": f"the weight `{told.constant}` was compiled for another device than the model is loaded on",
        "no_runner": f"the package is for {told.device}, and this program has no runner for it",
        "not_built": f"the package is for {told.device}, and this build of torch has no {told.device}",
        "invalid": f"the device `{told.device}` is none that AOTInductor knows",
        "runner": f"the runner for {told.device} was given another device",
        "host_memory": f"memory of the host was taken for memory of a {(told.device or '').upper()} device",
        "out_tensor": f"an operator of the model writes to {told.device}, and its input is on {told.got}",
        "operands": "tensors of two devices meet in one operator of the model",
    }[told.problem]


def _because(told: DeviceError) -> tuple[str, ...]:
    if told.problem == "not_built":
        return ("the loader asks torch about the device that the package's metadata names (AOTI_DEVICE_KEY)",)
    if told.problem == "no_runner":
        return ("the package's metadata names the device (AOTI_DEVICE_KEY)",)
    if told.problem in {"out_tensor", "operands"}:
        return (
            "an input on another device than the model's may be the reason: nothing checks it by default",
        )
    return ()


RULE = Rule("AL203", "device-mismatch", __doc__ or "")

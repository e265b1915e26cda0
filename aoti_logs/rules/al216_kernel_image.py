"""A GPU kernel's image could not be used by this driver or this GPU.

## What it says
The driver (or Triton's launcher, or Level Zero) refused a compiled kernel: its image is invalid, is for another GPU, or
has not the function that was asked for.

## Why it matters
The text does not say which kernel, and looks like a broken installation. It is nearly always a difference between
where the kernel was compiled and where it runs: another compute capability, a toolchain (ptxas) newer than the
driver, a cache or a package that was copied. `CUDA error: no kernel image is available` does not even say whose kernel: torch's
own wheel may have none for this GPU, or a compiled model, an extension.

## Example
`Triton Error [CUDA]: device kernel image is invalid`: a ptxas that is newer than the driver.

## Evidence it needs
The text. `AOTI_COMPUTE_CAPABILITY` in a package's metadata, and a warning about it, show which GPU it was made for.

## What to do
Compare `nvidia-smi` (driver, CUDA version that it supports), `torch.version.cuda` and the GPU with those of the
machine that compiled; compile again on the machine that runs, with an empty cache.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.aoti.facts import DeviceInformation, ImageError
from aoti_logs.rules.al219_device_information import device_information
from aoti_logs.rules.aoti_story import story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.failure_case import FailureCase

KIND = "kernel_image_invalid"
_HOST = re.compile(
    r"no kernel image is available for execution on the device|device kernel image is invalid|invalid device function|"
    r"the provided PTX was compiled with an unsupported toolchain"
)
_DECIDE = (
    "compare the driver's CUDA version (nvidia-smi), torch.version.cuda, ptxas and the GPU with those that compiled",
)

_DECIDE_AMD = (
    "compare the GPU (`rocminfo | grep gfx`), HSA_OVERRIDE_GFX_VERSION and torch.version.hip with what the kernels are for",
)


def _decide(platform: str) -> tuple[str, ...]:
    return _DECIDE_AMD if "HIP" in platform else _DECIDE


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the driver refused; a file that is not there is the runner's affair (AL214)."""
    told = case.error.detail
    if isinstance(told, ImageError) and told.source == "runtime" and (host := _HOST.match(told.reason)):
        return _of_host(case, host[0], told.platform)
    if not isinstance(told, ImageError) or told.reason == "file not found" or told.source == "runtime":
        return None
    story = story_of(case)
    facts: dict[str, Any] = {**story_facts(story), "reason": told.reason, "platform": told.platform}
    links: list[Link] = []
    for message in case.events.messages:
        information = device_information(message.text)
        if isinstance(information, DeviceInformation):
            links.append(Link("warning", message.text, message.span.place))
            facts["device_information"] = {
                "key": information.key, "current": information.current, "package": information.package,
            }  # fmt: skip
    title, because = _words(told)
    return ErrorTold(
        "AL216",
        KIND,
        title,
        Confidence.PROVEN,
        because=because,
        links=(*links, *story_links(story)),
        facts=facts,
        decide=_decide(told.platform),
    )


def _of_host(case: ErrorCase, reason: str, platform: str) -> ErrorTold:
    """Say what `CUDA error: ...` means: the runtime does not say whose kernel it was."""
    _, because = _words(ImageError(platform, "runtime", reason))
    whose = (
        "possible: a kernel of torch itself, built for other GPUs (`torch.cuda.get_arch_list()` lists them)",
        "possible: a kernel of a compiled model, an extension or the user, compiled on another kind of GPU",
    )
    story = story_of(case)
    return ErrorTold(
        "AL216",
        KIND,
        f"{platform} cannot run a kernel on this GPU: {reason}",
        Confidence.PROVEN,
        because=(*because, *whose) if "toolchain" not in reason else because,
        links=story_links(story),
        facts={**story_facts(story), "reason": reason, "platform": platform},
        decide=_decide(platform),
    )


def tell(case: FailureCase) -> Told:
    """Say the same of a compile that ended with it."""
    detail = case.failure.detail
    told = detail if isinstance(detail, ImageError) else ImageError("GPU", "driver", case.failure.message)
    title, because = _words(told)
    return Told(
        title,
        facts={"reason": told.reason, "platform": told.platform, "inner_message": case.failure.message},
        because=because,
        decide=_decide(told.platform),
    )


def _words(told: ImageError) -> tuple[str, tuple[str, ...]]:
    who = {"triton": "Triton's launcher", "driver": "the driver", "runtime": "the runtime"}[told.source]
    reason = told.reason
    if (
        "invalid error code" in reason
    ):  # CUDA_DRIVER_CHECK of torch/_inductor/codegen/cuda/device_op_overrides.py
        why = "this driver has no text for the error that it returned, so what it refused is not known"
        return f"{who} refused to load or launch a kernel, with an error that it cannot name", (why,)
    if "no kernel image" in reason:
        why = "the kernel was compiled for another GPU (compute capability) than this one"
    elif "invalid device function" in reason:
        why = "no kernel of this name is there for this GPU: mostly it was compiled for others (compute capability)"
    elif "symbol not found" in reason:
        why = "the image of the kernel has not the function of this name: it belongs to another compile or is cut off"
    elif "compiler library not found" in reason:
        why = "the kernel is there as PTX, and the driver's compiler of PTX (libnvidia-ptxjitcompiler) was not found"
    elif "unsupported toolchain" in reason:
        why = "the PTX of the kernel is mostly from a CUDA toolchain that is newer than the driver"
    elif "PTX" in reason:
        why = "the driver could not compile the PTX of the kernel: it is damaged, for a newer GPU, or of a newer CUDA"
    elif "invalid" in reason:
        why = (
            "the image of the kernel is damaged, for another GPU, or made by a ptxas (CUDA version) that this driver does "
            "not know"
        )
    else:
        why = "the image of the kernel does not fit this driver or GPU"
    return f"{who} refused a kernel: {reason}", (why,)


RULE = Rule("AL216", "kernel-image-refused", __doc__ or "")

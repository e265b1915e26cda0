"""A device-side assertion failed that c10 keeps track of; kernel and launch are named.

## What it says
A build of torch with `TORCH_USE_CUDA_DSA` collects the assertions of some of its kernels, with thread, block and the place of
the launch. The finding quotes the first one.

## Why it matters
It is the only error text of CUDA that names the launch although launches were not waited for.

## Evidence it needs
The block below `CUDA error: device-side assert triggered` that begins with `N CUDA device-side assertion failures were found
on GPU #D!`.

## What to do
Look at the launch and at what it was given.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.asserts.dsa import dsa_failures
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which assertion failed in which kernel."""
    failures = dsa_failures(case.error.text)
    if not failures:
        return None
    one = failures[0]
    kernel = f" in `{one.kernel or one.function}`" if one.kernel or one.function else ""
    links = [Link("assertion", f"{one.message} ({one.file}:{one.line})", case.error.span.place)]
    if one.launch_file:
        launch = f"{one.launch_file}:{one.launch_line} in {one.launch_function}"
        links.append(Link("launch", launch, case.error.span.place))
    facts = asdict(one)
    facts |= {"assertion": one.message, "n_failures": len(failures), "asynchronous": False}
    for key in ("thread", "block"):
        facts[key] = list(facts[key]) if facts[key] else None
    return ErrorTold(
        "AL308",
        "cuda_device_assert",
        f"a device assert failed{kernel}: {one.message}",
        Confidence.PROVEN,
        because=("c10 collected it with the launch of its kernel",),
        links=tuple(links),
        facts=facts,
    )


RULE = Rule("AL308", "dsa", __doc__ or "")

"""A Triton kernel needs more of the device than there is.

## What it says
What was required (shared memory, registers, threads), what the device has, and for which kernel and block sizes.
Where the kernel was one of several choices that autotuning tried, this is a note: the choice is left out.

## Why it matters
`out of resource` looks like memory of the GPU that ran out, and torch even names it `OutOfMemoryError`. It is the memory
of one multiprocessor; batch size and model size have nothing to do with it, block sizes and `num_stages` have.

## Example
`out of resource: shared memory, Required: 262144, Hardware limit: 232448. Reducing block sizes or num_stages may help.`

## Evidence it needs
The text of the exception, in a log or in a trace; for autotuning, torch's message about the choice.

## What to do
Nothing, where other choices fit. Else take smaller blocks: `kernel_options={"BLOCK_M": 64, ...}` for flex_attention, the
`triton.Config` of your own kernel, or a GPU with more shared memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.compiles.failure import Resources
from aoti_logs.parse.errors.pruned_choice import PrunedChoice, pruned_in
from aoti_logs.parse.errors.triton_error import kernel_name
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.rules.failure_case import FailureCase
    from aoti_logs.rules.log_notes import LogCase
    from aoti_logs.sources.source import Place

_NOT_MEMORY = "shared memory is that of one multiprocessor: the GPU has not run out of memory"


def tell(case: FailureCase) -> Told:
    """Say what does not fit."""
    found = case.failure.detail if isinstance(case.failure.detail, Resources) else None
    if found is None:
        return Told(f"a kernel does not fit the device: {case.failure.message}")
    kernel = found.kernel or kernel_name(case.failure.text) or case.facts.get("kernel")
    name = f"kernel `{kernel}`" if kernel else "a kernel"
    return Told(
        f"{name} needs {amount(found)}",
        because=(_NOT_MEMORY,) if found.resource == "shared memory" else (),
        facts={
            **resource_facts(found),
            **({"kernel": kernel} if kernel else {}),
            "fatal": True,
            "root_exception": case.failure.inner[-1] if case.failure.inner else case.failure.exception_type,
        },
        decide=(
            "the block sizes and num_stages of the kernel: TORCH_LOGS=output_code prints those of generated ones",
        ),
    )


def amount(found: Resources) -> str:
    """Write what is required and what there is."""
    unit = " bytes of" if "memory" in found.resource else ""
    return f"{found.required}{unit} {found.resource}, and the device has {found.limit}"


def resource_facts(found: Resources) -> dict[str, Any]:
    """Return the amounts as plain values."""
    return {"resource": found.resource, "required": found.required, "limit": found.limit}


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for all choices that autotuning left out for the same reason."""
    groups: dict[tuple[str, int | None], list[tuple[PrunedChoice, Place, int | None]]] = {}
    for choice, place, rank in pruned_in(case.events):
        what = "resources" if choice.resources is not None else (choice.error or "")
        groups.setdefault((what, rank), []).append((choice, place, rank))
    for (_, rank), found in groups.items():
        yield _note(found, case.source.name, rank if rank is not None else case.source.rank)


def _note(found: list[tuple[PrunedChoice, Place, int | None]], log: str, rank: int | None) -> Finding:
    first, place, _ = found[0]
    resources = first.resources
    times = f"{len(found)} choices" if len(found) > 1 else "a choice"
    kernel = (resources.kernel if resources else None) or first.caller or "a kernel"
    if resources is not None:
        title = f"autotuning left out {times}: `{kernel}` needs {amount(resources)}"
        kind, because = (
            "triton_out_of_resources",
            (_NOT_MEMORY, "other choices are tried: the compile goes on"),
        )
    else:
        title = f"autotuning left out {times}: {first.error}"
        kind, because = "autotuning_choice_failed", ("other choices are tried: the compile goes on", "")
    facts: dict[str, Any] = {
        "message": first.said,
        **(resource_facts(resources) if resources else {}),
        "kernel": resources.kernel if resources else None,
        "fatal": False,
        "phase": "autotuning",
        "n_choices": len(found),
        "choice": {"caller": first.caller, "file": first.file, **dict(first.settings)},
    }
    details = tuple(f"{k}={v}" for k, v in first.settings if k.startswith(("BLOCK", "num_", "NUM")))[:8]
    links = [Link("choice", first.said, place, details=details)]
    links += [Link("choice", c.said, p) for c, p, _ in found[1:4]]
    verdict = Verdict("AL614", title, Confidence.PROVEN, tuple(b for b in because if b))
    return Finding(
        "AL614", kind, "note", "note", Confidence.PROVEN, title, facts, rank=rank, log=log,
        chain=tuple(links), verdicts=(verdict,),
    )  # fmt: skip


RULE = Rule("AL614", "triton-out-of-resources", __doc__ or "")

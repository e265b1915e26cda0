"""Torch or a kernel asks Triton for a name that the installed Triton has not.

## What it says
Which object has not which attributes. Where torch's own code asks, the installed versions of torch and Triton mostly do
not belong together. Where the text of a kernel asks (`triton.language...`), that text may be wrong as well.

## Why it matters
It reads like a bug in Inductor. Each release of torch is written for one release of Triton (pip installs it with
torch), and a separately installed or upgraded one breaks it inside of a compile.

## Example
`<triton.compiler.compiler.CompiledKernel object at 0x7f..> does not has any of the attributes: ('cluster_dims',
'clusterDims')`

## Evidence it needs
The text, from Inductor's own code.

## What to do
Install the Triton that this torch asks for (`pip show torch` lists it under Requires), in a fresh environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence
from aoti_logs.parse.aoti.facts import VersionMismatch
from aoti_logs.rules.aoti_story import story_facts, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.failure_case import FailureCase

KIND = "version_mismatch"
_FIXES = (
    "install the triton that this torch asks for: `pip show torch` names it, `pip show triton` what is there",
)
_BECAUSE = (
    "Inductor asks Triton's objects for names that one release has and another has not (triton version)",
)
_OF_KERNEL = (
    "the text of a kernel uses this name: the text may be wrong, or for another release of triton (triton version)",
)
_DECIDE = ("compare what `pip show torch` requires with what `pip show triton` shows",)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which names are missing, where Inductor looked for them."""
    told = case.error.detail
    if not isinstance(told, VersionMismatch) or not told.of_triton or not _in_torch(case.error):
        return None
    facts: dict[str, Any] = {**story_facts(story_of(case)), **_facts(told)}
    return ErrorTold(
        "AL217",
        KIND,
        _title(told),
        Confidence.LIKELY,
        because=_BECAUSE,
        facts=facts,
        fixes=_FIXES,
        doubt="the text names a missing attribute, not versions",
    )


def tell(case: FailureCase) -> Told:
    """Say the same of a compile that ended with it."""
    detail = case.failure.detail
    told = detail if isinstance(detail, VersionMismatch) else VersionMismatch("triton", ())
    if told.object.startswith("triton.language"):
        names = " or ".join(f"`{n}`" for n in told.attributes)
        title = f"a kernel uses {names}, which `{told.object}` has not in this triton"
        return Told(title, facts=_facts(told), because=_OF_KERNEL, decide=_DECIDE)
    # The finding is as sure as the exception, so the title says no more than that.
    return Told(_lacks(told), facts=_facts(told), because=_BECAUSE, decide=_DECIDE)


def _in_torch(error: ErrorText) -> bool:
    return any("/torch/" in f.file.replace("\\", "/") for f in error.python_frames[-3:])


def _facts(told: VersionMismatch) -> dict[str, Any]:
    return {
        "object": told.object,
        "missing_attributes": list(told.attributes),
        "components": ["torch", "triton"],
    }


def _lacks(told: VersionMismatch) -> str:
    names = " or ".join(f"`{n}`" for n in told.attributes)
    return f"`{told.object}` has no {names}, which torch asks it for"


def _title(told: VersionMismatch) -> str:
    return f"{_lacks(told)}: likely incompatible versions of torch and triton"


RULE = Rule("AL217", "torch-and-triton-do-not-fit", __doc__ or "")

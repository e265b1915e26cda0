"""Files that a package names and does not have, or parts of it that contradict each other.

## What it says
Which file is missing (the library, a GPU kernel's binary, a list of operators, weights), and which line names it; what
else does not fit together: two wrappers, metadata that differs, a number of constants that is not the one announced.

## Why it matters
Loading such a package fails, or worse: the first launch of a kernel whose `cubin` is missing does, hours later. A package
that was put together by hand may run with another model's parts.

## Example
`the package names 2 files that are not in it: c4k...cubin and c7d...cubin`

## Evidence it needs
A whole package, or the folder that it was unpacked to. Files beside a lone wrapper may be anywhere, and are not asked for.

## What to do
Package the model again, from the machine and the cache that compiled it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.packages.package import Form
from aoti_logs.explain import Confidence, Link
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.file import Reference
    from aoti_logs.explain import Finding

RULE = Rule("AL722", "package-incomplete", __doc__ or "")

_FIX = "package the model again, from the machine and the cache that compiled it"


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of files that are named and not there, then of what does not fit together."""
    model = case.model
    if model is None or model.form is Form.FILES:
        return
    missing = [r for r in model.missing if r.needed]
    if missing:
        yield _missing(case, missing, whole=model.whole)
    if model.problems:
        number = len(model.problems)
        more = "" if number == 1 else f", and {number - 1} more"
        yield case.finding(
            "AL722",
            "package_contradicts_itself",
            f"the package does not fit together: {model.problems[0]}{more}",
            warning=True,
            facts={"problems": list(model.problems)},
            because=model.problems if number > 1 else (),
            fixes=(_FIX,),
        )


def _missing(case: ModelCase, missing: list[Reference], *, whole: bool) -> Finding:
    names = [r.path.rpartition("/")[2] or r.path for r in missing]
    roles = list(dict.fromkeys(str(r.role).replace("_", " ") for r in missing))
    number = len(missing)
    what = f"{listed(roles)}: " if len(roles) <= 2 else ""
    files = "a file that is" if number == 1 else f"{number} files that are"
    title = f"the package names {files} not in it: {what}{listed(names)}"
    return case.finding(
        "AL722",
        "package_incomplete",
        title,
        warning=True,
        confidence=Confidence.PROVEN if whole else Confidence.POSSIBLE,
        facts={"missing_files": [r.path for r in missing], "roles": [str(r.role) for r in missing]},
        links=[Link("named", f"{r.path.rpartition('/')[2]}: {r.why}", r.by) for r in missing[:MOST_LINKS]],
        because=("loading the package, or the first launch that needs the file, fails",),
        fixes=(_FIX,),
        doubt=None if whole else "the package was not read to its end, so the file may be in it",
    )

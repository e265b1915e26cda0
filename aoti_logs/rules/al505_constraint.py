"""A size that was declared dynamic is not dynamic in this code.

## What it says
`torch.export` or `mark_dynamic` promised that a size may vary, and tracing found that it may not: the code
makes it one number, or equal to another size. The finding names the size, the input, the dimension and the
number, and quotes what torch suggests.

## Why it matters
Torch calls the size by the name of a `Dim` or of a Dynamo source (`L['x'].size()[0]`), and prints several
lines of advice; which input to change is easy to miss.

## Example
`You marked b as dynamic but your code specialized it to be a constant (8).`: a `view(8, 3)` of the input fixes
its first size.

## Evidence it needs
The exception, in a trace of `torch.compile` or strict export, or in a log. A trace of non-strict export does
not have it (see AL504). The line that fixes the size stands in the exception from torch 2.8 on, else in the log of
TORCH_LOGS=+dynamic.

## What to do
Take torch's suggested fix, or change the line that fixes the size. What allows a constant is `Dim.STATIC` or `Dim.AUTO` for
an export (torch 2.6 and later), `maybe_mark_dynamic` for `torch.compile`. An example of size 1 fixes it, too: export with an
example of at least 2.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from aoti_logs.commands import SAME_COMMAND
from aoti_logs.explain import Experiment, Link, Missing
from aoti_logs.parse.compiles.failure import Violations
from aoti_logs.parse.python.stack_text import frames_of_stack
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from typing import Any

    from aoti_logs.explain import Finding
    from aoti_logs.parse.compiles.failure import SuggestedFix, Violation
    from aoti_logs.parse.python.stack_text import StackLine
    from aoti_logs.rules.failure_case import FailureCase

_SHOWN = 6
_ADVICE = 'For more information, run with TORCH_LOGS="+dynamic"'
_PROOF = "torch/fx/experimental/symbolic_shapes.py logs `eval` of each guard and `Specializing`, with the user's stack"
_LARGEST = 2**63 - 1
_LOOSER = {
    True: "use maybe_mark_dynamic in place of mark_dynamic, which allows a constant",
    False: "declare it static (Dim.STATIC), or leave it to torch (Dim.AUTO; torch 2.6 and later, before that the number alone)",
    None: "declare it static (Dim.STATIC) or leave it to torch (Dim.AUTO, maybe_mark_dynamic)",
}
"""What allows a size to be a constant, by whether mark_dynamic asked for it to be none."""


def tell(case: FailureCase) -> Told:
    """Name the size and what became of it."""
    detail = case.failure.detail if isinstance(case.failure.detail, Violations) else Violations((), ())
    rows = detail.rows
    title = _title(rows[0]) if rows else case.failure.message
    if len(rows) > 1:
        title += f"; {len(rows) - 1} more like it"
    links = [Link("violation", row.text, case.place_of(_row(case, row))) for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        links.append(Link("violation", f"and {len(rows) - _SHOWN} more", None))
    stack = _user_stack(case)
    if stack:
        file, line, function, code = stack[-1]
        text = f"{file}:{line} in {function}" + (f": {code}" if code else "")
        row = case.failure.text.count("\n", 0, case.failure.text.rfind(f'"{file}", line {line}'))
        links.append(Link("python", text, case.place_of(row)))
    return Told(
        title,
        links=tuple(links),
        facts={
            "constraints": [_facts(row) for row in rows],
            "suggested_fixes": [_fix(fix) for fix in detail.fixes],
            "user_stack": [
                {"file": file, "line": line, "function": function, "code": code}
                for file, line, function, code in stack
            ],
        },
        fixes=tuple(_fixes(rows, detail.fixes, stack, marked=_is_marked(case, rows))),
        **({} if stack else _unknown_line(rows, case.failure.text)),
    )


def _unknown_line(rows: tuple[Violation, ...], text: str) -> dict[str, Any]:
    """Name the line that no stack tells, and what logs it; sizes 0 and 1 of an example are constants by themselves."""
    equal = any(r.form == "equal" for r in rows)
    made = next((r for r in rows if r.form in {"specialized", "constant"} and r.constant not in {0, 1}), None)
    if made is None and not equal:
        return {}
    what = f"the line that {'needs both sizes to be equal' if made is None else f'makes it {made.constant}'}"
    return {
        "missing": (Missing(what, 'TORCH_LOGS="+dynamic" when compiling'),),
        "experiments": (
            Experiment(
                SAME_COMMAND,
                (("TORCH_LOGS", "+dynamic"),),
                "compile",
                f"prints each guard, and each size that becomes a number, with the user's line, so {what}",
                f"torch advises it in this text: {_ADVICE}" if _ADVICE in text else _PROOF,
            ),
        ),
    }


def with_line(finding: Finding) -> Finding:
    """Return a finding of this rule whose line something else of its run tells: nothing is left to log."""
    return replace(finding, missing=(), experiments=())


def _user_stack(case: FailureCase) -> tuple[StackLine, ...]:
    """Return the frames of the user's code that made the size a constant (torch 2.8 and later)."""
    _, told, stack = case.failure.text.partition("\nUser stack:\n")
    lines = takewhile(lambda line: line.startswith("  "), stack.split("\n"))
    return frames_of_stack("\n".join(lines)) if told else ()


def _row(case: FailureCase, row: Violation) -> int:
    at = case.failure.text.find(row.text)
    return case.failure.text.count("\n", 0, at) if at >= 0 else 0


def size_name(row: Violation) -> str:
    """Name a size: `dimension 0 of `x``, with the user's name for it."""
    origin = input_of(row.source) if row.source else None
    name = f"`{row.name}`" if row.name else None
    if origin is not None and origin.dim is not None:
        where = f"dimension {origin.dim} of `{origin.name}`"
        return f"{name} ({where})" if name else where
    return name or (f"`{row.source}`" if row.source else "a size")


def _title(row: Violation) -> str:
    what = size_name(row)
    if row.form in {"specialized", "constant", "solved"}:
        return f"{what} was declared dynamic, and this code makes it {row.constant}"
    if row.form == "equal":
        return f"{what} was declared independent, and this code needs it to equal {row.other}"
    if row.form == "range":
        return f"the example's size {row.constant} is outside of the declared range {row.declared}"
    if row.form == "guard":
        return f"{what} may not take every value that was declared: the code needs {row.other}"
    return f"{what} was declared independent, and this code makes it {row.other}"


def _facts(row: Violation) -> dict[str, Any]:
    origin = input_of(row.source) if row.source else None
    form = "mark_dynamic" if row.constraint or ("mark_dynamic" in row.text and not row.name) else row.form
    return {
        "name": row.name,
        "source": row.source,
        "input": origin.name if origin else None,
        "dim": origin.dim if origin else None,
        "constant": row.constant,
        "range": row.declared,
        "other": row.other,
        "type": row.constraint,
        "form": form,
        "text": row.text,
    }


def _fix(fix: SuggestedFix) -> dict[str, Any]:
    return {"name": fix.name, "value": fix.value, "comment": fix.comment}


def _is_marked(case: FailureCase, rows: tuple[Violation, ...]) -> bool | None:
    """Tell whether the size was marked by mark_dynamic, and not declared for an export; None where nothing tells."""
    if any(row.name for row in rows) or case.exported:
        return False  # only a Dim has a name
    return True if case.exported is False else None


def _fixes(
    rows: tuple[Violation, ...],
    fixes: tuple[SuggestedFix, ...],
    stack: tuple[StackLine, ...],
    *,
    marked: bool | None,
) -> list[str]:
    found = [f"torch suggests: {f.name} = {f.value}" for f in fixes if f.value != "None"]
    made = next((r for r in rows if r.form in {"specialized", "constant"}), None)
    if made is not None and made.constant in {0, 1}:
        found.append(
            f"{'export' if not marked else 'call it first'} with an example whose size is at least 2: sizes 0 and 1 are "
            "made constants"
        )
    elif made is not None:
        where = f" ({stack[-1][0]}:{stack[-1][1]})" if stack else ""
        found.append(f"{_LOOSER[marked]}, or change the line that makes it {made.constant}{where}")
    elif any(r.form == "range" for r in rows):
        found.append("export with an example inside of the range, or widen the range")
    elif any(r.form == "equal" for r in rows):
        found.append("use the same Dim for both sizes")
    elif any(r.form == "guard" and (r.other or "").endswith(f"!= {_LARGEST}") for r in rows):
        # seen with torch 2.6 only: 2.4, 2.9 and 2.13 export the same model
        found.append("give the Dim an upper bound (max=...): torch 2.6 guards against the largest integer")
    return found


RULE = Rule("AL505", "size-is-not-dynamic", __doc__ or "")

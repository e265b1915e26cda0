"""One size is read from one input and taken to be that of another, and nothing compares the two.

## What it says
When inputs share a dimension (one `Dim` of the export, or sizes that tracing found equal), the code reads it from one of
them. Which one, which others are taken to have the same size, and whether anything compares them: nothing at all is a
warning, only `AOTI_RUNTIME_CHECK_INPUTS` (torch 2.13, where a kernel reads the input) is a note.

## Why it matters
A tensor that is shorter than its partner is read past its end. The bound in `index out of bounds` is the partner's
size, so even that check passes. The result is made from memory that belongs to something else.

## Example
`dimension 0 of `w` is taken to be that of `x`, and nothing compares them`

## Evidence it needs
The wrapper of an AOTInductor model. Where the code never reads a size and does not say what it is taken for, the
exported program tells; without it the finding is `possible`.

## What to do
Compare the sizes in the caller. The guards of the export are erased before AOTInductor compiles, so exporting again
with the same torch does not help.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aoti_logs.code.sizes.evidence import Enforced
from aoti_logs.explain import Confidence, Missing
from aoti_logs.rules.input_experiments import switch_checks_on
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import Size
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Finding, Link

RULE = Rule("AL712", "shared-size-unchecked", __doc__ or "")

_FIX = "compare the sizes in the caller before the call"
_PAST_END = (
    "a shorter tensor is read past its end, and the bound of an index check is the other tensor's size"
)


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of each size that one input lends to others, those that nothing compares first."""
    view = case.aot
    if view is None:
        return
    lent: dict[tuple[Size, bool], list[InputDim]] = defaultdict(list)
    unknown: list[InputDim] = []
    for dim in view.input_dims:
        if dim.measured is not None or (dim.extent is not None and not dim.symbols):
            continue
        if dim.extent is None:
            if dim.checks and dim.compiled_range is not None:
                unknown.append(dim)
            continue
        measured = [view.symbol(s).measured for s in dim.symbols]
        if len(measured) != 1 or measured[0] is None:
            unknown.append(dim)
        elif dim.compared is None or dim.compared.gated:
            lent[measured[0], dim.compared is not None].append(dim)
    plain = _plain(view) if lent else {}
    for (size, compared), dims in sorted(lent.items(), key=lambda one: one[0][1]):
        yield _lent(case, view, size, dims, plain.get(size, set()), compared=compared)
    if unknown:
        yield _unknown(case, unknown)


def _lent(
    case: ModelCase, view: ModelView, size: Size, dims: list[InputDim], same: set[str], *, compared: bool
) -> Finding:
    confidence, doubt = (Confidence.PROVEN, None) if compared else case.absent
    lender = view.inputs.get(size.tensor or "")
    owner = f"`{size.tensor}`" if lender is None else case.called(lender)
    if all(d.extent in same for d in dims):
        of = listed(f"dimension {d.dim} of {case.called(d.input)}" for d in dims)
        source = f"that of dimension {size.dim} of {owner}"
    else:
        of = listed(f"dimension {d.dim} of {case.called(d.input)} ({d.extent})" for d in dims)
        own = next((e for d in dims for s in d.symbols if (e := view.symbol(s).extent) is not None), None)
        source = f"what follows from dimension {size.dim} of {owner}" + (f" ({own})" if own else "")
    verb = "is" if len(dims) == 1 else "are"
    told = "only AOTI_RUNTIME_CHECK_INPUTS compares them" if compared else "nothing compares them"
    links = [case.link("size", size.line, size.text)]
    links += [
        case.link("alias", view.sizes[s].line, view.sizes[s].text)
        for s in dict.fromkeys(s for d in dims for s in d.symbols)
        if s in view.sizes and view.sizes[s] != size
    ]
    for dim in dims[:MOST_LINKS]:
        links += _of(case, view, dim)
    return case.finding(
        "AL712",
        "shared_size_unchecked",
        f"{of} {verb} taken to be {source}, and {told}",
        warning=not compared,
        confidence=confidence,
        facts={
            "measured": {"input": size.tensor, "dim": size.dim},
            "taken_for_granted": [{"input": d.input.name, "dim": d.dim, "extent": d.extent} for d in dims],
            "enforced": str(Enforced.GATED if compared else Enforced.NEVER),
        },
        links=links,
        because=(_PAST_END,),
        fixes=(_FIX,),
        experiments=(switch_checks_on(case.command),) if compared else (),
        doubt=doubt,
    )


def _plain(view: ModelView) -> dict[Size, set[str]]:
    """Return the symbols whose value is the measured size itself, by the statement that reads it."""
    found: dict[Size, set[str]] = defaultdict(set)
    for name in view.sizes:
        facts = view.symbol(name)
        if facts.measured is not None and facts.extent == name:
            found[facts.measured].add(name)
    return found


def _of(case: ModelCase, view: ModelView, dim: InputDim) -> Iterator[Link]:
    if dim.compared is not None:
        yield case.link("compared", dim.compared.line, dim.compared.text)
    else:
        yield case.link("input", dim.input.line)
    calls = view.wrapper.mentioning({dim.input.name})
    if calls:
        launch = view.wrapper.launch(min(calls))
        yield case.link("used", launch.line, launch.text)


def _unknown(case: ModelCase, dims: list[InputDim]) -> Finding:
    of = listed(f"dimension {d.dim} of {case.called(d.input)}" for d in dims)
    verb = "is" if len(dims) == 1 else "are"
    links = []
    for dim in dims[:MOST_LINKS]:
        check = next(iter(dim.checks.values()), None)
        links.append(
            case.link("input", dim.input.line)
            if check is None
            else case.link("check", check.line, check.text)
        )
    return case.finding(
        "AL712",
        "size_never_read",
        f"{of} {verb} dynamic, and the code never reads it: it may be taken to be another input's size",
        warning=True,
        confidence=Confidence.POSSIBLE,
        facts={
            "taken_for_granted": [{"input": d.input.name, "dim": d.dim, "extent": d.extent} for d in dims],
            "enforced": str(Enforced.NEVER),
        },
        links=links,
        because=("sizes that tracing knew to be equal are read from one input only", _PAST_END),
        decide=("print the exported program: dimensions with the same symbol must have the same size",),
        missing=(
            Missing(
                "which size it must equal",
                "give the output of `print(exported_program)` or the TORCH_TRACE of the compile as --context",
            ),
        ),
        doubt="which size stands for it is not in the code",
    )

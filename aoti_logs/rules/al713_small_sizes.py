"""The input check will refuse sizes 0 and 1, although the export may allow them.

## What it says
Of which inputs the check asks for at least 2 (or more), next to the range that the exported program declares. Where that
program is not at hand the finding is `possible`: 2 is the compiler's own limit, whatever the export says.

## Why it matters
Whoever switches `AOTI_RUNTIME_CHECK_INPUTS` on to find a bug, or for safety, makes good requests fail. Without the check
such a size runs code that was compiled for 2 or more elements, which mostly computes, and nobody tested.

## Example
`the input check refuses sizes 0 and 1 of `x` in dimension 0, which the export allows: [0, 1024]`

## Evidence it needs
The wrapper of an AOTInductor model; the range is quoted from an exported program (printed, saved, or in a package).

## What to do
Compile with `aot_inductor.check_lowerbound=False` (torch 2.10 and later), test sizes 0 and 1 against eager once, or
answer them in the caller. See AL206 for the error that this becomes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, gated, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.sizes.evidence import Limit
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Finding

RULE = Rule("AL713", "small-sizes-will-be-refused", __doc__ or "")

_COMPILERS_OWN = 2
_FIXES = (
    "compile with aot_inductor.check_lowerbound=False (torch 2.10+), and compare sizes 0 and 1 with eager",
    "answer sizes 0 and 1 in the caller",
)
_Declared = list[tuple["InputDim", "Limit"]]


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Compare the lower limit of each dimension with what the export declares."""
    view = case.aot
    if view is None:
        return
    allowed: _Declared = []
    open_ones: list[InputDim] = []
    for dim in view.input_dims:
        if dim.lower is None or dim.lower < _COMPILERS_OWN or dim.expected is not None:
            continue
        declared = _declared(view, dim)
        if declared is None:
            if dim.lower == _COMPILERS_OWN:
                open_ones.append(dim)
        elif (declared.lower or 0) < dim.lower:
            allowed.append((dim, declared))
    if allowed:
        yield _told(case, allowed)
    if open_ones:
        yield _open(case, open_ones)


def _declared(view: ModelView, dim: InputDim) -> Limit | None:
    """Return the one range that exported programs declare for a dimension."""
    found = [
        limit
        for symbol in dim.symbols
        for limit in view.symbol(symbol).limits
        if limit.told_by == "exported_program" and limit.extent == dim.extent
    ]
    return found[0] if len({(f.lower, f.upper) for f in found}) == 1 else None


def _sizes(dims: list[InputDim]) -> str:
    lowest = {d.lower for d in dims}
    return "sizes 0 and 1" if lowest == {_COMPILERS_OWN} else "small sizes"


def _links(case: ModelCase, dims: list[InputDim]) -> list[Link]:
    checks = [d.checks[CheckKind.MIN] for d in dims[:MOST_LINKS]]
    return [case.link("check", c.line, c.text) for c in checks]


def _told(case: ModelCase, allowed: _Declared) -> Finding:
    dims = [dim for dim, _ in allowed]
    limits = {(limit.lower, limit.upper): limit for _, limit in allowed}
    ranges = listed(f"[{'0' if low is None else low}, {'inf' if up is None else up}]" for low, up in limits)
    links = _links(case, dims)
    links += [
        Link("declared", f"{limit.extent} in [{limit.lower}, {limit.upper}]", limit.place)
        for limit in {limit.place: limit for _, limit in allowed}.values()
    ]
    return case.finding(
        "AL713",
        "small_sizes_refused",
        f"the input check refuses {_sizes(dims)} of {_where(case, dims)}, which the export allows: {ranges}",
        facts=_facts(dims, [limit for _, limit in allowed]),
        links=links,
        because=(
            "the limit is the compiler's: it treats sizes 0 and 1 as special, whatever the export declares",
            _when(dims),
        ),
        fixes=_FIXES,
    )


def _open(case: ModelCase, dims: list[InputDim]) -> Finding:
    return case.finding(
        "AL713",
        "small_sizes_refused",
        f"the input check refuses sizes 0 and 1 of {_where(case, dims)}; the export may allow them",
        confidence=Confidence.POSSIBLE,
        facts=_facts(dims, []),
        links=_links(case, dims),
        because=("2 is the compiler's own limit, whatever the export declares", _when(dims)),
        decide=("print the exported program: `Range constraints` shows the declared range",),
        fixes=_FIXES,
        missing=(
            Missing(
                "the range that the export declares",
                "give the output of `print(exported_program)`, or the TORCH_TRACE of the compile, as --context",
            ),
        ),
        doubt="the range that the export declares is not at hand",
    )


def _where(case: ModelCase, dims: list[InputDim]) -> str:
    by_input: dict[str, list[int]] = {}
    for dim in dims:
        by_input.setdefault(case.called(dim.input), []).append(dim.dim)
    return listed(
        f"{name} in dimension{'s' if len(own) > 1 else ''} {listed(map(str, own), 8)}"
        for name, own in by_input.items()
    )


def _when(dims: list[InputDim]) -> str:
    on_request = gated(d.checks[CheckKind.MIN] for d in dims)
    return (
        "the check runs only with AOTI_RUNTIME_CHECK_INPUTS; without it these sizes run code compiled for 2 or more"
        if on_request
        else "the check is compiled in and always runs (AOT_INDUCTOR_DEBUG_COMPILE)"
    )


def _facts(dims: list[InputDim], declared: list[Limit]) -> dict[str, object]:
    found: dict[str, object] = {
        "refused": [
            {"input": d.input.name, "dim": d.dim, "compiled_range": list(d.compiled_range or ())}
            for d in dims
        ]
    }
    if declared:
        found["declared_ranges"] = [[limit.lower, limit.upper] for limit in declared]
    return found

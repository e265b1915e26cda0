"""Weights that do not come with the model: who loads it has to give them.

## What it says
Where the values of the constants lie, when that is not the library itself: with the caller, in files that are read only
on request, or in a file beside the library. Which sentence of which file says so is quoted.

## Why it matters
A model that runs without its weights reads through null pointers: on the CPU the process dies with SIGSEGV and no text, on a
GPU a kernel makes an illegal memory access, which a later call reports. What is given is not compared: a weight of another shape or dtype is taken as it comes.

## Example
`the 2 constants do not come with the model: who loads it has to give them`

## Evidence it needs
The wrapper; for files of the package the package itself.

## What to do
`load_constants` with every name of `get_constant_fqns()` and `check_full_update=True`; for weights that are files of the
package `torch.export.pt2_archive._package.load_pt2(path, load_weights_from_disk=True)`; or compile with
`aot_inductor.package_constants_in_so=True`, which is the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.packages.weights import ValueIn
from aoti_logs.explain import Link
from aoti_logs.rules.model_case import ModelCase, listed, one_line
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.package import PackagedModel
    from aoti_logs.explain import Finding
    from aoti_logs.sources.source import Place

RULE = Rule("AL721", "constants-outside", __doc__ or "")

_NULL = "a model that runs without its weights reads through null pointers: {how}"
_NOT_COMPARED = "shapes and dtypes of the values that are given are not compared"
_INSIDE = "compile with aot_inductor.package_constants_in_so=True (the default)"
_GIVE = "give every name of get_constant_fqns() to load_constants with check_full_update=True before the first run"
_READ = "load it with torch.export.pt2_archive._package.load_pt2(path, load_weights_from_disk=True)"
_SHOWN = 20


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of weights outside of the library, and of values that do not fit the wrapper."""
    model = case.model
    if model is None or model.wrapper is None:
        return
    told = {
        ValueIn.CALLER: ("do not come with the model: who loads it has to give them", True),
        ValueIn.FILES: ("are files of the package, which torch reads only when it is asked to", True),
        ValueIn.BLOB: ("are in a file beside the library: loading the library alone brings none", False),
    }.get(model.weights.location)
    if told is not None:
        yield _outside(case, model, *told)
    odd = [v for v in model.values if v.problem and v.location is ValueIn.FILES and v.file is not None]
    if odd:
        links = [Link("constant", f"{v.constant.fqn or v.constant.name}: {v.problem}", v.by) for v in odd[:5]]
        yield case.finding(
            "AL721",
            "constants_do_not_fit",
            f"the stored values of {listed(f'`{v.constant.fqn or v.constant.name}`' for v in odd)} do not fit the wrapper",
            warning=True,
            facts={"constants": [v.constant.fqn or v.constant.name for v in odd][:_SHOWN]},
            links=links,
            because=(_NOT_COMPARED,),
            fixes=("package the model again, so that wrapper and weights are of one compile",),
        )


def _outside(case: ModelCase, model: PackagedModel, what: str, warning: bool) -> Finding:
    store = model.weights
    own = [v.constant for v in model.values if v.location is store.location]
    number = len(own)
    names = [c.fqn or c.name for c in own]
    links = [Link("weights", store.why, store.by)] if store.by is not None else []
    links += _quoted(model, store.by) if store.by is not None else []
    of = "the constant" if number == 1 else f"the {number:,} constants"
    if number == 1:
        what = what.replace("do not come", "does not come").replace("give them", "give it")
        what = what.replace("are files", "is a file").replace("are in", "is in")
    on_gpu = model.wrapper is not None and any(d != "cpu" for d in model.wrapper.devices)
    how = "an illegal memory access that names no kernel" if on_gpu else "SIGSEGV, and no text"
    why = (
        [_NULL.format(how=how)]
        if warning
        else ["torch loads the file with the package; what opens the library alone does not"]
    )
    load = {ValueIn.CALLER: [_GIVE], ValueIn.FILES: [_READ]}.get(store.location, [])
    fixes = [*load, _INSIDE]
    beside = [c for c in own if (c.fqn or "") in model.beside]
    return case.finding(
        "AL721",
        "constants_outside",
        f"{of} {what}",
        warning=warning,
        facts={
            "location": str(store.location),
            "constants": names[:_SHOWN],
            "n_constants": number,
            "bytes": store.size,
        },
        links=links,
        because=(*why, _NOT_COMPARED),
        fixes=fixes,
        notes=(f"an exported program in the package has {len(beside):,} of them",) if beside else (),
    )


def _quoted(model: PackagedModel, place: Place) -> list[Link]:
    """Quote the sentence itself, where it stands in the wrapper."""
    wrapper = model.wrapper
    if wrapper is None or place.source != wrapper.source.name:
        return []
    return [Link("says", one_line("\n".join(wrapper.source.lines_from(place.line, place.line))), place)]

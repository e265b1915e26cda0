"""A weight of a compiled model is missing, unknown, or of the wrong kind.

## What it says
Which constant it is, by the name that the text has and, with the wrapper at hand, by both of its names: that of the
code (`emb_weight`) and that of the module (`emb.weight`), and which the model has.

## Why it matters
`load_constants` takes module names, and `Cannot find constants ... in constants_map!` prints the code's. A full update
(`check_full_update=True`) needs every weight. A vector of at most 8 elements is no constant of the model at all: Inductor
writes its values into the code, so that `load_constants` cannot change them. Shapes and dtypes are not compared at all: a wrong one is taken silently.

## Evidence it needs
The text. `constants_info_` in the wrapper lists all names.

## What to do
Give the names that `model.get_constant_fqns()` returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.aoti.facts import ConstantError
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.aoti_story import loads_package, story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.small_constants import INLINED, inlined

if TYPE_CHECKING:
    from aoti_logs.code.model import Constant
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.sources.source import Place

_SHOWN = 20
_TITLES = {
    "usage": "allow_h2d_copy and user_managed were both asked for, and exclude each other",
    "blob": "the weights that are part of the library, or mapped from a file, do not fit it",
    "state": "the constants of the model are in a state that its code does not expect",
    "folding": "constants were folded in a model that was compiled without that",
}
_SMALL = f"Inductor writes the values of a tensor of one dimension with at most {INLINED} elements into the code: it is no constant of the model any more, although the exported program has it"
_LEAVE_OUT = "leave it out: load what model.get_constant_fqns() returns. Its value is in the code; another value needs another compile"
_AMBIGUOUS = ("mmap() failed",)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Name the constant."""
    told = case.error.detail
    if not isinstance(told, ConstantError) or case.error.form is ErrorForm.WARNING:
        return None
    story = story_of(case)
    if case.error.message.startswith(_AMBIGUOUS) and not (
        story.from_model or loads_package(case.error) or case.error.form is ErrorForm.AOTI_ERROR
    ):
        return None
    known, place, own = _known(case, told)
    facts: dict[str, Any] = {**story_facts(story), "problem": told.problem}
    if told.name is not None:
        facts["constant"] = told.name
    if known:
        facts["known_constants"] = [c.fqn or c.name for c in known][:_SHOWN]
    if own is not None:
        facts["original_fqn"] = own.fqn
    if told.problem == "device":
        facts |= {"expected_value": told.expected, "got_value": told.got}
    links: list[Link] = []
    if known and place is not None:
        names = ", ".join(str(c.fqn or c.name) for c in known[:_SHOWN])
        links.append(Link("constants", names, place, Confidence.LIKELY))
    small = inlined(told.name, case.evidence) if told.problem == "unknown" and told.name and known else None
    if small is not None:
        facts["inlined"] = True
        links.append(small)
    missing = () if known or told.name is None else (
        Missing("the names of the model's constants", "`model.get_constant_fqns()`, or the wrapper from the package"),
    )  # fmt: skip
    # The runner's text is all that reaches the program, so the failure is known by that.
    kind = "aoti_api_call_failed" if story.runner is not None else "aoti_constant_error"
    return ErrorTold(
        "AL212",
        kind,
        _title(told, own),
        because=(*_because(told), *((_SMALL,) if small is not None else ())),
        links=(*links, *story_links(story)),
        facts=facts,
        fixes=(_LEAVE_OUT,) if small is not None else _fixes(told, own),
        missing=missing,
    )


def _known(case: ErrorCase, told: ConstantError) -> tuple[list[Constant], Place | None, Constant | None]:
    """Return the constants of the wrapper at hand, where there is but one set of names, and the one in question."""
    found: dict[tuple[str, ...], tuple[list[Constant], Place | None]] = {}
    for code in case.evidence.base.wrappers[:64]:
        wrapper = code.wrapper
        if wrapper is None or wrapper.flavour != "aoti_cpp" or not wrapper.constants:
            continue
        constants = list(wrapper.constants)
        if told.problem == "missing" and told.name not in {c.name for c in constants}:
            continue
        names = tuple(c.fqn or c.name for c in constants)
        found.setdefault(names, (constants, wrapper.source.place(constants[0].line)))
    if len(found) != 1:
        return [], None, None
    constants, place = next(iter(found.values()))
    return constants, place, next((c for c in constants if told.name in {c.name, c.fqn}), None)


def _title(told: ConstantError, own: Constant | None) -> str:
    name = f"`{told.name}`"
    if own is not None and own.fqn and own.fqn != told.name:
        name += f" (likely `{own.fqn}`)"
    if told.problem == "missing":
        return f"a full update of the weights leaves out {name}"
    if told.problem == "unknown":
        return f"the model has no constant {name}"
    if told.problem == "device":
        return f"the weight {name} is on {told.got}, and the model needs it on {told.expected}"
    return _TITLES.get(told.problem, f"the constant {name} was not given")


def _because(told: ConstantError) -> tuple[str, ...]:
    if told.problem == "missing":
        return (
            "check_full_update asks for every constant of the model",
            "the text has the code's name of it",
        )
    if told.problem == "unknown":
        return ("load_constants takes the names that get_constant_fqns() returns",)
    if told.problem == "blob":
        return ("the library was cut off, stripped, or the blob belongs to another compile",)
    return ()


def _fixes(told: ConstantError, own: Constant | None) -> tuple[str, ...]:
    if told.problem == "missing":
        name = own.fqn if own is not None and own.fqn else told.name
        return (
            f"give `{name}` as well: load_constants wants all names that model.get_constant_fqns() returns",
        )
    if told.problem == "unknown":
        return ("give all names that model.get_constant_fqns() returns, and no other",)
    if told.problem == "device":
        return (f"move it to {told.expected}, or load with allow_h2d_copy=True",)
    if told.problem == "blob":
        return ("copy or compile the model again, and do not strip it",)
    return ()


RULE = Rule("AL212", "constant-does-not-fit", __doc__ or "")

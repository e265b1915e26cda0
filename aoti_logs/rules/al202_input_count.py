"""A model was given another number of tensors than it takes.

## What it says
`expected inputs vector size to be 3, but got 2`. The finding gives both numbers, the line of the user's code that
calls, and the names of the inputs where a wrapper with so many is at hand.

## Why it matters
Only tensors are counted. Python's loader throws away every argument that is no tensor before it counts, so a list or
a number where a tensor belongs reads as if an argument had been forgotten, and positions shift.

## Example
`model(ids, offsets, [1.0])`: three arguments, two tensors.

## Evidence it needs
The text. Which tensor is missing cannot be told from it.

## What to do
Compare the call with the exported program's signature; wrap numbers with `torch.tensor`. Sizes that the export took
as inputs of their own (`SymInt` arguments) are not given to an AOTInductor model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.aoti.facts import CountMismatch
from aoti_logs.rules.aoti_story import story_facts, story_links, story_of
from aoti_logs.rules.aoti_wrapper import inputs_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say how many tensors the model takes, and how many it was given."""
    told = case.error.detail
    if not isinstance(told, CountMismatch):
        return None
    story = story_of(case)
    facts = {
        **story_facts(story),
        f"expected_{told.what}": told.expected,
        f"got_{told.what}": told.got,
    }
    links: list[Link] = []
    named = inputs_of(case.evidence, told.expected) if told.what == "inputs" else []
    by_user = bool(named) and all(i.name in v.names for v, _ in named for i in v.wrapper.inputs)
    if len(named) == 1 and by_user:
        facts["input_names"] = list(named[0][1])
    for view, names in named[:4]:
        first = min(view.wrapper.inputs, key=lambda i: i.index, default=None)
        place = view.wrapper.source.place(first.line) if first is not None else None
        strength = Confidence.LIKELY if len(named) == 1 else Confidence.POSSIBLE
        links.append(Link("inputs", ", ".join(names), place, strength))
    tensors = "tensor" if told.expected == 1 else "tensors"
    if told.what == "inputs":
        title = f"the model takes {told.expected} {tensors} and was given {told.got} (number of inputs)"
    else:
        title = f"the model returns {told.expected} {tensors}, and room was made for {told.got}"
    because = []
    if told.got < told.expected and told.what == "inputs":
        because.append(
            "one may be missing, or an argument is no tensor: those are thrown away before the count (Python's loader)"
        )
    elif told.what == "inputs":
        because.append("every tensor inside of lists, tuples and dicts counts; weights are no inputs")
    return ErrorTold(
        "AL202",
        f"aoti_{told.what[:-1]}_count_mismatch",
        title,
        because=tuple(because),
        links=(*links, *story_links(story)),
        facts=facts,
        fixes=("call the model with the tensors of the exported program's signature, in its order",)
        if told.what == "inputs"
        else (f"make room for {told.expected} outputs",),
        missing=()
        if by_user
        else (
            Missing(
                "the names of the inputs", "the wrapper from the package, and `print(ep.graph_signature)`"
            ),
        ),
    )


RULE = Rule("AL202", "wrong-number-of-inputs", __doc__ or "")

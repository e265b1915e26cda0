"""A condition on a size or a value, which the compiled code relies on, does not hold.

## What it says
`Expected u0 <= s15 but received 9`: a size that is only known when the model runs (`u0`), or one of its inputs, breaks
a condition that the export or the compiler took for granted (`torch._check`, a slice, a range). The finding names the
condition and the number; with the wrapper at hand it says what each symbol measures.

## Why it matters
The number is the value of one operand, not always of the first: `Expected u0 <= s15 but received 9` may print s15.

## Evidence it needs
The text. The wrapper tells which symbol the number belongs to and where it comes from.

## What to do
Look at what gives the size its value (a mask, an `.item()`, an input's length), or widen the condition at export.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.aoti.facts import ScalarAssert
from aoti_logs.rules.aoti_story import story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.sources.source import Source

_SYMBOL = re.compile(r"\b[suz]f?\d+\b")
_GIVEN = re.compile(r"std::to_string\(([^()]+)\)")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which condition does not hold."""
    told = case.error.detail
    if not isinstance(told, ScalarAssert) or not _SYMBOL.search(told.condition):
        return None
    story = story_of(case)
    facts: dict[str, Any] = {**story_facts(story), "condition": told.condition, "received": told.value}
    links: list[Link] = []
    symbols = set(_SYMBOL.findall(told.condition))
    operand = next(iter(symbols)) if len(symbols) == 1 else None
    sure = operand is not None
    for source, line, text in _asserts(case, told.condition):
        given = _GIVEN.search(text)
        operand = operand or (given[1].strip() if given else None)
        links.append(Link("assert", text, source.place(line), Confidence.LIKELY))
        links += _sizes(case, source, told.condition)
        break
    title = f"`{told.condition}` does not hold: "
    if operand:
        facts["operand"] = operand
        title += f"{operand} is {told.value}"
    else:
        title += f"one of its operands is {told.value}"
    missing = () if links else (
        Missing("which operand the number belongs to, and what it measures", "the wrapper from the package"),
    )  # fmt: skip
    return ErrorTold(
        "AL204",
        "runtime_assert",
        title,
        Confidence.LIKELY if operand and not sure else Confidence.PROVEN,
        because=("compiled code checks what export took for granted about sizes that only a run knows",),
        links=(*links, *story_links(story)),
        facts=facts,
        missing=missing,
        doubt="the wrapper at hand has this assert; that it is the model that ran is not quoted"
        if operand and not sure
        else None,
    )


def _asserts(case: ErrorCase, condition: str) -> Iterator[tuple[Source, int, str]]:
    words = f'"Expected {condition}'.encode()
    for code in case.evidence.base.wrappers[:64]:
        at = code.source.data.find(words)
        if at >= 0:
            line = code.source.line_at(at)
            yield code.source, line, code.source.line_text(line).strip()


def _sizes(case: ErrorCase, source: Source, condition: str) -> list[Link]:
    wrapper = next((c.wrapper for c in case.evidence.base.wrappers if c.source is source), None)
    if wrapper is None:
        return []
    found = []
    for symbol in dict.fromkeys(_SYMBOL.findall(condition)):
        size = next((s for s in wrapper.sizes if s.symbol == symbol), None)
        if size is not None:
            found.append(Link("size", size.text, source.place(size.line), Confidence.LIKELY))
    return found


RULE = Rule("AL204", "size-condition-broken", __doc__ or "")

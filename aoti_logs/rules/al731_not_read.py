"""What of a compiled model could not be read: the audit says nothing about it.

## What it says
That the wrapper's text is not in the package, that it is cut off, which of its statements no form fits, and which kernels'
bodies are not at hand.

## Why it matters
An audit without a finding is only worth as much as it has seen. Other findings say themselves when this makes them
less than proven.

## Example
`3 statements of the wrapper could not be read: what they do is not known`

## Evidence it needs
None: it speaks of evidence that is not there.

## What to do
Give the whole package, and the generated sources (`TORCHINDUCTOR_CACHE_DIR`, or the package's own `.wrapper.cpp` and
`.kernel.cpp`). Statements that are not read are worth a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.kernel.inside import is_defined
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence, Missing
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Finding

_WITH_TEXT = frozenset({Backend.CPP, Backend.TRITON})

RULE = Rule("AL731", "not-read", __doc__ or "")


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of each kind of text that the audit did not see."""
    view = case.view
    if view is None:
        yield case.finding(
            "AL731",
            "wrapper_missing",
            "the wrapper's text is not at hand: nothing is known of inputs, sizes and launches",
            warning=True,
            confidence=Confidence.UNKNOWN,
            missing=(
                Missing(
                    "the generated wrapper", "package with torch's own tools, which put it beside the library"
                ),
            ),
            doubt="the code is not at hand",
        )
        return
    if case.cut:
        yield case.finding(
            "AL731",
            "wrapper_cut",
            "the end of the wrapper is missing: launches and checks behind the cut are not known",
            warning=True,
            because=("a C++ wrapper has a comment behind its entry function, which is not there",),
        )
    unread = view.wrapper.unread
    if unread:
        what = "1 statement" if len(unread) == 1 else f"{len(unread):,} statements"
        yield case.finding(
            "AL731",
            "statements_not_read",
            f"{what} of the wrapper could not be read: what they do is not known",
            facts={"n_unread": len(unread)},
            links=[case.link("not read", line, text) for line, text in unread[:MOST_LINKS]],
        )
    python = view.wrapper.flavour == "jit_python"
    absent = []
    for name in view.wrapper.kernel_names:
        kernel = view.definition(name)
        # What torch.compile launches and has no text of its own chooses among kernels that have.
        gone = not python if kernel is None else kernel.backend in _WITH_TEXT and not is_defined(kernel)
        if gone:
            absent.append(name)
    if absent:
        number = "1 kernel" if len(absent) == 1 else f"{len(absent):,} kernels"
        verb = "is" if len(absent) == 1 else "are"
        yield case.finding(
            "AL731",
            "kernels_not_at_hand",
            f"the text of {number} {verb} not at hand: {listed(f'`{n}`' for n in absent)}",
            facts={"kernels": absent[:50], "n_kernels": len(absent)},
            missing=(
                Missing(
                    "the kernels' text",
                    "give the `.kernel.cpp` beside the wrapper, or the Inductor cache, as --context",
                ),
            ),
        )

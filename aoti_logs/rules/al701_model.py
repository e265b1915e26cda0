"""What a compiled model is, when its code is all that is given.

## What it says
For each wrapper that was given by itself (a `wrapper.cpp`, an `output_code.py`, a package): how it was compiled, how
many inputs, weights, kernels, launches and outputs it has, and what in it deserves a look: calls whose error code the
code ignores, statements that could not be read.

## Why it matters
Generated code is no failure, whatever strings stand in it: every `wrapper.cpp` contains the words `CUDA error: an
illegal memory access was encountered` and `Error: `. A call whose error code is ignored (scatter and index_put in
releases up to 2.13) can leave a wrong result without any text.

## Example
```
note[AL701]: AOTInductor for cpu: 3 inputs, 0 constants, 3 kernels, 3 kernel launches, 2 extern calls, 4 outputs
```

## Evidence it needs
A generated wrapper, and nothing that could have failed: no log and no trace among what was given.

## What to do
`aoti-logs code PATH` shows the model, its launches with their arguments, and the life of a buffer. Give the log of a
failing run, with the code as `--context`, to have the failure explained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model_facts import debug_calls, headline, model_facts, unchecked
from aoti_logs.code.sizes.missing_checks import Gap
from aoti_logs.explain import Confidence, Finding, Link
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.view import ModelView
    from aoti_logs.sources.source import Source

RULE = Rule("AL701", "model", __doc__)

_MODELS = 50
_LINKS = 5


def model_notes(subjects: Sequence[Source], evidence: Evidence) -> Iterator[Finding]:
    """Yield a note for each model whose wrapper is among the subjects."""
    told = 0
    for code in evidence.base.wrappers:
        if code.wrapper is None or not _given(code.names, subjects):
            continue
        if told == _MODELS:
            return
        told += 1
        yield _note(evidence.view(code.wrapper))


def _given(names: Sequence[str], subjects: Sequence[Source]) -> bool:
    """Tell whether a text, by the names of all of its copies, is a subject or lies in one."""
    own = {source.name for source in subjects}
    return any(
        name in own or name.partition("!")[0] in own or name.partition("#")[0] in own for name in names
    )


def _note(view: ModelView) -> Finding:
    source = view.wrapper.source
    ignored = unchecked(view)
    links = [
        Link("not checked", " ".join(launch.text.split()), source.place(launch.line))
        for launch in ignored[:_LINKS]
    ]
    notes = []
    equal = [m for m in view.missing_checks if m.gap is Gap.EQUAL]
    notes += [m.why for m in equal[:_LINKS]]
    if ignored:
        number = "one call returns" if len(ignored) == 1 else f"{len(ignored)} calls return"
        notes.append(f"{number} an error code that the code does not look at: when it fails, nothing says so")
    printed = sum(n for name, n in debug_calls(view).items() if "check" not in name)
    if printed:
        notes.append(
            f"compiled with the value printer: {printed:,} calls print or save tensors in every run, which costs time"
        )
    unread = view.wrapper.unread
    links += [Link("not read", " ".join(text.split()), source.place(line)) for line, text in unread[:_LINKS]]
    if unread:
        notes.append(
            f"{len(unread):,} statements of the wrapper could not be read; what they do is not known"
        )
    return Finding(
        "AL701",
        "compiled_model",
        "note",
        "note",
        Confidence.PROVEN,
        headline(view),
        model_facts(view),
        chain=tuple(links),
        notes=tuple(notes),
    )

"""A setting in the command of the run does not do what it looks like.

## What it says
Of the variables that stand before the command (`$ A=1 python serve.py`): which one means the opposite of its text, which
one no generated code at hand has anything of, which one comes too late for a model that is only loaded, which one does
nothing without another, and which name nothing reads. It is never the cause: where the run failed, it stands as a note
below the failure.

## Why it matters
Most settings of the debugging guides act when code is compiled, and the run goes on without a word when they are set
later. Whoever then reads "no NaN was reported", or "no input was refused", believes a check that never ran.

| text | what it does |
|---|---|
| `AOTI_RUNTIME_CHECK_INPUTS=false`, `=no`, `=` (nothing) | switches the checks ON: only unset, or a text that begins with `0`, is off. In code that torch 2.7 compiled `0` is on, too, and the empty text off. Code of 2.6 and older does not read it |
| `TORCHINDUCTOR_NAN_ASSERTS=true` | leaves the checks OFF: only `1` is on |
| `TORCHINDUCTOR_FORCE_DISABLE_CACHES=false` | switches the caches off: any text but `0` and nothing is on (2.7 and older: only `1` is on) |
| `PYTHONFAULTHANDLER=0` | switches it ON: any text that is not empty is on |
| `PYTHONUNBUFFERED=0` | leaves stdout buffered: this one is read as a number |

A setting that is given when a package is loaded or run, and acts when one is compiled, is told only where something shows
it: the generated code at hand has no trace of it, or the log shows a model being called and nothing of a compile.

## Example
```
$ AOTI_RUNTIME_CHECK_INPUTS=1 python run.py
Error: index out of bounds: 0 <= tmp7 < ks1
```
with a wrapper of torch 2.6, which never asks for the variable: no input was compared.

## Evidence it needs
The command in the log, as scripts write it above the output (`$ A=1 python serve.py`). The generated code makes it sure.

## What to do
`aoti-logs settings NAME` says how a variable is read, when, and since which release. What acts when compiling has to be
set for the compile, and the package made again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.index.episode import Episodes
from aoti_logs.explain import Finding, Link, Verdict
from aoti_logs.rules.command_setting import said_of
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.rules.log_notes import LogCase

_MOST_RUNS = 20


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for each setting; a log of very many runs is read at its first ones."""
    commands = [n for n in case.events.notes if n.kind == "command"]
    episodes = Episodes(case.events) if commands else None
    begun = [n.span.start for n in commands]
    seen: set[str] = set()
    for note in commands[:_MOST_RUNS]:
        env = {k: v for k, v in note.facts if k != "command"}
        if not env or episodes is None:
            continue
        for said in said_of(env, episodes.of(note.span.start).events, case.evidence):
            number = bisect_right(begun, note.span.start) if len(begun) > 1 else None
            if said.title in seen and number is not None:
                continue
            seen.add(said.title)
            facts = {"setting": said.name, "value": said.text, "problem": said.problem}
            yield Finding(
                rule="AL221",
                kind="setting",
                role="note",
                severity="note",
                confidence=said.confidence,
                title=said.title,
                facts=facts if number is None else facts | {"run_in_log": number},
                rank=case.source.rank,
                log=case.source.name,
                chain=(Link("command", note.span.text.strip()[:1000], note.span.place),),
                verdicts=(Verdict("AL221", said.title, said.confidence, said.because),),
            )


def with_settings(findings: Sequence[Finding]) -> list[Finding]:
    """Move what is said of settings below the failure of the same run, where there is one."""
    moved: set[int] = set()
    found = list(findings)
    for note in [f for f in findings if f.rule == "AL221"]:
        for at, cause in enumerate(found):
            if cause.role == "cause" and cause.facts.get("run_in_log") == note.facts.get("run_in_log"):
                place = note.chain[0].place
                where = f"{place.source.rpartition('/')[2]}:{place.line}" if place is not None else ""
                found[at] = replace(cause, notes=(*cause.notes, f"{note.title} (AL221, {where})"))
                moved.add(id(note))
    return [f for f in found if id(f) not in moved]


RULE = Rule("AL221", "setting-of-the-command", __doc__ or "")

"""The program uses an entry point that torch asks to leave, or that it has no more.

## What it says
Which function, and what to use instead. As long as torch only warns it is a note: the program goes on. A name that this torch has
no more is an error: then it says what took its place, where that is known.

## Why it matters
`torch._export.aot_compile` and `aot_load` make and load a bare `.so`, without its kernel files and metadata, which
breaks when it is moved; `aoti_compile_and_package` makes a package.

## Example
The banner of `+====+` lines and `torch._export.aot_compile()/torch._export.aot_load() is being deprecated, ...`, once a
process.

## Names that are gone
| name | what took its place |
|---|---|
| `torch._export.capture_pre_autograd_graph` (warned of in 2.4 and 2.6, gone in 2.9) | `torch.export.export(...).module()` |
| a value of `torch._inductor.config` or `torch._dynamo.config` | what `aoti-logs settings NAME` knows of it: until which release it was there, its newer name |

## Evidence it needs
The message of torch's logger, or the error.

## What to do
Change the calls as torch says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.aoti.load import deprecation
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogLine
    from aoti_logs.rules.error_case import ErrorCase, ErrorTold
    from aoti_logs.rules.log_notes import LogCase

_WORDS = ("is being deprecated", "is deprecated", "You no longer need to specify")
_BANNER = 4


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what took the place of a name that this torch has no more."""
    from aoti_logs.rules.removed_name import removed_name

    return removed_name(case)


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for each deprecated entry point."""
    messages = case.events.messages
    seen: set[tuple[str, ...]] = set()
    for number, message in enumerate(messages):
        if not any(words in message.text for words in _WORDS):
            continue
        finding = _finding(case, message, messages[max(0, number - _BANNER + 1) : number + 2])
        if finding is not None and tuple(finding.facts["deprecated_api"]) not in seen:
            seen.add(tuple(finding.facts["deprecated_api"]))
            yield finding


def _finding(case: LogCase, message: LogLine, near: tuple[LogLine, ...]) -> Finding | None:
    line = next((row for row in message.text.split("\n") if any(w in row for w in _WORDS)), "")
    found = deprecation(line.strip())
    if found is None:
        return None
    apis = [api.removesuffix("()") for api in (*found.get("API", []), *found.get("API_NAME", []))]
    banner = [
        m for m in near if m.module == message.module and abs(m.module_line - message.module_line) < _BANNER
    ]
    below = next((m for m in banner if m.text.startswith("Please switch to use ")), None)
    replacements = [r.removesuffix("()") for r in found.get("REPLACEMENT", [])]
    if below is not None:
        replacements = [below.text.removeprefix("Please switch to use ").removesuffix(" instead.").strip()]
    if "API_NAME" in found:
        replacements = [f"{apis[0]}(exported_program)"]
    what = ", ".join(f"`{api}`" for api in apis)
    instead = ", ".join(f"`{r}`" for r in replacements)
    verb = "is" if len(apis) == 1 else "are"
    title = f"{what} {verb} deprecated" + (f"; use {instead}" if instead else "")
    if "API_NAME" in found:
        title = f"{what} is given args that it no longer needs"
    facts = {
        "api": apis[0],
        "deprecated_api": apis,
        "replacement": replacements[0] if replacements else None,
        "replacements": replacements,
        "log_level": message.level[:1],
        "log_lines": [m.module_line for m in banner],
        "n_glog_records": sum(len(m.lines) for m in banner),
        "pid": message.process,
        "message": line.strip(),
    }
    return Finding(
        rule="AL218",
        kind="deprecation",
        role="note",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts=facts,
        rank=message.rank if message.rank is not None else case.source.rank,
        log=case.source.name,
        chain=(Link("warning", line.strip(), message.span.place),),
        verdicts=(Verdict("AL218", title, Confidence.PROVEN),),
    )


RULE = Rule("AL218", "deprecated-entry-point", __doc__ or "")

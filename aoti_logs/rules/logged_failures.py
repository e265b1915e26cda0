"""Failed compiles of which torch logged the exception: of a function that it then ran uncompiled (`WON'T CONVERT`, with
`suppress_errors`), or of anything else, where nothing says what became of the exception.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.python.logged_traceback import exceptions_in, not_converted
from aoti_logs.rules.failure_case import Function, Reached
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.log_failures import failure_case, failure_chains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source

_LEVELS = {"WARNING", "ERROR", "CRITICAL"}
_ARTIFACTS = {
    "graph_breaks",
    "recompiles",
    "guards",
}  # they tell of what is no failure, with rules of their own
_UNCOMPILED = (
    "torch logged the exception and ran the function uncompiled (torch._dynamo.config.suppress_errors)"
)
_DOUBT = "torch logged the exception; whether it also reached the program is not told"


def with_logged(
    told: Sequence[Finding], events: LogEvents, source: Source, evidence: Evidence
) -> list[Finding]:
    """Add one finding for each distinct failure that messages hold and no finding of the log tells for certain.

    What torch wrote before it raised the same exception (`doubt`) is not told twice: what was logged says more.

    Args:
        told: the findings of the log.
        events: the log's events.
        source: the log.
        evidence: what is at hand.
    """
    known = {(f.kind, f.facts.get("innermost")) for f in told if f.doubt is None}
    kinds = {f.kind for f in told}
    found: dict[tuple[str, str, int | None], Finding] = {}
    for message in events.messages:
        if message.level not in _LEVELS or message.artifact in _ARTIFACTS or "\n" not in message.text:
            continue
        chains, _ = failure_chains(exceptions_in(message))
        uncompiled = not_converted(message)
        for chain in chains[:1]:  # the same again below it
            case = failure_case(chain, source, evidence, ())
            case = replace(
                case,
                compile_id=message.compile_id,
                reached=Reached.HANDLED if uncompiled is not None else Reached.UNKNOWN,
                why_reached=_UNCOMPILED if uncompiled is not None else None,
                doubt=None if uncompiled is not None else _DOUBT,
                function=Function(uncompiled.name, uncompiled.file, uncompiled.line)
                if uncompiled is not None
                else None,
                rank=message.rank if message.rank is not None else source.rank,
                facts={**case.facts, "log_level": message.level[:1], "process": message.process},
            )
            finding = failure_finding(case)
            if (finding.kind, finding.facts.get("innermost")) in known:
                continue
            if uncompiled is None and finding.kind in kinds:
                continue  # a rule of its own has read this message
            found.setdefault((finding.kind, finding.title, finding.rank), finding)
    handled = [f for f in found.values() if f.doubt is None]
    return [f for f in told if not any(_same(f, other) for other in handled)] + list(found.values())


def _same(before: Finding, logged: Finding) -> bool:
    """Tell whether a message that torch wrote before it raised is about the exception that it then logged."""
    if before.doubt is None or before.kind != logged.kind or before.rank != logged.rank:
        return False
    if before.facts.get("innermost") == logged.facts.get("innermost"):
        return True
    return bool(before.chain) and logged.chain[0].text.endswith(before.chain[0].text)

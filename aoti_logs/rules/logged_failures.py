"""Failed compiles of which torch logged the exception: with nothing that says what became of it, they are told as that.

Functions that torch left uncompiled (`WON'T CONVERT`) are told by `rules/message_failures.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.unconverted import HEAD
from aoti_logs.parse.errors.pruned_choice import pruned_choice
from aoti_logs.parse.python.logged_traceback import exceptions_in
from aoti_logs.rules.failure_case import Reached
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.log_failures import failure_case, failure_chains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source

_LEVELS = {"WARNING", "ERROR", "CRITICAL"}
# They tell of what is no failure, with rules of their own.
_ARTIFACTS = {"graph_breaks", "recompiles", "guards"}
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
    kinds = {f.kind for f in told}
    found: dict[tuple[str, str, int | None], Finding] = {}
    for message in events.messages:
        if message.level not in _LEVELS or message.artifact in _ARTIFACTS or message.text.startswith(HEAD):
            continue
        if pruned_choice(message.text) is not None:
            continue  # autotuning left it out: no compile failed
        chains, _ = failure_chains(exceptions_in(message))
        for chain in chains[:1]:  # the same again below it
            case = failure_case(chain, source, evidence, ())
            case = replace(
                case,
                compile_id=message.compile_id,
                reached=Reached.UNKNOWN,
                doubt=_DOUBT,
                rank=message.rank if message.rank is not None else source.rank,
                facts={**case.facts, "log_level": message.level[:1], "process": message.process},
            )
            finding = failure_finding(case)
            if finding.kind in kinds:
                continue  # a rule of its own has read this message, or the exception was raised
            found.setdefault((finding.kind, finding.title, finding.rank), finding)
    handled = [f for f in told if f.role == "note" and f.doubt is None and "log_level" in f.facts]
    return [f for f in told if not any(_same(f, other) for other in handled)] + list(found.values())


def _same(before: Finding, logged: Finding) -> bool:
    """Tell whether a message that torch wrote before it raised is about the exception that it then logged."""
    if before.doubt is None or before.kind != logged.kind or before.rank != logged.rank:
        return False
    if before.facts.get("innermost") == logged.facts.get("innermost"):
        return True
    return bool(before.chain) and logged.chain[0].text.endswith(before.chain[0].text)

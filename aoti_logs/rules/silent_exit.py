"""Runs that ended without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict

if TYPE_CHECKING:
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source

_SIGNALS = {134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL", 139: "SIGSEGV", 143: "SIGTERM"}


def exit_finding(events: LogEvents, source: Source) -> list[Finding]:
    """Return a finding for a run that ended with a code other than 0 and printed no error."""
    for note in events.notes:
        code = dict(note.facts).get("code", "0") if note.kind == "exit" else "0"
        if not code.lstrip("-").isdigit() or len(code) > 6 or int(code) == 0:
            continue
        signal = _SIGNALS.get(int(code) if int(code) > 0 else 128 - int(code))
        title = f"the process ended with code {code}" + (f", {signal}" if signal else "")
        because = ("nothing in the log says why; stderr may have gone elsewhere",)
        return [
            Finding(
                rule="AL001",
                kind="segfault" if signal == "SIGSEGV" else "error",
                role="cause",
                severity="error",
                confidence=Confidence.UNKNOWN,
                title=title,
                facts={"exit_code": int(code), "signal": signal},
                log=source.name,
                rank=source.rank,
                chain=(Link("exit", title, note.span.place),),
                verdicts=(Verdict("AL001", title, Confidence.UNKNOWN, because),),
            )
        ]
    return []

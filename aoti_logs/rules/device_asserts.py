"""Failures that are neither a bounds check of generated code nor an error text: plain device asserts,
and runs that ended without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.consequences import consequences_of

if TYPE_CHECKING:
    from aoti_logs.parse.events import Assertion, LogEvents
    from aoti_logs.sources.source import Source

NAN_FOUND = "NaN or Inf found"
"""What `check_nan` of torch/_inductor/codegen/common.py asserts in a Triton kernel."""
_SIGNALS = {134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL", 139: "SIGSEGV", 143: "SIGTERM"}


def assert_finding(assertion: Assertion, events: LogEvents, source: Source) -> Finding:
    """Return the finding of a device assert that is not a check of generated code (ATen, user's own)."""
    path = assertion.file or ""
    own = "/aten/" in path or path.endswith((".cu", ".cuh", ".h"))
    title = f"a device-side assert failed: {assertion.message}"
    because = (
        "it stands in a kernel of PyTorch itself: an index that an operator was given is out of its range"
        if own
        else "the text is not a bounds check of generated code",
    )
    rule, kind, confidence = (
        "AL001",
        "aten_index_assert" if own else "triton_device_assert",
        Confidence.UNKNOWN,
    )
    if assertion.message == NAN_FOUND:
        rule, kind, confidence = "AL402", "nan_assert", Confidence.PROVEN
        title = "a value inside of a Triton kernel is NaN or infinite"
        because = ("TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS checks every value that the kernel computes",)
    where = f"{path}:{assertion.line}" if path else ""
    details = (f"{where} {assertion.function or ''}".strip(), f"{assertion.count:,} lines, one condition")
    consequences = consequences_of(events, assertion)
    facts = {
        "assertion": assertion.message,
        "file": assertion.file,
        "line": assertion.line,
        "function": assertion.function,
        "n_assert_lines": assertion.count,
        "n_blocks": assertion.n_blocks,
        "blocks": [list(b) for b in assertion.blocks],
        "threads": [t[0] if t[1:] == (0, 0) else list(t) for t in assertion.threads],
        "rank": assertion.rank,
        "consequences": [c.text for c in consequences],
    }
    return Finding(
        rule=rule,
        kind=kind,
        role="cause",
        severity="error",
        confidence=confidence,
        title=title,
        facts=facts,
        rank=assertion.rank if assertion.rank is not None else source.rank,
        log=source.name,
        chain=(Link("assertion", assertion.message, assertion.first.place, details=details),),
        verdicts=(Verdict(rule, title, confidence, because),),
        consequences=consequences,
    )


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

"""What identifies a failure over runs: never paths, process ids, addresses, times, ranks or sizes.

A signature has two kinds of parts. Those of the failure itself (what kind it is, what was said, which check of which
kernel, which frames) are the same whenever it is the same failure; those of the place (rule, file, line and function of
the user) change when the program is edited, or when more is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding

_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\w.@+~-]*[\\/])+(?=[\w.@+-])")
_HASH = re.compile(r"\bc[a-z2-7]{50,52}\b|\b[0-9a-f]{16,64}\b|\b[A-Z2-7]{40,64}\b")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_IDENTIFYING = (
    "op", "operator", "shim", "attribute", "input_name", "arg", "dim", "original_fqn", "constant_name", "resource", "status",
    "problem", "operation", "signal", "check", "position", "cuda_error", "failed_stage", "undefined_name", "sanitizer_check",
    "access", "error", "api", "phase", "component", "stack_signature",
)  # fmt: skip
"""Facts that say what failed, in words that no run changes."""
_MOST = 200  # characters of a text that identify it
_LONGEST_KERNEL = 2000  # lines


@dataclass(frozen=True)
class Signature:
    """The parts of a signature by name: `failure` decides whether two are the same, `place` where it stood.

    `told` are parts of `failure` as the log tells them, paths and numbers included: what a person is shown.
    """

    failure: Mapping[str, str]
    place: Mapping[str, str]
    told: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def digest(self) -> str:
        """16 hex digits that equal failures at equal places share."""
        parts = [f"{k}={v}" for part in (self.failure, self.place) for k, v in sorted(part.items())]
        return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def signature_of(finding: Finding, evidence: Evidence) -> Signature:
    """Collect what identifies a failure."""
    facts = finding.facts
    said, exception = _first_line(_said(finding)), str(facts.get("exception_type") or "")
    failure: dict[str, Any] = {
        "kind": finding.kind,
        "exception": _exception(exception),
        "said": _shape(said),
        "kernel": kernel_digest(finding, evidence),
    }
    named = {k: _first_line(str(facts[k])) for k in _IDENTIFYING if isinstance(facts.get(k), str | int)}
    failure |= {k: _shape(v) for k, v in named.items()}
    place: dict[str, Any] = {"rule": finding.rule}
    place |= dict(_user(facts))
    kept = [{k: str(v) for k, v in part.items() if v not in {None, ""}} for part in (failure, place)]
    return Signature(kept[0], kept[1], {"exception": exception, "said": said, **named})


def _exception(name: str) -> str:
    """Return the class without its module; AcceleratorError was RuntimeError before torch 2.8."""
    own = name.rpartition(".")[2]
    return "RuntimeError" if own == "AcceleratorError" else own


def known(finding: Finding, signature: Signature) -> bool:
    """Tell whether a signature says enough for an equal one to mean the same failure."""
    if finding.confidence is Confidence.UNKNOWN:
        return False
    if finding.kind.endswith("index_assert") and "assertion" in finding.facts:
        # The text of a bounds check stands in many kernels.
        return "kernel" in signature.failure or finding.kind == "aten_index_assert"
    return len(signature.failure.get("said", "")) > 0 or "stack_signature" in signature.failure


def signed(finding: Finding, evidence: Evidence) -> Finding:
    """Return a cause with `signature` among its facts: None where too little is known to identify it."""
    if finding.role != "cause":
        return finding
    signature = signature_of(finding, evidence)
    digest = signature.digest if known(finding, signature) else None
    return replace(finding, facts={**finding.facts, "signature": digest})


def _said(finding: Finding) -> str:
    facts = finding.facts
    for key in ("assertion", "innermost", "condition", "expression", "inner_error", "message"):
        if isinstance(facts.get(key), str) and facts[key]:
            return str(facts[key])
    return finding.title


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _shape(text: str) -> str:
    """Return the first line of a text without what differs from run to run."""
    line = _first_line(text)[:1000]
    return _NUMBER.sub("#", _HASH.sub("#", _PATH.sub("", line)))[:_MOST]


def _user(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    frame = facts.get("user_frame")
    if isinstance(frame, dict):
        found = (frame.get("file"), frame.get("line"), frame.get("function"))
    elif facts.get("python_file"):
        found = (facts["python_file"], facts.get("python_line_number"), None)
    else:
        return
    yield "file", re.split(r"[\\/]", str(found[0]))[-1]
    yield "line", found[1]
    yield "function", found[2]
    yield "code", facts.get("python_line") or (frame.get("code") if isinstance(frame, dict) else None)


def kernel_digest(finding: Finding, evidence: Evidence) -> str | None:
    """Return what equal kernels share: a digest of the body, whatever number its name ends in; None without its code."""
    facts = finding.facts
    name, told = facts.get("kernel"), str(facts.get("kernel_source") or "")
    source, _, line = told.rpartition(":")
    if not isinstance(name, str) or not source or not line.isdigit():
        return None
    for code in evidence.base.codes:
        if code.source.name != source:
            continue
        for kernel in code.kernels:
            if kernel.line <= int(line) <= kernel.end_line < kernel.line + _LONGEST_KERNEL:
                return _digest(kernel.source.lines_from(kernel.line, kernel.end_line), kernel.name)
    return None


def _digest(lines: list[str], name: str) -> str:
    """Digest the definition: from its head on, without comments, decorators and the number of its name."""
    triton = re.compile(rf"\s*def {re.escape(name)}\(")
    first = next((n for n, text in enumerate(lines) if triton.match(text)), None)
    comment = "//" if first is None else "#"
    kept = [text.split(comment)[0].strip() for text in lines[first or 0 :]]
    body = "\n".join(text for text in kept if text and not text.startswith("'''")).replace(name, "kernel")
    return sha256(body.encode("utf-8", "replace")).hexdigest()[:16]

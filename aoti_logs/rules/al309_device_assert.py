"""A device assert failed that is no bounds check of generated code.

## What it says
Which kernel asserted, and what that means: kernels of PyTorch itself (ATen) check the indices and values that an
operator was given. The condition tells the operator: `t >= 0 && t < n_classes` is a loss with a target that is no class,
`srcIndex < srcSelectDimSize` an embedding with an id beyond its table.

## Why it matters
The assertion names a C++ file and nothing of the program. The Python traceback below it shows where the host was when the
error was noticed, unless launches were waited for.

## Example
``IndexKernel.cu:93: operator(): block: [0,0,0], thread: [58,0,0] Assertion `index >= -sizes[i] && index < sizes[i] &&
"index out of bounds"` failed.``: advanced indexing with an index outside of [-size, size).

## Evidence it needs
The assertion lines. With `CUDA_LAUNCH_BLOCKING=1` the traceback is that of the operator.

## What to do
Print what the finding names just before the operator. The operator runs in eager code or as a fallback that compiled
code calls; no kernel of Inductor is at fault, so eager fails in the same way. On the CPU the same call usually raises an
exception that names the index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Finding, Link, Missing, Verdict
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.events import AssertionForm
from aoti_logs.rules.aten_asserts import aten_assert, is_aten, is_cuda_source
from aoti_logs.rules.consequences import consequences_of, follows
from aoti_logs.rules.device_experiments import wait_for_launches, waiting
from aoti_logs.rules.device_run import launch_blocking
from aoti_logs.rules.error_case import shown_command
from aoti_logs.rules.relation import is_secondary
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.user_frames import frame_text, user_frame

if TYPE_CHECKING:
    from aoti_logs.parse.events import Assertion, ErrorText, LogEvents
    from aoti_logs.rules.aten_asserts import AtenAssert
    from aoti_logs.rules.device_run import Blocking
    from aoti_logs.sources.source import Source

NAN_FOUND = "NaN or Inf found"
"""What `check_nan` of torch/_inductor/codegen/common.py asserts in a Triton kernel."""
_INJECTED = "injected assert fail"
"""What torch/_inductor/codegen/triton.py writes for `relu` under a switch that is for torch's own tests."""
_SWITCH = "torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY"
_WINDOWS = re.compile(r"[A-Za-z]:\\")
_BACKENDS = {
    AssertionForm.CUDA: "cuda",
    AssertionForm.HIP: "rocm",
    AssertionForm.XPU: "xpu",
    AssertionForm.CPU: "cpu",
}


def assert_finding(assertion: Assertion, events: LogEvents, source: Source) -> Finding:
    """Return the finding of a device assert that is not a check of generated code (ATen, user's own)."""
    known = aten_assert(assertion)
    title, because = _said(assertion, known)
    sureness = Confidence.PROVEN if known is not None else Confidence.UNKNOWN
    followers = [e for e in events.errors if follows(e, assertion)]
    blocking = launch_blocking(events, (device_fault(e.text or e.message) for e in followers))
    where = f"{assertion.file}:{assertion.line}" if assertion.file else ""
    details = (
        f"{where} {assertion.function or ''}".strip(),
        f"{assertion.count:,} line{'s' * (assertion.count != 1)}, one condition",
    )
    consequences = consequences_of(events, assertion)
    rule, kind = "AL309", _kind(assertion, known)
    if assertion.message == NAN_FOUND:
        rule, kind, sureness = "AL402", "nan_assert", Confidence.PROVEN
        title = "a value inside of a Triton kernel is NaN or infinite"
        because = ("TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS checks every value that the kernel computes",)
    fixes: tuple[str, ...] = ()
    injected = _is_injected(assertion)
    if injected:
        sureness = Confidence.LIKELY
        title = f"a device assert that torch injects for its own tests failed: {assertion.message}"
        because = (
            f'{_SWITCH} = "runtime_error" makes Inductor write it in place of `relu`; it fails for every value that is not 0',
        )
        fixes = (f"leave {_SWITCH} at None, and compile again",)
    verdict = Verdict(rule, title, sureness, because, (f"print {known.look}",) if known else (), fixes)
    return Finding(
        rule=rule,
        kind=kind,
        role="cause",
        severity="error",
        confidence=sureness,
        title=title,
        facts=_facts(assertion, known, blocking) | {"consequences": [c.text for c in consequences]},
        rank=assertion.rank if assertion.rank is not None else source.rank,
        log=source.name,
        chain=(
            Link("assertion", assertion.message, assertion.first.place, details=details),
            *_reporter(followers, blocking),
        ),
        missing=() if injected else _missing(assertion, followers, blocking),
        experiments=() if injected else _experiments(assertion, events, blocking),
        verdicts=(verdict,),
        consequences=consequences,
        doubt="the text is that of torch's own test switch, which nothing else shows to be set"
        if injected
        else None,
    )


def _is_injected(assertion: Assertion) -> bool:
    """Tell an assert of torch's test switch: its text, in the helper of Inductor that the switch calls."""
    file = re.split(r"[\\/]", assertion.file or "")[-1]
    return assertion.message == _INJECTED and file == "triton_helpers.py"


def _said(assertion: Assertion, known: AtenAssert | None) -> tuple[str, tuple[str, ...]]:
    if known is not None:
        return (
            known.title if known.operators else f"{known.title}: {assertion.message}",
            ("the assert stands in a kernel of PyTorch itself, which eager code runs, too",),
        )
    title = f"a device assert failed: {assertion.message}"
    if is_aten(assertion):
        return title, ("it stands in a kernel of PyTorch itself, which eager code runs, too",)
    if is_cuda_source(assertion):
        return title, ("it stands in a CUDA source that is neither generated code nor PyTorch's",)
    return title, ("the text is not a bounds check of generated code",)


def _kind(assertion: Assertion, known: AtenAssert | None) -> str:
    if is_aten(assertion):
        return "aten_index_assert" if known is None or known.index else "aten_value_assert"
    return "cuda_device_assert" if is_cuda_source(assertion) else "triton_device_assert"


def _facts(assertion: Assertion, known: AtenAssert | None, blocking: Blocking | None) -> dict[str, Any]:
    ids = [t[0] if t[1:] == (0, 0) else list(t) for t in assertion.threads]
    facts: dict[str, Any] = {
        "assertion": assertion.message,
        "file": assertion.file,
        "line": assertion.line,
        "function": assertion.function,
        "backend": _BACKENDS[assertion.form],
        "n_assert_lines": assertion.count,
        "n_blocks": assertion.n_blocks,
        "blocks": [list(b) for b in assertion.blocks],
        "threads": ids,
        "rank": assertion.rank,
        "asynchronous": blocking is None or not blocking.on,
    }
    if is_aten(assertion) or is_cuda_source(assertion):
        facts["generated_by_inductor"] = False
        facts["kernel_file"] = re.split(r"[\\/]", assertion.file or "")[-1]
    if known is not None:
        facts["operators"] = known.operators
    if _WINDOWS.match(assertion.file or ""):
        facts["platform"] = "windows"
    if blocking is not None:
        facts["launch_blocking"] = blocking.on
    return facts


def _reporter(followers: list[ErrorText], blocking: Blocking | None) -> tuple[Link, ...]:
    """Return the line of Python at which the error was noticed: the operator's own where launches were waited for."""
    told = (e.python_frames for e in followers if e.python_frames and not is_secondary(e))
    last = user_frame(next(told, ()))
    if last is None:
        return ()
    waited = blocking is not None and blocking.on
    text = frame_text(last)
    strength = Confidence.LIKELY if waited else Confidence.PROVEN
    return (Link("operator" if waited else "reported by", text, last.span.place, strength),)


def _missing(
    assertion: Assertion, followers: list[ErrorText], blocking: Blocking | None
) -> tuple[Missing, ...]:
    if blocking is not None and blocking.on and any(e.python_frames for e in followers):
        return ()
    variable = waiting(_BACKENDS[assertion.form])
    how = f"the same run with {variable}" if variable is not None else "the whole stderr of the run"
    return (Missing("the line of Python that called the operator", how),)


def _experiments(
    assertion: Assertion, events: LogEvents, blocking: Blocking | None
) -> tuple[Experiment, ...]:
    backend = _BACKENDS[assertion.form]
    if (blocking is not None and blocking.on) or waiting(backend) is None:
        return ()
    return (wait_for_launches(shown_command(events), backend),)


RULE = Rule("AL309", "device-assert", __doc__ or "")

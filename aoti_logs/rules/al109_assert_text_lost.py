"""A device-side assert failed, and its text is not in the log.

## What it says
The log holds `device-side assert triggered`, but no assertion line. The errors that are printed
(often a cuBLAS call or a shim call that looks guilty) come after it: a failed assert takes the whole
CUDA context down, and whatever runs next reports it.

## Why it matters
The assertion line is printed by the driver to stderr, apart from everything else. It is missing when
stderr was not kept, and sometimes when the process ended before the driver wrote it. The call that
raises is then the wrong place to look.

## Evidence it needs
The error text. With the wrapper at hand and a failing call in it
(`... API call failed at FILE.wrapper.cpp, line N`), the kernels with bounds checks that were launched
up to that line are candidates; they are listed, none is chosen. Kernels of ATen and of an earlier call of
the model may be it as well. Without the wrapper it says what to record.

## What to do
A model of AOTInductor: run once with `AOTI_RUNTIME_CHECK_INPUTS=1` (torch 2.7+), which names an input of another dtype,
size or stride than compiled for. Then with `CUDA_LAUNCH_BLOCKING=1`, and keep stderr: the launch that fails is the one
that raises, and the assertion line stands before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.asserts.dsa import dsa_failures
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.before_call import first_steps, kernels_before, unchecked_inputs
from aoti_logs.rules.device_experiments import waiting
from aoti_logs.rules.device_run import uses_aoti
from aoti_logs.rules.error_case import shown_command
from aoti_logs.rules.given_inputs import Given, given_inputs
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.sources.source import Source

_TEXT = "device-side assert triggered"


def judge(case: IndexCase) -> Verdict | None:
    """Never apply to a case with an assertion; `lost_assertion` makes the finding."""
    del case
    return None


def lost_assertion(
    errors: Sequence[ErrorText], events: LogEvents, source: Source, evidence: Evidence
) -> Finding | None:
    """Return the finding when errors speak of a device assert whose text was not printed."""
    told = next((e for e in errors if _TEXT in e.message and not dsa_failures(e.text)), None)
    rank = errors[0].rank
    if told is None or any(a.rank == rank or None in {a.rank, rank} for a in events.assertions):
        return None
    title = "a device-side assert failed, and its text is not in this log"
    candidates, count = kernels_before(errors, evidence, with_checks=True)
    fault = device_fault(told.text or told.message)
    backend = fault.backend if fault is not None else "cuda"
    lost = "the CUDA context" if backend == "cuda" else "the device"
    because = [f"{lost} was lost to a failed assert; the calls that report errors are its victims"]
    if count:
        kernels = "1 kernel" if count == 1 else f"{count} kernels"
        because.append(f"{kernels} of generated code with bounds checks came before the call that failed")
    given = given_inputs(events, evidence, told.span.start, rank) if uses_aoti(events) else Given()
    because += given.because
    unchecked = unchecked_inputs(events, evidence, given)
    because += [unchecked] if unchecked is not None else []
    experiments = first_steps(shown_command(events), errors, events, evidence, given)
    decide = tuple(f"run again with {'='.join(e.env[0])}" for e in experiments if e.env)
    verdict = Verdict("AL109", title, Confidence.UNKNOWN, tuple(because), decide)
    chain = [Link("error", told.message, told.span.place), *candidates, *(m.link for m in given.misfits)]
    told_later = ((e.message or "a traceback that lost its exception", e) for e in reversed(errors))
    later = {said: Link("follows", said, e.span.place) for said, e in told_later if e is not told}
    facts = {
        "message": told.message,
        "kernel_candidates": [c.text for c in candidates if c.place is not None],
        "consequences": list(reversed(later)),
    }
    kept, waits = "stderr of the run, in the same file as the rest", waiting(backend)
    waits = waits if any("=".join(e.env[0]) == waits for e in experiments) else None  # it was set already
    printed = f"{waits}: the driver then prints it before the call that fails returns"
    stderr = any(e.form is ErrorForm.TERMINATE or e.call_file for e in errors)  # both write there
    how = printed if stderr and waits is not None else kept if waits is None else f"{kept}; {printed}"
    return Finding(
        rule="AL109",
        kind="cuda_device_assert",
        role="cause",
        severity="error",
        confidence=Confidence.UNKNOWN,
        title=title,
        facts=facts,
        rank=rank if rank is not None else source.rank,
        log=source.name,
        chain=tuple(chain),
        missing=(Missing("the assertion line, which names the kernel's file and line", how),),
        experiments=experiments,
        verdicts=(verdict,),
        consequences=tuple(reversed(later.values())),
    )


RULE = Rule("AL109", "assert-text-lost", __doc__ or "", judge)

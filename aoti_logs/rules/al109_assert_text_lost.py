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
Run again with `CUDA_LAUNCH_BLOCKING=1` and keep stderr: the launch that fails is then the one that
raises, and the assertion line stands before it. For a model of AOTInductor also compare its inputs with what it was
compiled for (`AOTI_RUNTIME_CHECK_INPUTS=1`): int32 ids that are read as int64 end like this.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import common_tail
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence, Experiment, Finding, Link, Missing, Verdict
from aoti_logs.parse.asserts.dsa import dsa_failures
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.rules.device_experiments import wait_for_launches, waiting
from aoti_logs.rules.device_run import uses_aoti
from aoti_logs.rules.error_case import shown_command
from aoti_logs.rules.given_inputs import Given, given_inputs
from aoti_logs.rules.input_experiments import check_inputs
from aoti_logs.rules.model_death import compared
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.sources.source import Source

_TEXT = "device-side assert triggered"
_SHOWN = 12


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
    candidates = list(_candidates(errors, evidence))
    fault = device_fault(told.text or told.message)
    backend = fault.backend if fault is not None else "cuda"
    lost = "the CUDA context" if backend == "cuda" else "the device"
    because = [f"{lost} was lost to a failed assert; the calls that report errors are its victims"]
    if candidates:
        count = f"{len(candidates)} kernel" + "s" * (len(candidates) != 1)
        because.append(f"{count} of generated code with bounds checks came before the call that failed")
    aoti = uses_aoti(events)
    given = given_inputs(events, evidence, told.span.start) if aoti else Given()
    because += given.because
    unchecked = aoti and not given.settled and not compared(evidence, events)
    if unchecked:
        because.append(
            "possible: int32 ids read as int64, or another input that does not fit; nothing tests that unless asked to"
        )
    how = waiting(backend)
    decide = (f"run again with {how} and keep stderr",) if how is not None else ()
    verdict = Verdict("AL109", title, Confidence.UNKNOWN, tuple(because), decide)
    chain = [
        Link("error", told.message, told.span.place),
        *candidates[:_SHOWN],
        *(m.link for m in given.misfits),
    ]
    if len(candidates) > _SHOWN:
        chain.append(Link("candidate", f"and {len(candidates) - _SHOWN} more", None, Confidence.POSSIBLE))
    told_later = ((e.message or "a traceback that lost its exception", e) for e in reversed(errors))
    later = {said: Link("follows", said, e.span.place) for said, e in told_later if e is not told}
    facts = {
        "message": told.message,
        "kernel_candidates": [c.text for c in candidates],
        "consequences": list(reversed(later)),
    }
    stderr = "stderr of the run, in the same file as the rest"
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
        missing=(Missing("the assertion line, which names the kernel's file and line", stderr),),
        experiments=(
            *(() if how is None else (_waited(shown_command(events), backend),)),
            *(check_inputs(shown_command(events), evidence) if unchecked else ()),
        ),
        verdicts=(verdict,),
        consequences=tuple(reversed(later.values())),
    )


def _waited(command: str, backend: str) -> Experiment:
    why = "the launch that fails is then the one that raises, and the assertion line stands before it"
    return replace(wait_for_launches(command, backend), why=why, care=None)


def _named(errors: Sequence[ErrorText], evidence: Evidence) -> Iterator[tuple[Wrapper, int]]:
    """Yield the wrappers that a failed call names, with the last line of such a call."""
    failed = [(e.call_file, e.call_line) for e in errors if e.call_file and e.call_line]
    for code in evidence.base.wrappers if failed else ():
        lines = [n for path, n in failed if any(common_tail(path, name) for name in code.names)]
        if code.wrapper is not None and lines:
            yield code.wrapper, max(lines)


def _candidates(errors: Sequence[ErrorText], evidence: Evidence) -> Iterator[Link]:
    """Yield the launches of kernels with checks up to the line of the call that failed."""
    for wrapper, last in _named(errors, evidence):
        for launch in wrapper.launches:
            kernel = wrapper.kernel(launch.kernel) if launch.backend is Backend.TRITON else None
            if kernel is not None and kernel.asserts and launch.line <= last:
                place = wrapper.source.place(launch.line)
                checks = "; ".join(dict.fromkeys(text for _, text in kernel.asserts))
                yield Link("candidate", launch.kernel, place, Confidence.POSSIBLE, (checks,))


RULE = Rule("AL109", "assert-text-lost", __doc__ or "", judge)

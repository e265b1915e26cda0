"""What came before the call that reported a fault of the device: kernels that may be it, inputs that nothing checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.codebase import common_tail
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.rules.device_experiments import wait_for_launches, waiting
from aoti_logs.rules.device_run import inputs_checked, launch_blocking, uses_aoti
from aoti_logs.rules.input_experiments import check_inputs
from aoti_logs.rules.model_death import compared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.codebase import Code, Wrapper
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Experiment
    from aoti_logs.parse.errors.device_fault import DeviceFault
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.rules.given_inputs import Given

_SHOWN = 12


def sticky_fault(errors: Sequence[ErrorText]) -> tuple[DeviceFault, ErrorText] | None:
    """Return the first fault after which a device answers nothing else, and who tells it."""
    for error in errors:
        fault = device_fault(error.text)
        if fault is not None and fault.error is not None and fault.error.sticky:
            return fault, error
    return None


def kernels_before(
    errors: Sequence[ErrorText], evidence: Evidence, *, with_checks: bool
) -> tuple[list[Link], int]:
    """Return links to the generated GPU kernels launched up to the failing call, at most some, and how many there are.

    Args:
        errors: those of the failure; some name a line of a wrapper.
        evidence: all that is at hand.
        with_checks: only kernels with bounds checks.
    """
    found = list(_candidates(errors, evidence, with_checks))
    links = found[:_SHOWN]
    if len(found) > _SHOWN:
        links.append(Link("candidate", f"and {len(found) - _SHOWN} more", None, Confidence.POSSIBLE))
    return links, len(found)


def _wrappers(errors: Sequence[ErrorText], evidence: Evidence) -> Iterator[tuple[Wrapper, int]]:
    failed = [(e.call_file, e.call_line) for e in errors if e.call_file and e.call_line]
    for code in evidence.base.wrappers if failed else ():
        lines = [n for path, n in failed if _named(code, path)]
        if code.wrapper is not None and lines:
            yield code.wrapper, max(lines)


def _named(code: Code, path: str) -> bool:
    return any(common_tail(path, name) for name in code.names)


def _candidates(errors: Sequence[ErrorText], evidence: Evidence, with_checks: bool) -> Iterator[Link]:
    for wrapper, last in _wrappers(errors, evidence):
        for launch in wrapper.launches:
            kernel = wrapper.kernel(launch.kernel) if launch.backend is Backend.TRITON else None
            if kernel is not None and launch.line <= last and (kernel.asserts or not with_checks):
                place = wrapper.source.place(launch.line)
                checks = "; ".join(dict.fromkeys(text for _, text in kernel.asserts))
                yield Link(
                    "candidate", launch.kernel, place, Confidence.POSSIBLE, (checks,) if checks else ()
                )


def unchecked_inputs(events: LogEvents, evidence: Evidence, given: Given) -> str | None:
    """Say that nothing compared a model's inputs with what it was compiled for; None where something shows otherwise."""
    if not uses_aoti(events) or given.settled or compared(evidence, events):
        return None
    if inputs_checked(events) and not evidence.releases.before((2, 7)):
        return None
    if evidence.releases.before((2, 7)):
        said = "the code at hand has no checks of inputs"
    elif any(n.kind == "command" for n in events.notes):
        said = "the inputs were not checked as far as the log shows (AOTI_RUNTIME_CHECK_INPUTS is not set in the shown command)"
    else:
        said = "nothing shows that the inputs were checked"
    return (
        f"{said}: possible are an input of another dtype than compiled for (int32 read as "
        "int64), on another device, with other sizes or strides, or an id out of range"
    )


def first_steps(
    command: str, errors: Sequence[ErrorText], events: LogEvents, evidence: Evidence, given: Given
) -> tuple[Experiment, ...]:
    """Return the two cheapest steps: compare the inputs, then wait for each launch; without what was done already."""
    found: list[Experiment] = []
    if unchecked_inputs(events, evidence, given) is not None:
        found += check_inputs(command, evidence)
    faults = [device_fault(e.text) for e in errors]
    waited = launch_blocking(events, faults)
    backend = next((f.backend for f in faults if f is not None), "cuda")
    if waiting(backend) is not None and (waited is None or not waited.on):
        found.append(wait_for_launches(command, backend))
    return tuple(found)

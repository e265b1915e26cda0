"""What is missing of an index case, and how to record it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.index.case import prints_values
from aoti_logs.code.model import ArgumentKind
from aoti_logs.explain import Confidence, Missing
from aoti_logs.parse.events import AssertionForm
from aoti_logs.rules.device_experiments import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.other_stream import Elsewhere
    from aoti_logs.code.view import Tensor

_RECORDS = (b"before_launch - ", b"after_launch - ", b"aoti_model_inputs - ")
"""What heads of the value printer hold (torch/csrc/inductor/aoti_torch/shim_common.cpp, debug_utils.py)."""
_BACKENDS = {AssertionForm.CUDA: "cuda", AssertionForm.HIP: "rocm"}
_STDERR = "the whole stderr of the run: `Exception raised from KERNEL at FILE:LINE` and the frames below it"


def missing_of(case: IndexCase) -> tuple[Missing, ...]:
    """Return the links that could not be made and how to record them."""
    if case.site is None:
        code = (
            "the compile's cache folder or .pt2 package given with --context, or a TORCH_TRACE of the compile"
        )
        return (
            Missing("kernel, launch, sizes and inputs: no generated code at hand holds this check", code),
        )
    found = [*_missing_place(case)]
    if case.site.wrapper is None:
        found.append(
            Missing(
                "launch: no wrapper at hand launches this kernel",
                "the .wrapper.cpp, the .pt2, or the output_code.py of the same compile given with --context",
            )
        )
    elif case.launch is None:
        found.append(
            Missing(
                f"launch of {case.site.kernel.name} in {case.site.wrapper.source.name}",
                "the complete wrapper",
            )
        )
    if case.view is not None:
        found += [*_missing_values(case), *_missing_names(case)]
    if case.slice is None:
        found.append(
            Missing("where the index comes from: the kernel's body could not be read", "the kernel's text")
        )
    elif case.slice.unread_lines:
        lines = ", ".join(str(n) for n in case.slice.unread_lines[:5])
        found.append(
            Missing(f"the kernel's lines {lines} could not be read; the index may have more sources", "-")
        )
    return tuple(found)


def _missing_place(case: IndexCase) -> Iterator[Missing]:
    """Say what would tell which check and which launch it was, where that is not certain."""
    cpu = case.assertion.form is AssertionForm.CPU
    variable = waiting(_BACKENDS.get(case.assertion.form, ""))
    if cpu and not case.assertion.file and case.strength is not Confidence.PROVEN:
        what = "which of them failed" if len(case.sites) > 1 else "that it was this kernel"
        yield Missing(f"{what}: the log does not name the kernel's file", _STDERR)
    elif len(case.sites) > 1:
        yield Missing(
            "which of them failed: several checks fit what the log says of the kernel's file",
            _STDERR
            if cpu
            else "the assertion lines as they were printed, with the whole path of the kernel's file",
        )
    elif len(case.launches) > 1:
        yield Missing(
            f"which of {len(case.launches)} launches failed",
            "the whole stderr (a frame or a line of Python names the line of the wrapper)"
            + (f" of a run with {variable}" if variable is not None else ""),
        )


def _missing_values(case: IndexCase) -> Iterator[Missing]:
    if prints_unseen(case):
        yield Missing(
            "the values that this wrapper prints before each launch", "stdout of the run, unbuffered"
        )
    other = unbound(case)
    if other is not None:
        yield Missing(
            f"whether values printed in {other.source.name} are of the call that failed ({other.why})",
            "stdout and stderr of one run in one log, in order: PYTHONUNBUFFERED=1 before its command, `> run.log 2>&1` behind it",
        )


def prints_unseen(case: IndexCase) -> bool:
    """Tell whether the code at hand prints values of which nothing at all is in the log, above the failure or below."""
    if case.view is None or case.numbers.printed or case.numbers.elsewhere is not None:
        return False
    log = case.assertion.first.source.data
    return prints_values(case.view.wrapper.source) and not any(log.find(head) >= 0 for head in _RECORDS)


def unbound(case: IndexCase) -> Elsewhere | None:
    """Return values that are printed elsewhere, and may or may not be those of the call that failed."""
    return case.numbers.elsewhere if not case.numbers.dumps else None


def _missing_names(case: IndexCase) -> Iterator[Missing]:
    unnamed = [
        t.arg
        for t in (*(i.tensor for i in case.index), *(i.tensor for i in case.indexed), *_term_tensors(case))
        if t is not None and t.kind is ArgumentKind.INPUT and t.name is None
    ]
    if unnamed:
        yield Missing(
            f"the user's name of {', '.join(dict.fromkeys(unnamed))}",
            "TORCH_TRACE=dir when compiling, or the printed ExportedProgram in a log",
        )
    if case.bound is not None and any(not t.has_range for t in case.bound.terms):
        yield Missing(
            "the range that the size was compiled for", "TORCH_TRACE=dir or TORCH_LOGS=dynamic when compiling"
        )
    if not case.python:
        yield Missing(
            "the Python line",
            "INDUCTOR_PROVENANCE=1 when compiling (torch 2.9+), or TORCH_TRACE=dir for the graphs",
        )


def _term_tensors(case: IndexCase) -> Iterator[Tensor | None]:
    if case.bound is not None:
        for term in case.bound.terms:
            yield term.tensor

"""One failed call of AOTInductor, told up to four times: what a shim logged, `Error: ...` on stderr, and an exception.

The texts differ. Until torch 2.11 a shim logs what ATen said, stderr names the shim's call, and Python or
`terminate` only the runner's call; from 2.12 on the exception has what ATen said, and nothing is logged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.parse.aoti.facts import FailedCall, ShimException, operator_of
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.user_frames import frame_link, user_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.error_case import ErrorCase

_RUNNER = re.compile(
    r"\b(?:boxed_run|run)\(flat_inputs\)|\bAOTIModel(?:PackageLoader|ContainerRunner)|loader\.(?:boxed_run|run|load_constants)\("
)
_CALLER = re.compile(
    r"torch/(?:export/pt2_archive/_package|_inductor/package/package)\.py:__call__$|/_export/__init__\.py:optimized$"
)
_LOADS = re.compile(r"\b(?:load_package|aoti_load_package|aot_load|load_pt2|_load_aoti)\b")
_LOADS_BY_NAME = re.compile(r"\b(?:package\.load_package|aoti_load_package|aot_load|load_pt2|_load_aoti)\b")
_OF_TORCH = re.compile(r"[\\/]torch[\\/]")
_MODEL = re.compile(r"torch::aot_inductor::|\bAOTInductorModel|torch::inductor::AOTI")
_STRUCTURED = re.compile(
    r"\bat::(?:meta|native)::structured_(\w+?)(?:_out)?(?:_(?:cpu|cuda|meta))?::(?:meta|impl)\("
)
_OPS = re.compile(r"\bat::_ops::(\w+)::(?:call|redispatch)\b")
_SHIM = re.compile(r"\b(aoti_torch_\w+)$")


_ENDS = {ErrorForm.PYTHON, ErrorForm.TERMINATE}
_OTHERS = {ErrorForm.SIGNAL, ErrorForm.CUDA, ErrorForm.COMPILER, ErrorForm.CPP}
"""Forms in which no part of a failed call is printed."""


@dataclass(frozen=True)
class Story:
    """The printings of one failure, in the order of the log.

    `said` tells what failed, in ATen's or the runtime's own words; None where no printing has them.
    """

    first: ErrorText
    said: ErrorText | None
    logged: ErrorText | None
    """What the shim logged."""
    shim: ErrorText | None
    """`SHIM(...) API call failed at FILE.wrapper.cpp, line N`."""
    runner: ErrorText | None
    """`run_func_(...) API call failed at model_container_runner.cpp, line N`."""
    raised: ErrorText | None
    """The Python exception or `terminate` that it ended in."""

    @property
    def told(self) -> tuple[ErrorText, ...]:
        """Every printing, once."""
        parts = (self.logged, self.first, self.shim, self.said, self.runner, self.raised)
        return tuple({id(e): e for e in parts if e is not None}.values())

    @property
    def call(self) -> FailedCall | None:
        """The shim's call."""
        return _call(self.shim)

    @property
    def runner_call(self) -> FailedCall | None:
        """The runner's call."""
        return _call(self.runner)

    @property
    def from_model(self) -> bool:
        """True when a printing shows that a model of AOTInductor raised it."""
        if self.shim is not None or self.runner is not None or self.logged is not None:
            return True
        return any(_through_runner(e) or _in_model(e) for e in self.told)


def _call(error: ErrorText | None) -> FailedCall | None:
    return error.detail if error is not None and isinstance(error.detail, FailedCall) else None


def story_of(case: ErrorCase) -> Story:
    """Collect the printings of the failure that begins with the error of a case."""
    told = list(_printings(case))
    logged = next((e for e in told if isinstance(e.detail, ShimException)), None)
    calls = [(e, c) for e in told if (c := _call(e)) is not None]
    words = [e for e in told if _call(e) is None and e.message]
    ended = told[-1] if told[-1].form in _ENDS else None
    said = logged or next(iter(words), None)
    return Story(
        first=case.error,
        said=said,
        logged=logged,
        shim=next((e for e, c in calls if not c.is_runner), None),
        runner=next((e for e, c in calls if c.is_runner), None),
        raised=ended,
    )


def _printings(case: ErrorCase) -> Iterator[ErrorText]:
    """Yield the error and what tells of the same failure, up to the exception in which it ends."""
    seen: set[ErrorForm] = set()
    for error in case.group[case.group.index(case.error) :]:
        form = error.form
        if error is case.error:
            yield error
        elif form in _OTHERS:
            continue
        elif form in _ENDS:
            if _belongs(error, case.error, alone=len(seen) > 0):
                yield error
            return
        elif form in seen or ErrorForm.AOTI_ERROR in seen:
            return  # the library prints once for each failure: this is the next one
        else:
            yield error
        if form in _ENDS or form in _OTHERS:
            return
        seen.add(form)


def _belongs(error: ErrorText, first: ErrorText, *, alone: bool) -> bool:
    """Tell whether an exception hands on what was printed before it."""
    if error.form is ErrorForm.TERMINATE:
        return True
    if isinstance(error.detail, FailedCall) or error.message == first.message or _through_runner(error):
        return True
    return alone and not error.python_frames and error.message != ""


def _through_runner(error: ErrorText) -> bool:
    """Tell whether a traceback ends in the call of a loaded model."""
    last = error.python_frames[-1] if error.python_frames else None
    if last is None:
        return False
    return (
        _RUNNER.search(last.code or "") is not None
        or _CALLER.search(f"{last.file}:{last.function}") is not None
    )


def loads_package(error: ErrorText) -> bool:
    """Tell whether a traceback goes through the loading of a package: a program may call its own functions so."""
    return any(
        (_OF_TORCH.search(f.file) and _LOADS.search(f"{f.function} {f.code or ''}"))
        or _LOADS_BY_NAME.search(f.code or "")
        for f in error.python_frames
    )


def _in_model(error: ErrorText) -> bool:
    frames = error.stack.frames if error.stack is not None else ()
    return any(f.symbol and _MODEL.search(f.symbol) for f in frames)


def operator_in_stack(error: ErrorText | None) -> str | None:
    """Return the ATen operator that raised, as the frames of its stack name it."""
    frames = error.stack.frames if error is not None and error.stack is not None else ()
    symbols = [f.symbol for f in frames if f.symbol]
    for pattern in (_SHIM, _OPS, _STRUCTURED):
        for symbol in symbols:
            found = pattern.search(symbol)
            if found is not None:
                return operator_of(found[1]) if pattern is _SHIM else found[1]
    return None


def in_short(message: str) -> str:
    """Return a message without what PyTorch appends to a check that has no text of its own."""
    return message.partition("  (Could this error message be improved?")[0]


def about_nan(story: Story) -> bool:
    """Tell whether a check for NaN or infinity failed: another rule speaks of those."""
    call = story.call
    if call is not None and call.name == "aoti_torch_check_inf_and_nan":
        return True
    return story.said is not None and story.said.message.startswith(
        ("At least one NaN in ", "At least one INF in ")
    )


def story_facts(story: Story) -> dict[str, Any]:
    """Return what the printings of a failure say together, as plain values."""
    facts: dict[str, Any] = {}
    said = story.said
    if said is not None and story.first is not said:
        facts["message"] = said.message
    if said is not None and (story.shim or story.runner):
        facts["inner_error"] = said.message
    raised = story.raised
    if raised is not None:
        facts["exception_type"] = raised.exception_type
        if raised.python_frames:
            last = raised.python_frames[-1]
            facts["last_frame"] = {"file": last.file, "line": last.line, "function": last.function}
            facts["n_python_frames"] = len(raised.python_frames)
            own = user_frame(raised.python_frames)
            if own is not None:
                facts["user_frame"] = {"file": own.file, "line": own.line, "function": own.function}
    origin = next((e.raised_from for e in story.told if e.raised_from is not None), None)
    if origin is not None:
        facts["raised_from"] = {"function": origin.function, "file": origin.file, "line": origin.line}
    runner, shim = story.runner_call, story.call
    if runner is not None:
        facts |= {"api": runner.name, "phase": runner.phase, "file": runner.file, "line": runner.line}
    if shim is not None:
        facts |= {
            "shim": shim.name,
            "call": story.shim.call if story.shim is not None else None,
            "arguments": list(shim.arguments),
            "wrapper_file": shim.file,
            "wrapper_line": shim.line,
        }
    logged = story.logged.detail if story.logged is not None else None
    if isinstance(logged, ShimException):
        facts["glog"] = {
            "level": logged.level,
            "month": logged.month,
            "day": logged.day,
            "time": logged.time,
            "file": logged.file,
            "line": logged.line,
        }
    return facts


def story_links(story: Story) -> tuple[Link, ...]:
    """Quote the printings beside the first, and the line of the user's code."""
    links = []
    for step, error in (("call", story.shim), ("said", story.said), ("runner", story.runner)):
        if error is not None and error is not story.first:
            links.append(Link(step, error.message, error.span.place))
    raised = story.raised
    if raised is not None and raised is not story.first:
        frame = user_frame(raised.python_frames)
        if frame is not None:
            links.append(frame_link("called", frame))
    return tuple(links)

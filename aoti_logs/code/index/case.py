"""One failed bounds check with all that the evidence says about it, before any judgement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from aoti_logs.code.index.case_parts import Bound, Indexed, IndexSource
from aoti_logs.code.index.joiner import Joiner
from aoti_logs.code.index.launchers import Hints, launch_of
from aoti_logs.code.index.locate import Site, locate
from aoti_logs.code.index.numbers import Numbers
from aoti_logs.code.kernel.lane_mask import hides_high_only
from aoti_logs.code.kernel.launch_shape import threads_of_blocks
from aoti_logs.code.kernel.slice import Slice, checks_with, slice_check
from aoti_logs.code.model import Backend
from aoti_logs.code.view import ModelView
from aoti_logs.explain import Confidence, weakest
from aoti_logs.parse.events import AssertionForm

if TYPE_CHECKING:
    from aoti_logs.code.body import Body, Check
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Launch
    from aoti_logs.code.names.python_line import PythonLine
    from aoti_logs.parse.events import Assertion, LogEvents
    from aoti_logs.sources.source import Source

MOST = 8
"""So many other places that fit are looked at."""


@dataclass(frozen=True)
class IndexCase:
    """Everything known about one failed bounds check."""

    assertion: Assertion
    sites: tuple[Site, ...]
    site: Site | None
    """The only site, or the first of equal ones (`strength` then says POSSIBLE)."""
    view: ModelView | None
    launches: tuple[Launch, ...]
    launch_strength: Confidence
    launch_why: str
    slice: Slice | None
    bound: Bound | None
    index: tuple[IndexSource, ...]
    indexed: tuple[Indexed, ...]
    numbers: Numbers
    python: tuple[PythonLine, ...]
    threads: int | None
    """How many threads the blocks have that printed, where the wrapper tells it."""
    checks_on: bool | None
    """AOTI_RUNTIME_CHECK_INPUTS as the log's command line sets it; None when nothing tells."""
    others: tuple[IndexCase, ...] = ()
    """The same failure at each other check or launch that fits as well; theirs are empty."""
    more: int = 0
    """How many of these are left out of `others`."""
    passed: tuple[tuple[int, int, int], tuple[int, int]] | None = None
    """A block, a thread of it that no mask hides and that printed nothing, and one of its warp that failed."""

    @property
    def launch(self) -> Launch | None:
        """The launch that is quoted: the only one, or the first of several."""
        return self.launches[0] if self.launches else None

    @property
    def strength(self) -> Confidence:
        """How well the way from assertion to launch is known."""
        if self.site is None:
            return Confidence.UNKNOWN
        several = Confidence.POSSIBLE if len(self.sites) > 1 else Confidence.PROVEN
        return weakest(self.site.strength, self.site.wrapper_strength, self.launch_strength, several)

    @property
    def compiled(self) -> str | None:
        """`aoti_cpp`, `jit_python`, `jit_cpp`, or None without a wrapper."""
        return self.view.wrapper.flavour if self.view else None


def build_case(assertion: Assertion, events: LogEvents, evidence: Evidence) -> IndexCase:
    """Join an assertion with the code and the facts at hand.

    `events` are those of the run that the assertion belongs to (`code/index/episode.py`).
    """
    checks_on, blocking = (
        _switch(events, "AOTI_RUNTIME_CHECK_INPUTS"),
        _switch(events, "CUDA_LAUNCH_BLOCKING"),
    )
    # A GPU reports later, at whatever call comes next, unless launches wait for their end.
    in_time = assertion.form is AssertionForm.CPU or bool(blocking)
    hints = _hints(assertion, events, in_time)
    sites = locate(assertion, evidence.base, hints)
    if not sites:
        numbers = Numbers.before(events, assertion.first.start)
        bound = _bound_of_text(assertion)
        return IndexCase(
            assertion,
            (),
            None,
            None,
            (),
            Confidence.UNKNOWN,
            "",
            None,
            bound,
            (),
            (),
            numbers,
            (),
            None,
            checks_on,
        )
    join = partial(_joined, assertion, events, evidence, sites, hints, checks_on)
    case, elsewhere = join(sites[0]), 0
    others: list[IndexCase] = []
    for site in sites:
        first = case if site is sites[0] else None
        if first is None and len(others) < MOST:
            others.append(first := join(site))
        left = range(1, len(first.launches)) if first is not None else (0,)
        others += [join(site, n) for n in left[: MOST - len(others)]]
        elsewhere += len(left) + (site is not sites[0] and first is not None)
    return replace(case, others=tuple(others), more=elsewhere - len(others))


def _joined(
    assertion: Assertion,
    events: LogEvents,
    evidence: Evidence,
    sites: tuple[Site, ...],
    hints: Hints,
    checks_on: bool | None,
    site: Site,
    nth: int = 0,
) -> IndexCase:
    """Join what one check says; the launch that is quoted is the `nth` of those that fit."""
    view = evidence.view(site.wrapper) if site.wrapper is not None else None
    launches, strength, why = launch_of(site, hints)
    body = evidence.body(site.kernel)
    check = next((c for c in checks_with(body, assertion.message) if c.line == site.line), None)
    check = check or next(iter(checks_with(body, assertion.message)), None)
    sliced = slice_check(body, check) if check is not None else None
    name = launches[0].kernel if launches else site.kernel.name
    numbers = _numbers(assertion, events, site, name, evidence)
    if len(launches) > 1 and (started := numbers.started_with(name)):
        # The value printer announces the arguments of each launch before it starts.
        fitting = tuple(k for k in launches if started <= {a.name for a in k.arguments})
        if len(fitting) == 1:
            launches, strength, why = (
                fitting,
                numbers.strength,
                "the value printer announced this launch last",
            )
    launches = (*launches[nth:], *launches[:nth])
    launch = launches[0] if launches else None
    if len(launches) > 1 or len(sites) > 1:
        # Which of them failed is not known, so no number may be taken for its own.
        numbers = Numbers((), (), numbers.printed, elsewhere=numbers.elsewhere)
    joiner = Joiner(view, launch, numbers, evidence)
    bound = joiner.bound(assertion, sliced) or _bound_of_text(assertion)
    index = joiner.index(sliced, body) if sliced is not None else ()
    indexed = joiner.indexed(sliced, bound) if sliced is not None else ()
    python = evidence.python_lines(site, launch, index, indexed) if view is not None else ()
    threads = threads_of_blocks(assertion, site.wrapper, name) if site.wrapper is not None else None
    return IndexCase(
        assertion, sites, site, view, launches, strength, why, sliced, bound, index, indexed, numbers,
        python, threads, checks_on, passed=_passed(assertion, site, body, check),
    )  # fmt: skip


def _passed(
    assertion: Assertion, site: Site, body: Body, check: Check | None
) -> tuple[tuple[int, int, int], tuple[int, int]] | None:
    """Return a silent thread of a Triton kernel, where the check's mask cannot be why it is silent."""
    if assertion.silent is None or check is None or site.kernel.backend is not Backend.TRITON:
        return None
    return assertion.silent if hides_high_only(body, check) else None


def _hints(assertion: Assertion, events: LogEvents, in_time: bool) -> Hints:
    """Collect what the stacks of this very failure say; a GPU's errors come apart from the assertion."""
    own = [
        e
        for e in events.errors
        if e.assertion is not None and e.assertion.first.start == assertion.first.start
    ]
    if assertion.form is not AssertionForm.CPU or not own:
        return Hints.of([f for s in events.stacks for f in s.frames], in_time=in_time)
    frames = [f for e in own if e.stack is not None for f in e.stack.frames]
    return Hints.of(frames, [f for e in own for f in e.python_frames], in_time=in_time)


def _numbers(assertion: Assertion, events: LogEvents, site: Site, kernel: str, evidence: Evidence) -> Numbers:
    """Collect the printed numbers; records of the value printer only when this wrapper prints values."""
    wrapper, offset = site.wrapper, assertion.first.start
    if wrapper is None or not prints_values(wrapper.source):
        return Numbers.before(events, offset)
    known = {call.kernel for call in wrapper.calls} | {kernel}
    if any(d.span.start < offset for d in events.dumps):
        return Numbers.before(events, offset, kernel, known)
    from aoti_logs.code.index.other_stream import elsewhere

    return Numbers.before(events, offset, kernel, known, elsewhere(assertion, events, evidence.logs))


def prints_values(source: Source) -> bool:
    """Tell whether generated code calls the value printer (C++ and Python forms of torch 2.5 and later)."""
    words = (b"aoti_torch_print_tensor_handle(", b"_print_debugging_tensor_value_info(", b"before_launch - ")
    return any(source.data.find(word) >= 0 for word in words)


def prints_launches(source: Source) -> bool:
    """Tell whether generated code prints at least the names of kernels (mode 3 of the value printer, torch 2.6 and later)."""
    return prints_values(source) or source.data.find(b"[ before_launch: ") >= 0


def _switch(events: LogEvents, name: str) -> bool | None:
    """Return whether the run's own command line sets a variable; AOTI and CUDA take `0` as off."""
    for note in events.notes:
        if note.kind == "command":
            facts = dict(note.facts)
            if name in facts:
                return not facts[name].startswith("0")
    return None


def _bound_of_text(assertion: Assertion) -> Bound | None:
    text = assertion.text
    if text is None or text.bound is None:
        return None
    from aoti_logs.code.cpp.expr import parse_cpp

    return Bound(text.bound, parse_cpp(text.bound), text.bound_value)

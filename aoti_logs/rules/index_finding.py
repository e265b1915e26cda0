"""From an index case to one finding: the rules about indexes judge, the strongest leads, the rest are listed."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_release import Releases, releases_of_wrapper
from aoti_logs.commands import COMPILES, SAME_COMMAND, in_one
from aoti_logs.explain import Confidence, Experiment, Finding, Link, Verdict, weakest
from aoti_logs.parse.events import AssertionForm
from aoti_logs.rules.index_deciders import beyond_checks, with_paste
from aoti_logs.rules.index_facts import facts_of
from aoti_logs.rules.index_links import links_of
from aoti_logs.rules.index_missing import missing_of, prints_unseen, unbound
from aoti_logs.rules.input_experiments import compile_with_checks, switch_checks_on
from aoti_logs.rules.narrowed_index import with_narrowed
from aoti_logs.rules.user_frames import frame_link, user_frame
from aoti_logs.rules.wording import index_name, indexed_name, is_aot, rows_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source

# Inductor's cache: a folder of two letters for Python and Triton, one named by a hash for the kernels of a package.
_CACHE = re.compile(
    r"(/[^\0\n]+)/(?:[a-z2-7]{2}|c[a-z2-7]{51})/c[a-z2-7]{51}\.(?:py|cpp|kernel\.cpp|wrapper\.cpp)\Z"
)
_WORDS = [Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN]
_FIRST = ["AL104", "AL107", "AL101", "AL103", "AL102", "AL105", "AL106", "AL110", "AL108", "AL100"]
"""Among equally sure verdicts: what explains most of the case first, suspicion of the compiler last."""


def index_finding(case: IndexCase, events: LogEvents, source: Source) -> Finding:
    """Judge a case."""
    verdicts = _verdicts(case)
    verdicts.sort(key=lambda v: (_WORDS.index(v.confidence), v.doubted, _FIRST.index(v.code)))
    called = _called(case, events)
    sure = [v for v in verdicts if v.confidence in {Confidence.PROVEN, Confidence.LIKELY}]
    if sure:
        # What a number proves is not put in doubt by what would be possible without it.
        verdicts = sure
    elif len(verdicts) > 1:
        verdicts = with_narrowed(with_paste(verdicts, case), case, called)
    lead = verdicts[0] if verdicts else _fallback(case)
    kind = "cpu_kernel_index_assert" if case.assertion.form is AssertionForm.CPU else "triton_index_assert"
    facts = facts_of(case, events)
    consequences = _consequences(case, events)
    facts["consequences"] = list(dict.fromkeys(c.text for c in consequences))
    return Finding(
        rule=lead.code,
        kind=kind,
        role="cause",
        severity="error",
        confidence=lead.confidence,
        title=_title(case, lead, sure, verdicts),
        facts=facts,
        rank=case.assertion.rank if case.assertion.rank is not None else source.rank,
        log=source.name,
        chain=(*links_of(case), *called),
        missing=missing_of(case),
        experiments=_sure(case, events, lead) if sure else _experiments(case, events, verdicts),
        verdicts=tuple(verdicts) or (lead,),
        consequences=consequences,
        doubt=_doubt(case, lead),
    )


def _doubt(case: IndexCase, lead: Verdict) -> str | None:
    """Say where printed values were taken from, if not from above the failure."""
    other = case.numbers.elsewhere
    if other is None or not case.numbers.dumps or lead.confidence is not Confidence.LIKELY:
        return None
    return f"the values are taken from {other.source.name}: {other.why}"


def _verdicts(case: IndexCase) -> list[Verdict]:
    """Judge every place that fits; where they differ, none is more than possible."""
    from aoti_logs.rules import index_rules

    places = (case, *case.others)
    found = []
    for rule in index_rules():
        told = [(place, v) for place in places if (v := rule.judge(place)) is not None]
        if not told:
            continue
        lead = told[0][1]
        titles = {v.title: place for place, v in reversed(told)}
        others = [f"{_where(case, p)} fits as well: there {t}" for t, p in titles.items() if t != lead.title]
        if others or len(told) < len(places):
            sureness = weakest(lead.confidence, Confidence.POSSIBLE)
            lead = replace(lead, because=(*lead.because, *others), confidence=sureness)
        found.append(lead)
    return found


def _where(case: IndexCase, place: IndexCase) -> str:
    """Name another place that fits as well as the first."""
    if place.site is None or place.site is case.site:
        return f"launch {place.launch.index}" if place.launch is not None else "another launch"
    return f"the check in line {place.site.line} of {place.site.kernel.name}"


def _consequences(case: IndexCase, events: LogEvents) -> tuple[Link, ...]:
    if not events.errors:
        return ()
    from aoti_logs.rules.consequences import consequences_of

    return consequences_of(events, case.assertion)


def _called(case: IndexCase, events: LogEvents) -> tuple[Link, ...]:
    """Return the user's line that called the model, by a traceback of this very failure."""
    for error in events.errors:
        if error.assertion == case.assertion or case.assertion.message in error.message:
            own = user_frame(error.python_frames)
            if own is not None and error.rank == case.assertion.rank:
                return (frame_link("called", own),)
    return ()


def _fallback(case: IndexCase) -> Verdict:
    return Verdict("AL001", f"{index_name(case)} is out of bounds", Confidence.UNKNOWN)


def _title(case: IndexCase, lead: Verdict, sure: list[Verdict], verdicts: list[Verdict]) -> str:
    if sure or lead.code == "AL100":
        return lead.title
    kernels = {s.kernel.name for s in case.sites}
    wrappers = {s.wrapper.source.name for s in case.sites if s.wrapper is not None}
    if len(case.sites) > 1 and len(kernels) == 1 and len(wrappers) == len(case.sites):
        what = f"an index is out of bounds in {case.sites[0].kernel.name}; {len(wrappers)} wrappers at hand launch it"
    elif len(case.sites) > 1:
        what = f"an index is out of bounds; {len(case.sites)} checks at hand can have printed it"
    elif len(case.launches) > 1:
        kernel = case.launches[0].kernel
        what = (
            f"an index is out of bounds in {kernel}; which of its {len(case.launches)} launches is not known"
        )
    else:
        verb = "is" if case.strength is Confidence.PROVEN else "may be"
        what = f"{index_name(case)} {verb} outside {indexed_name(case)}"
        what += f" (bound: {rows_name(case)})" if case.bound is not None else ""
    if len(verdicts) > 1:
        return f"{what}; {len(verdicts)} known causes fit"
    return what


def _experiments(case: IndexCase, events: LogEvents, verdicts: list[Verdict]) -> tuple[Experiment, ...]:
    """Return what to run next, the cheapest first."""
    found: list[Experiment] = []
    again = _command(case, events) or SAME_COMMAND
    checks = case.view.wrapper.checks if case.view is not None else ()
    gate = next((c for c in checks if c.gated and c.input_index is not None), None)
    if gate is not None and case.view is not None and not case.checks_on:
        proof = f"the check is in the wrapper and tests this variable ({case.view.wrapper.source.place(gate.line)})"
        checked = switch_checks_on(again)
        found.append(replace(checked, why=checked.why + beyond_checks(verdicts), proof=proof))
    if not case.sites:
        found += _in_cache(case)
        found.append(
            Experiment(
                COMPILES,
                (("TORCH_TRACE", "trace_dir"), ("INDUCTOR_PROVENANCE", "1")),
                "compile",
                "records the generated code, the graphs and the names of sizes; then pass the folder with --context",
                "TORCH_TRACE is read when compiling; loading a package writes nothing",
            )
        )
        return tuple(found)
    releases = releases_of_wrapper(case.view.wrapper) if case.view is not None else Releases()
    if releases.before((2, 7)) and not any(c.input_index is not None for c in checks):
        found.append(compile_with_checks(again, releases))
    if prints_unseen(case) or unbound(case) is not None:
        found.append(_one_log(again, case))
    elif is_aot(case) and not case.numbers.dumps and not releases.before((2, 6)):
        found.append(
            Experiment(
                COMPILES,
                (("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", "2"),),
                "compile",
                "prints shape, minimum and maximum of every tensor before each launch; then run it again",
                "the printing calls are generated when compiling (torch 2.6 or newer); a package that exists does not change",
            )
        )
    return tuple(found)


def _in_cache(case: IndexCase) -> Iterator[Experiment]:
    """Look into the cache whose file the assertion names: if it is still there, it holds the kernel."""
    folder = _CACHE.match(case.assertion.file or "")
    if folder is not None:
        yield Experiment(
            f"aoti-logs explain <this log> --context {shlex.quote(folder[1])}",
            (),
            "run",
            "where that folder still is, it holds the kernel that printed this, and nothing has to run again",
            f"the assertion names a file in it: {case.assertion.file}",
        )


def _sure(case: IndexCase, events: LogEvents, lead: Verdict) -> tuple[Experiment, ...]:
    """Return what would prove a cause that rests on values of another file; nothing where nothing is left to decide."""
    return (_one_log(_command(case, events) or SAME_COMMAND, case),) if _doubt(case, lead) is not None else ()


def _one_log(command: str, case: IndexCase) -> Experiment:
    """Keep both streams in one log, so that printed values stand above the failure."""
    other = case.numbers.elsewhere
    told = "nothing of it is in this log"
    if other is not None:
        told = f"that what is in {other.source.name} is of this very call is not proven"
    return Experiment(
        f"{command} 2>&1 | tee run.log",
        (("PYTHONUNBUFFERED", "1"),),
        "run",
        "the model prints shape, minimum and maximum of every tensor before each launch, on stdout",
        f"the wrapper at hand calls the value printer, and {told}",
        "where a host in C++ runs the model, `stdbuf -oL` does what PYTHONUNBUFFERED does for Python",
    )


def _command(case: IndexCase, events: LogEvents) -> str | None:
    """Return the command line that the log itself shows before the failure."""
    before = [n for n in events.notes if n.kind == "command" and n.span.start <= case.assertion.first.start]
    return in_one(dict(before[-1].facts).get("command")) if before else None

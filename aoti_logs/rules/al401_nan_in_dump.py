"""The value printer shows NaN: where it is first.

## What it says
Which record of the intermediate value printer is the first that proves a NaN: launch, kernel, tensor. It says whether the
launch wrote it, found it in a tensor that it only read, or was given it with the model's inputs.

## Why it matters
A NaN spreads, and the output shows the end of it. The first record after a launch whose arguments were all finite
before it is where it began.

## What is no evidence
| record | why |
|---|---|
| an output **before** its launch | nothing has written it yet: it shows whatever stood in that memory, often NaN |
| `Mean value: nan` alone | infinities of both signs make a mean NaN; `Min value` and `Max value` are NaN only if an element is |
| `-nan` | the same as `nan`; both are printed |
| a complex tensor | its imaginary part is not printed; where its mean is finite, every element is |
| `Max value: inf` of float64 | statistics are those of a copy in float32, which is infinite from 3.4e38 on |

The printer leaves things out, and a NaN in them looks as if the kernel had made it: weights of CPU kernels, outputs of
calls like `at::_ops::sort_stable::call`, kernels that `AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT` leaves out.

## Example
```
[  after_launch - triton_poi_fused_add_log_mul_sum_0 - buf1  ]:
Min value: nan
```

## Evidence it needs
The log of a run of code that was compiled with `AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2`. The wrapper adds
the launch and, for a tensor that was only read, the call that wrote it.

## What to do
Look at the operation that the kernel was made of (log of a negative number, 0/0, inf - inf, overflow in
float16), and at the values printed before the launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.code.index.episode import Episodes
from aoti_logs.commands import COMPILES, SAME_COMMAND
from aoti_logs.explain import Confidence, Experiment, Finding, Link, Verdict
from aoti_logs.parse.dtype import LARGEST, torch_dtype
from aoti_logs.parse.printer.launches import bare_name, printed_launches
from aoti_logs.rules.dump_facts import dump_facts
from aoti_logs.rules.first_nan import Origin, first_nan
from aoti_logs.rules.printed_launch import launch_site
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.index.episode import Episode
    from aoti_logs.parse.events import Dump
    from aoti_logs.rules.first_nan import FirstNan
    from aoti_logs.rules.log_notes import LogCase
    from aoti_logs.rules.printed_launch import LaunchSite

_SHOWN = 6
_NEAR = 0.9  # of the largest finite value


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield the first NaN of each run and rank."""
    for episode in printing_episodes(case):
        dumps = episode.events.dumps
        for rank in dict.fromkeys(d.rank for d in dumps):
            own = [d for d in dumps if d.rank == rank]
            launches = printed_launches(own)
            found = first_nan(own, launches)
            if found is not None:
                facts = dump_facts(own, launches)
                yield _finding(case, found, launch_site(found, launches, case.evidence), facts, rank)


def printing_episodes(case: LogCase) -> list[Episode]:
    """Return the runs of a log that have records of the value printer."""
    episodes = Episodes(case.events)
    found: dict[int, Episode] = {}
    for dump in case.events.dumps:
        episode = episodes.of(dump.span.start)
        found.setdefault(episode.start, episode)
    return list(found.values())


def _finding(
    case: LogCase, nan: FirstNan, site: LaunchSite | None, facts: dict[str, Any], rank: int | None
) -> Finding:
    title = _title(nan, site)
    confidence = Confidence.PROVEN
    because = tuple(_because(nan, facts))
    record = nan.record
    facts = facts | {
        "first_nan": {
            "phase": record.phase or None,
            "kernel": record.kernel,
            "tensor": record.argument,
            "launch": record.launch,
            "dtype": torch_dtype(record.dtype),
            "line": record.span.line,
        },
        "origin": nan.origin.value,
    }
    if nan.others:
        facts["launch_arguments_finite"] = all(d.has_nan is False and d.has_inf is False for d in nan.others)
    if site is not None and site.producer is not None:
        facts["produced_by"] = site.producer.kernel
    return Finding(
        rule="AL401",
        kind="nan_in_dump",
        role="note",
        severity="warning",
        confidence=confidence,
        title=title,
        facts=facts,
        rank=rank if rank is not None else case.source.rank,
        log=case.source.name,
        chain=tuple(_links(nan, site)),
        verdicts=(Verdict("AL401", title, confidence, because),),
        notes=tuple(_notes(nan, site)),
        experiments=() if nan.origin is Origin.GIVEN or record.values is not None else (_save(),),
    )


def _save() -> Experiment:
    return Experiment(
        f"{COMPILES} && {SAME_COMMAND}",
        (("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", "1"),),
        "compile",
        "saves every argument before and after each launch as a .pt file: which elements are NaN, and what they were made from",
        "torch/_inductor/codegen/debug_utils.py writes the saving calls into the generated code; a package that exists does not change",
    )


def _title(nan: FirstNan, site: LaunchSite | None) -> str:
    record = nan.record
    name = f"`{nan.tensor}`"
    kernel = f"`{record.kernel}`" if record.kernel else "the model"
    launch = f"launch {record.launch} of {kernel}" if record.launch else kernel
    if nan.origin is Origin.GIVEN:
        user = site.user_name if site is not None else None
        shown = f"`{user}` ({name})" if user else name
        return f"NaN was in {shown} when the {'model' if record.kernel is None else f'first launch that prints it ({kernel})'} was given it"
    if nan.origin is Origin.WRITTEN:
        return f"NaN first appears in {name}, which {launch} wrote"
    if nan.origin is Origin.READ:
        return (
            f"NaN first appears in {name}, which held it before {launch} already; no printed launch wrote it"
        )
    if nan.origin is Origin.BETWEEN:
        return f"NaN first appears in {name} before {launch}; it held none when it was printed last"
    return f"NaN first appears in {name}, printed {'after ' + launch if record.launch else 'by ' + kernel}"


def _because(nan: FirstNan, facts: dict[str, Any]) -> Iterator[str]:
    if nan.origin is Origin.WRITTEN and nan.earlier is not None:
        if nan.earlier.has_nan:
            yield (
                f"`{nan.tensor}` showed NaN before the launch as well, with other elements: memory that nothing had written, or a "
                "tensor that a call wrote whose outputs are not printed"
            )
        elif nan.earlier.has_nan is False:
            yield f"`{nan.tensor}` held no NaN before the launch"
    odd = [d for d in nan.others if d.has_nan is not False or d.has_inf is not False]
    if nan.others and not odd:
        one = len(nan.others) == 1
        others = "the other tensor" if one else f"all {len(nan.others)} other tensors"
        yield f"{others} printed before the launch {'was' if one else 'were'} finite"
    for dump in odd[:_SHOWN]:
        state = _state(dump)
        if state:
            yield f"`{bare_name(dump.argument)}` {state}"
    if facts.get("inputs_finite"):
        yield "the inputs of the model that were printed were all finite"


def _state(dump: Dump) -> str | None:
    if dump.uninitialised:
        return None
    if dump.has_nan:
        return "held NaN before the launch"
    if dump.has_inf:
        return "held an infinity before the launch: inf - inf, inf * 0 and inf / inf are NaN"
    return None


def _notes(nan: FirstNan, site: LaunchSite | None) -> Iterator[str]:
    for dump in (*nan.others, *([nan.earlier] if nan.earlier is not None else [])):
        limit = LARGEST.get(torch_dtype(dump.dtype) or "")
        most = max(abs(dump.min or 0), abs(dump.max or 0))
        if limit is not None and not dump.uninitialised and _NEAR * limit <= most <= limit:
            yield f"`{bare_name(dump.argument)}` was near the largest {torch_dtype(dump.dtype)} ({limit:g}) before the launch: overflow gives inf, and inf - inf NaN"
    if nan.origin in {Origin.WRITTEN, Origin.UNTOLD} and nan.record.kernel:
        weights = site.weights if site is not None else ()
        if weights:
            yield f"the launch also reads {', '.join(f'`{w}`' for w in weights[:_SHOWN])}, which the printer leaves out: a NaN there would look the same"
        elif nan.record.kernel.startswith("cpp_") and site is None:
            yield "weights of CPU kernels are not printed: a NaN in one of them would look the same"


def _links(nan: FirstNan, site: LaunchSite | None) -> Iterator[Link]:
    record = nan.record
    details = []
    if record.min is not None:
        details.append(f"min {record.min:g}, max {record.max:g}" if record.max is not None else "")
    if record.numel is not None:
        details.append(f"{record.numel} elements of {torch_dtype(record.dtype) or 'unknown dtype'}")
    yield Link("first NaN", header_of(record), record.span.place, details=tuple(d for d in details if d))
    if nan.earlier is not None:
        earlier = nan.earlier
        told = (
            f"min {earlier.min:g}, max {earlier.max:g}"
            if earlier.min is not None and earlier.max is not None
            else ""
        )
        yield Link("before", header_of(earlier), earlier.span.place, details=(told,) if told else ())
    if site is not None:
        yield from site.links


def header_of(dump: Dump) -> str:
    """Return the header of a record as it is printed."""
    return dump.span.text.split("\n", 1)[0].strip()


RULE = Rule("AL401", "nan-in-dump", __doc__ or "")

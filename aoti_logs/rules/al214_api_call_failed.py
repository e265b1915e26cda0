"""A call of the runner failed, and the exception says nothing but that.

## What it says
`run_func_(...) API call failed at .../model_container_runner.cpp, line 145`: the runner called into the model and got
an error code. The finding names the entry point, what the runner was doing (load, run, update of weights), and the
cause where stderr has it, `Error: TEXT`.

## Why it matters
Until torch 2.11 the text of the cause reaches only stderr, never the exception. Where stderr was not kept there is no
cause in the log, and guessing from `run_func_` is useless: every failure of every model reads like that.

## Example
`Error: CUDA driver error: file not found` above a traceback that ends in `run_func_(...)`: a kernel file (.cubin) that
is not where the model was compiled.

## Evidence it needs
Both streams of the run.

## What to do
Keep stderr together with stdout. From torch 2.12 on the exception of a run has the cause's text; loading and updates
of weights still have not.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Missing
from aoti_logs.parse.aoti.facts import ConstantError, ImageError
from aoti_logs.rules.aoti_story import (
    about_nan,
    in_short,
    operator_in_stack,
    story_facts,
    story_links,
    story_of,
)
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.aoti_story import Story
    from aoti_logs.rules.error_case import ErrorCase

_DOING = {
    "load": "loading",
    "run": "running",
    "update": "updating the weights of",
    "constant_folding": "folding the constants of",
    "unload": "unloading",
    "query": "asking",
}


_CALLER = re.compile(r"pt2_archive/_package|_inductor/package")
_PACKAGE_LOST = (
    "the driver did not find a kernel file (.cubin): the package has lost it, or it was removed from the folder that the "
    "package is unpacked to"
)
_LIBRARY_MOVED = (
    "the driver did not find a kernel file (.cubin): the .so holds the paths of the machine that compiled it, and it may "
    "have been moved without them"
)
_COPY = "copy or make the package again, and keep the folder that it is unpacked to while the model is loaded"
_PACKAGE = "package the model with torch._inductor.aoti_compile_and_package: a .pt2 holds its kernel files"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which entry point failed, and on what where it is known."""
    story = story_of(case)
    runner = story.runner_call
    if runner is None or story.shim is not None or story.logged is not None or about_nan(story):
        return None
    said = story.said
    doing = _DOING[runner.phase or "query"]
    facts: dict[str, Any] = {**story_facts(story)}
    missing: tuple[Missing, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    if said is None:
        title = f"{doing} the model failed in `{runner.name}`; the cause is not in this log"
        missing = (
            Missing(
                "the cause, which the model's library prints to stderr as `Error: ...`",
                "stderr of the run in the same file, `COMMAND > run.log 2>&1`",
            ),
        )
        experiments = (
            Experiment(
                f"{case.command} 2>&1 | tee run.log",
                (),
                "run",
                "the cause is then in the log, above the traceback",
                "the model's library prints `Error: TEXT` to stderr before it returns a code",
            ),
        )
        return ErrorTold(
            "AL214",
            "aoti_api_call_failed",
            title,
            Confidence.UNKNOWN,
            links=story_links(story),
            facts=facts,
            missing=missing,
            experiments=experiments,
        )
    operator = operator_in_stack(said)
    if operator:
        facts["op"] = operator
    near = _stands_before(story)
    return ErrorTold(
        "AL214",
        _kind(story),
        f"{doing} the model failed: {in_short(said.message)}",
        Confidence.PROVEN if near else Confidence.LIKELY,
        because=_because(story),
        links=story_links(story),
        facts=facts,
        fixes=_fixes(story),
        doubt=None if near else "other lines stand between the cause and the call that failed",
    )


def _stands_before(story: Story) -> bool:
    """Tell whether the cause stands right before the exception: the library prints it just before it returns."""
    parts = sorted(story.told, key=lambda e: e.span.start)
    for one, other in pairwise(parts):
        if one.span.source is other.span.source and one.span.end < other.span.start:
            between = bytes(one.span.source.data[one.span.end : other.span.start])
            if any(line.strip() for line in between.split(b"\n")):
                return False
    return True


def _kind(story: Story) -> str:
    """Return the kind: an operator of ATen that raised inside of the model is more than a failed call."""
    said = story.said
    if (
        said is not None
        and said.raised_from is not None
        and said.cuda_error is None
        and "driver error" not in said.message
    ):
        return "aoti_runtime_error"
    return "aoti_api_call_failed"


def _because(story: Story) -> tuple[str, ...]:
    said = story.said
    detail = said.detail if said is not None else None
    phase = story.runner_call.phase if story.runner_call is not None else None
    reasons = ["stderr has the cause; the exception has only the runner's call"]
    if isinstance(detail, ImageError) and detail.reason == "file not found":
        reasons.append(_PACKAGE_LOST if _packaged(story) else _LIBRARY_MOVED)
    elif phase == "load" and said is not None and "CUDA error" in said.message:
        reasons.append(
            "while loading, the weights are copied to the device: a model compiled for another device than it is loaded on "
            "(CPU, CUDA) fails there, too"
        )
    elif isinstance(detail, ConstantError):
        reasons.append("the text names a constant by its name in the code")
    return tuple(reasons)


def _packaged(story: Story) -> bool:
    """Tell whether the traceback goes through the caller of a packaged model."""
    frames = story.raised.python_frames if story.raised is not None else ()
    return any(_CALLER.search(f.file.replace("\\", "/")) for f in frames)


def _fixes(story: Story) -> tuple[str, ...]:
    detail = story.said.detail if story.said is not None else None
    if isinstance(detail, ImageError) and detail.reason == "file not found":
        if _packaged(story):
            return (_COPY,)
        return (_PACKAGE,)
    return ()


RULE = Rule("AL214", "runner-call-failed", __doc__ or "")

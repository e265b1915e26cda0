"""The process died inside the call of a compiled model, and nothing says why.

## What it says
faulthandler shows that the dying thread's innermost Python frame is the one that calls a compiled model: AOTInductor's
loaded package, or code that `torch.compile` wrote. Below it is native code that Python cannot show. The finding names
the call, quotes the signal, and lists what is known to end that way; it picks none.

## Why it matters
AOTInductor does not check inputs unless it is asked to. A tensor on another device, a meta tensor, another dtype or a
shorter tensor is read as raw memory, and so is a weight that was never loaded: some of these give a wrong result, some
a SIGSEGV without a word. The frames say where the process was, not why.

## Example
`Fatal Python error: Segmentation fault`, then `File ".../torch/export/pt2_archive/_package.py", line 743 in __call__`.

## Evidence it needs
The dump of faulthandler (`PYTHONFAULTHANDLER=1`). The package or its generated code tells the device that it was compiled
for, which release of torch compiled it, and whether its weights are in the library; inputs that the value printer printed are
compared with the checks in the code. With that the candidates are fewer.

## What to do
Compare device, dtype and shape of every input with the example that the model was exported with. Where the weights are not in
the library (`package_constants_in_so=False`), load them before the first run (`load_constants`). Run once with
`AOTI_RUNTIME_CHECK_INPUTS=1` (torch 2.7+; before, compile with `AOT_INDUCTOR_DEBUG_COMPILE=1`, whose check tests no device), and
once under gdb for the native frames.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Missing
from aoti_logs.rules.death_facts import (
    current_thread,
    death_of,
    place_of,
    signal_facts,
    thread_facts,
    with_gdb,
)
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.input_experiments import check_inputs, in_words
from aoti_logs.rules.model_suspicions import suspicions
from aoti_logs.rules.model_weights import full_update, model_weights
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame
    from aoti_logs.rules.error_case import ErrorCase

_SIGNALS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"}
_PACKAGE = re.compile(
    r"(?:^|/)torch/(?:export/pt2_archive/_package\.py|_inductor/package/package\.py|_export/__init__\.py|"
    r"_inductor/__init__\.py|export/pt2_archive/\w+\.py)$"
)
_PACKAGE_CALLS = {"__call__", "optimized", "run", "boxed_run"}
_COMPILED = re.compile(r"(?:^|/)(?:\w\w/)?c[a-z2-7]{50,51}\.py$")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say in which call the process died, and what is known to end so."""
    death = death_of(case.error)
    thread = None if death is None else current_thread(death)
    if death is None or thread is None or not thread.frames or death.signal not in _SIGNALS:
        return None
    top = thread.frames[0]
    kind = _called(top)
    if kind is None:
        return None
    # Dynamo guards the inputs of what torch.compile wrote.
    aoti = kind.startswith("an")
    found = suspicions(case, aoti=aoti)
    checks = check_inputs(case.command, case.evidence) if aoti and not found.checked else ()
    facts: dict[str, Any] = {
        **signal_facts(death, case.group),
        **thread_facts(death),
        "python_frame": place_of(top),
        "package_device": found.device,
    }
    return ErrorTold(
        "AL310",
        "segfault" if death.signal in {"SIGSEGV", "SIGBUS"} else "faulthandler",
        f"{death.signal} inside the call of {kind}; no text says why",
        Confidence.UNKNOWN,
        because=found.because,
        links=found.links,
        facts=facts,
        decide=(*in_words(checks), "run under gdb for the native frames"),
        missing=(Missing("the native frames below the call", "gdb, or a core dump"),),
        experiments=(
            *((full_update(case.command),) if model_weights(case.evidence).absent else ()),
            *checks,
            with_gdb(case.command, case.error, case.group),
        ),
        doubt="the frames say where the process was, not why",
    )


def _called(frame: PythonFrame) -> str | None:
    """Return which kind of compiled model a frame calls, or None."""
    file = frame.file.replace("\\", "/")
    if _PACKAGE.search(file) and frame.function in _PACKAGE_CALLS:
        return "an AOTInductor model"
    if _COMPILED.search(file) and frame.function in {"call", "__call__", "run"}:
        return "code compiled by torch.compile"
    return None


RULE = Rule("AL310", "model-call-died", __doc__ or "")

"""A worker process of the compile raised something.

## What it says
Inductor compiles kernels in worker processes. One of them raised an exception, which the main process prints as text
in the message of its own. The finding names what was raised there, for which kernel, at which stage of Triton.

## Why it matters
The main process's traceback ends in the pool of workers and says nothing about the failure. The worker's own
traceback stands in the middle of a message.

## Example
`SubprocException: An exception occurred in a subprocess:` with a traceback that ends in
`triton/backends/amd/compiler.py`, `stages["llir"]`: Triton failed while it made LLVM code.

## Evidence it needs
The text of the exception, in a log or in a trace. What Triton's compiler says itself is AL612, what does not fit AL614.

## What to do
`TORCHINDUCTOR_COMPILE_THREADS=1` compiles in the main process: the same exception then has one traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.commands import SAME_COMMAND
from aoti_logs.explain import Experiment, Link, Missing
from aoti_logs.parse.compiles.dynamo_text import frames_in
from aoti_logs.parse.errors.triton_error import backend_of, kernel_name, stage_of
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.user_frames import frame_text

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase

_RAISED = Missing("what was raised", "the lines below the worker's traceback")
_DIED = Missing(
    "what ended the worker", "its own stderr (a signal, a stack), or the kernel's log where memory ran out"
)


def tell(case: FailureCase) -> Told:
    """Say what the worker raised, and where."""
    failure = case.failure
    text = failure.text
    name = failure.inner_names[-1] if failure.inner else None
    inner = name if name not in {None, "SubprocException"} else None
    kernel, stage, backend = kernel_name(text) or case.facts.get("kernel"), stage_of(text), backend_of(text)
    frames = frames_in(text.partition("An exception occurred in a subprocess:")[2])
    of = f" of kernel `{kernel}`" if kernel else ""
    at = f" at stage `{stage}`" if stage else ""
    by = f" of Triton's {backend} backend" if backend else ""
    died = text.lstrip().startswith("A compilation subprocess exited unexpectedly")
    said = ": ".join(("", inner, *([failure.message] if failure.message else []))) if inner else ""
    links = []
    if frames:
        last = frames[-1]
        row = text.count("\n", 0, max(text.rfind(f'File "{last.file}", line {last.line}'), 0))
        links.append(Link("worker", frame_text(last), case.place_of(row)))
    return Told(
        "a worker process of the compile ended: it crashed or was killed, and raised nothing"
        if died
        else f"a worker process failed{at}{by}{of}{said}"
        if stage or backend
        else f"a worker process of the compile failed{of}{said}",
        links=tuple(links),
        facts={
            **({"kernel": kernel} if kernel else {}),
            "failed_stage": stage,
            "triton_backend": backend,
            "root_exception": inner and failure.inner[-1],
            "last_frame": {"file": frames[-1].file, "line": frames[-1].line, "function": frames[-1].function}
            if frames
            else None,
            "n_frames": len(frames),
        },
        missing=() if inner else (_DIED if died else _RAISED,),
        experiments=(
            Experiment(
                SAME_COMMAND,
                (("TORCHINDUCTOR_COMPILE_THREADS", "1"),),
                "compile",
                "kernels are compiled in the main process, and the exception has one traceback",
                "torch/_inductor/async_compile.py uses no workers then",
            ),
        ),
    )


RULE = Rule("AL615", "compile-worker-failed", __doc__ or "")

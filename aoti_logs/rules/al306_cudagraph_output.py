"""An output of a CUDA graph was used after the graph had run again.

## What it says
With `mode="reduce-overhead"` (or `triton.cudagraphs`) the outputs of a compiled function live in memory of the graph.
The next run of the graph writes there. The finding names the line whose result it was.

## Why it matters
The error is raised where the old tensor is used, which may be far away. The stack inside of the message is the place that
made it.

## Example
`accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: File "bug.py", line 7,
in my_model`

## Evidence it needs
The message; the stack in it is missing where the code was not traced with one.

## What to do
Clone the output outside of the compiled function when it is kept over the next call. The message also names
`torch.compiler.cudagraph_mark_step_begin()`: that tells where an iteration begins, so it helps when outputs of *this*
iteration are meant to be released, not when an output of an earlier one is still needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

# torch/_inductor/cudagraph_trees.py, CUDAGraphTreeManager.format_dealloc_msg
_TEXT = re.compile(r"accessing (?P<grad>gradient )?tensor output of CUDAGraphs that has been overwritten")
_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,9}), in (?P<function>[^\n]+)')
_AFTER = re.compile(r"\. (?:To prevent overwriting|This can happen with)")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say whose result was overwritten, and where it was used."""
    text = case.error.text or case.error.message
    found = _TEXT.search(text)
    if found is None:
        return None
    frames = [f.groupdict() for f in _FRAME.finditer(text[found.start() :])]
    last = frames[-1] if frames else None
    code = _code(text, last)
    facts: dict[str, Any] = {"gradient": found["grad"] is not None, "n_stack_frames": len(frames)}
    title = "an output of a CUDA graph was used after the next run had overwritten it"
    links = []
    if last is not None:
        user = {"file": last["file"], "line": int(last["line"]), "function": last["function"].strip()}
        facts["user_frame"] = user
        title += f"; it was made at {user['file']}:{user['line']} in {user['function']}"
        quoted = f"{user['file']}:{user['line']} in {user['function']}" + (f": {code}" if code else "")
        links.append(Link("made by", quoted, case.error.span.place))
    fixes: tuple[str, ...] = (
        "clone the output outside of torch.compile() when it is kept over the next call",
    )
    if found["grad"]:
        fixes = (
            "set .grad to None before each backward, or allocate .grad before the compiled backward runs",
        )
    return ErrorTold(
        "AL306",
        "cudagraph_output_overwritten",
        title,
        Confidence.PROVEN,
        because=("outputs of a CUDA graph live in memory that its next run writes again",),
        links=tuple(links),
        facts=facts,
        fixes=fixes,
        notes=()
        if found["grad"]
        else (
            "torch.compiler.cudagraph_mark_step_begin() does not keep an output of an earlier iteration; a clone does",
        ),
    )


def _code(text: str, frame: dict[str, str] | None) -> str | None:
    """Return the source line that stands below the last frame."""
    if frame is None:
        return None
    at = text.rfind(f"line {frame['line']}, in {frame['function']}")
    below = text[at:].split("\n", 2)[1:2]
    return _AFTER.split(below[0], 1)[0].strip() or None if below else None


RULE = Rule("AL306", "cudagraph-output", __doc__ or "")

"""Whose code a frame of a Python traceback is: the user's, or that of a library, of torch, of generated code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.compiles.failure import UserFrame
    from aoti_logs.parse.events import PythonFrame

_LIBRARY = re.compile(
    r"/(?:site|dist)-packages/|/torch/|/lib(?:64)?/python\d|^<|/\w\w/c[a-z2-7]{51}\.py$"  # the last: Inductor's cache
)
_HEAD = re.compile(r"(?:async )?def |class |@")


def is_library(file: str) -> bool:
    """Tell whether a path belongs to an installed package, to torch, or to code that torch wrote."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None


def user_frame(frames: Sequence[PythonFrame]) -> PythonFrame | None:
    """Return the innermost frame outside of libraries; one that shows the head of a compiled function only if alone."""
    own = [f for f in reversed(frames) if not is_library(f.file)]
    return next((f for f in own if not _HEAD.match(f.code or "")), own[0] if own else None)


def frame_text(frame: PythonFrame | UserFrame) -> str:
    """Write a frame in one line; a file that could not be parsed has no functions."""
    text = f"{frame.file}:{frame.line}"
    text += f" in {frame.function}" if frame.function else ""
    return f"{text}: {frame.code}" if frame.code else text


def frame_link(step: str, frame: PythonFrame) -> Link:
    """Quote a frame."""
    return Link(step, frame_text(frame), frame.span.source.place(frame.span.line))

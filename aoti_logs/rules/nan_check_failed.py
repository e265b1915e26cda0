"""A check for NaN that failed itself: it cannot read the tensor, so that it says nothing about its values.

`isnan` and `isinf` know no numbers of 8 bits (torch 2.13: aten/src/ATen/native/TensorCompare.cpp), and the checks do not convert.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link
from aoti_logs.rules.aoti_story import story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.nan_check import CHECKED, PYTHON_CHECK, is_generated
from aoti_logs.rules.plain_kind import kind_of

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.nan_check import NanCheck

_CANNOT = re.compile(r"\"is(?:nan|inf)\w*\" not implemented for '(?P<dtype>\w+)'")
_FIX = (
    "compile without TORCHINDUCTOR_NAN_ASSERTS, and look for NaN with AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2, "
    "which prints statistics of a copy in float32"
)


def other_words(case: ErrorCase) -> ErrorText | None:
    """Return what the exception says of a failed call of the check, where it is not that NaN was found."""
    said = story_of(case).said
    return None if said is None or CHECKED.search(said.message) else said


def unreadable(case: ErrorCase, check: NanCheck | None) -> ErrorTold | None:
    """Say that the check cannot read the tensor, or None: in C++ the exception says it, in Python the line that raised it."""
    said = case.error if check is None else other_words(case)
    found = _CANNOT.search(said.message) if said is not None else None
    if said is None or found is None:
        return None
    links = [Link("error", said.message, said.span.place)] if said is not case.error else []
    name = check.name if check is not None else None
    if check is None:
        frame = next((f for f in reversed(said.python_frames) if PYTHON_CHECK.match(f.code or "")), None)
        line = PYTHON_CHECK.match(frame.code or "") if frame is not None else None
        if frame is None or line is None or not is_generated(frame.file, case.evidence):
            return None
        name = line["name"]
        text = said.span.text
        line_no = said.span.line + text.count("\n", 0, max(text.find(frame.code or ""), 0))
        links.append(Link("check", frame.code or "", said.span.source.place(line_no)))
    return ErrorTold(
        "AL402",
        kind_of(said),
        f"the check for NaN failed on `{name}`, not the model: it cannot read {found['dtype']}",
        Confidence.PROVEN,
        because=("the check itself raised it: whether the values are finite is not known",),
        links=tuple(links),
        facts={"variable": name, "tensor_dtype": found["dtype"]},
        fixes=(_FIX,),
    )

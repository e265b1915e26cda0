"""An error that no rule explains: does it come from the compiled code at all, and from which call?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import cpp_stack, eager, trace

RUNGS = (
    *eager(
        (
            Outcome("the same error in eager", "the compiler has no part in it"),
            Outcome("eager is fine", "the compiler, or what it was told of the inputs"),
        )
    ),
    cpp_stack(),
    trace(),
)

"""An index that is out of bounds: is the data wrong, what the model was told of it, or the code?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import MINIFY, blocking, check, eager, names, trace, values

RUNGS = (
    *check(
        (
            Outcome("`unmatched dtype` of an index", "it is read as another dtype", ("AL106",)),
            Outcome("`dim value is too large`, `too small`, `unmatched dim value`", "a size is not one that the code is for", ("AL101",)),
            Outcome("`unmatched stride value` of an index", "it is read by the wrong strides", ("AL110",)),
            Outcome("no complaint, and the same assertion", "inputs are of the promised kind", (), ("AL101", "AL106")),
        )
    ),
    *eager(
        (
            Outcome("an index error in eager, too", "the index itself is bad", (), ("AL106", "AL108", "AL110")),
            Outcome("eager is fine", "every index that the caller passes is legal", (), ("AL102", "AL103", "AL104", "AL105")),
        )
    ),
    trace(),
    *blocking((Outcome("the error is raised at a launch", "that launch has the assertion; its arguments are known then"),), "kernel_unknown"),
    *names((Outcome("a kernel is announced and not finished", "its launch has the assertion"),), "kernel_unknown"),
    *values(
        (
            Outcome("the tensor whose size is the bound is empty, or outside the compiled range", "", ("AL101",)),
            Outcome("the index's maximum is at or beyond the bound", "", ("AL102", "AL103"), ("AL108",)),
            Outcome("the index's minimum is below minus the number of rows", "", ("AL105",), ("AL108",)),
            Outcome("the index's dtype is int where the kernel reads int64", "", ("AL106",)),
            Outcome("the tensor of the bound and the one that is indexed have different lengths", "", ("AL107",)),
            Outcome("the index's stride is not the compiled one", "", ("AL110",)),
            Outcome("every value lies inside of the bound", "the check or the code before it is wrong", ("AL108",), ("AL102", "AL103", "AL105")),
        )
    ),
    *MINIFY,
)  # fmt: skip

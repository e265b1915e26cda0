"""Sizes: which condition on data or on a size, where does its symbol come from, what keeps it from being dynamic?"""

from __future__ import annotations

from aoti_logs.ladder import Outcome
from aoti_logs.plan.rung import Rung

_LOGS = "read when torch is imported"
_INTERNAL = 'torch/_logging/_internal.py: LOG_ENV_VAR = "TORCH_LOGS"'
_LOADED = "a package that is loaded logs nothing: it is a setting of the compile"

RUNGS = (
    Rung(
        "draft_export",
        "every place of this kind in one run: it goes on with the values of the example",
        "compile",
        "when it exports",
        "one export",
        "torch/export/_draft_export.py writes a report",
        change="torch.export.draft_export(...) in place of torch.export.export(...)",
        rerun=False,
        outcomes=(Outcome("a report with several places", "all of them have to be changed", ("AL506", "AL605")),),
        misleads=("what it returns is right for values like the example's only",),
        needs=("exported",),
        has="draft_export",
        since=(2, 8),
        always=True,
    ),
    Rung(
        "recompiles and guards",
        "which guard failed, and the guards that each version of the code has",
        "compile",
        _LOGS,
        "a few lines a compile",
        _INTERNAL,
        (("TORCH_LOGS", "recompiles,guards"),),
        outcomes=(
            Outcome("a size that moves each time", "make it dynamic", ("AL501", "AL502")),
            Outcome("an attribute, a list's length or an object's id that moves", "no size: mark_dynamic does not help", ("AL501", "AL502"), ("AL504",)),
        ),
        needs=("recompiled",),
        has="guards_logged",
    ),
    Rung(
        "how sizes became symbols",
        "where each symbol is made, each guard on it, and each specialisation, with the user's line",
        "compile",
        _LOGS,
        "some lines a size",
        _INTERNAL,
        (("TORCH_LOGS", "+dynamic"),),
        outcomes=(
            Outcome("`create_unbacked_symbol` for the symbol", "its value comes from data: `.item()`, nonzero, a mask", ("AL506",)),
            Outcome("`Specializing`, or `Eq(s, number)` with a user stack", "that line fixes the size", ("AL504", "AL505")),
        ),
        misleads=(_LOADED, "symbols have other names in another release"),
        needs=("symbolic",),
        has="dynamic_logged",
        always=True,
    ),
    Rung(
        "the stack where the symbol is made",
        "the whole stack of the call that made {symbols}",
        "compile",
        _LOGS,
        "none",
        "torch/fx/experimental/_config.py: TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL",
        (("TORCH_LOGS", "+dynamic"), ("TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL", "{symbols}")),
        outcomes=(Outcome("a line of your program or of a library", "the value that has to be checked with torch._check", ("AL506",)),),
        misleads=("the stack is written by TORCH_LOGS=dynamic: set both",),
        needs=("symbols",),
        has="symbol_made",
        always=True,
    ),
    Rung(
        "the stack where the guard is added",
        "the whole stack of the call that asked for {guard}",
        "compile",
        _LOGS,
        "none",
        "torch/fx/experimental/_config.py: TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED",
        (("TORCH_LOGS", "+dynamic"), ("TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED", "{guard}")),
        outcomes=(Outcome("a line of torch", "which operator asks"), Outcome("a line of yours", "the branch or shape to change")),
        misleads=("the text must be the one that the log shows, blanks included",),
        needs=("guard",),
        always=True,
    ),
    Rung(
        "make the size dynamic from the start",
        "which line keeps it from being dynamic: mark_dynamic makes a specialisation an error",
        "compile",
        "before the first compile of the function",
        "one compile",
        "torch/_dynamo/decorators.py: mark_dynamic",
        change="torch._dynamo.mark_dynamic(tensor, dim) before the call",
        outcomes=(
            Outcome("it compiles once, and no more", "the size was the cause", ("AL501", "AL502"), ("AL504",)),
            Outcome("`ConstraintViolationError`", "a line fixes the size", ("AL505", "AL504")),
        ),
        misleads=("sizes 0 and 1 are compiled for themselves all the same",),
        needs=("jit", "sized"),
    ),
)  # fmt: skip

"""A process was started while the program's main module was still being imported.

## What it says
With the start methods `spawn` and `forkserver` Python imports the main module again in every child. A script that starts
processes at its top level (workers, an engine of vLLM, a DataLoader, workers of a compile) would do so in each child again, and
Python refuses that.

## Why it matters
The text of the exception is a page about `freeze_support`, and what started the process stands in the traceback above it.
The model does not come into it.

## Example
`An attempt has been made to start a new process before the current process has finished its bootstrapping phase.`

## Evidence it needs
The exception in a log (multiprocessing/spawn.py of Python).

## What to do
Put what the script does under `if __name__ == "__main__":`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_SAID = "An attempt has been made to start a new process before the"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell of a script without a main guard."""
    if _SAID not in case.error.text[:500]:
        return None
    return ErrorTold(
        "AL623",
        "missing_main_guard",
        "a child process was about to start a process while it still imported the main script",
        because=(
            "with the start methods spawn and forkserver each child imports the main script: what stands at its top level runs again there",
        ),
        fixes=('put what the script does under if __name__ == "__main__":',),
    )


RULE = Rule("AL623", "missing-main-guard", __doc__ or "")

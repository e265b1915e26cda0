"""Native stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Stacks(dy.Schema):
    """One row a native stack; Python frames are in `errors` and `python_frames`."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    stack = dy.Int64(nullable=False, description="Number of the stack in its log, from 0, as `frames.stack`.")
    format = dy.String(
        nullable=False,
        description="Who printed it: `c10`, `captured_traceback`, `gdb`, `lldb`, `sanitizer`, `glog`, `absl`, `folly`, `ucx`, "
        "`symbols` (glibc's `backtrace_symbols`), `faulthandler`, `llvm`, `windows` or `py_spy`.",
    )
    rank = _sender.rank()
    worker = _sender.worker()
    process = _sender.process()
    time = _sender.time()
    thread = dy.String(nullable=True, description="Thread as printed: gdb's number, a sanitizer's `T0`.")
    role = dy.String(
        nullable=True,
        description="What it shows in a report of several: `access`, `allocated`, `freed`, `created`, `previous`, `leaked`.",
    )
    signal = dy.String(nullable=True, description="Signal that stopped the thread.")
    n_frames = dy.Int64(nullable=False, description="Number of frames.")
    omitted = dy.Bool(nullable=False, description="True where the printer left Python frames out.")
    signature = dy.String(
        nullable=True,
        description="16 hex digits of the functions that mean something; equal for the same way to the same place.",
    )
    first_meaningful = dy.String(
        nullable=True,
        description="Innermost function that no rule of `parse/stacks/machinery.py` leaves out.",
    )
    model_frame = dy.String(nullable=True, description="Innermost function of the compiled model's own code.")


SCHEMA = Stacks


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.parse.stacks.frame_name import frame_name, is_model, meaningful, signature

    for source, events in run.logs():
        for number, stack in enumerate(events.stacks):
            who = stack.sender.rank if stack.sender else None, *_sender.sent(stack.sender)
            first = next((frame_name(f) for f in meaningful(stack.frames)), None)
            model = next((frame_name(f) for f in stack.frames if f.symbol and is_model(f)), None)
            yield (
                source.name, stack.span.line, number, stack.format, *who, stack.thread, stack.role or None, stack.signal,
                len(stack.frames), stack.omitted, signature(stack), first, model,
            )  # fmt: skip

"""Commands that compiled and linked generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_command import commands
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Commands(dy.Schema):
    """One row a command (`TORCH_LOGS=+inductor`); no trace has them."""

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the message, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    step = dy.String(nullable=False, description="What it does, `aot wrapper compilation`, `aot linkage`.")
    program = dy.String(nullable=False, description="Compiler or linker.")
    inputs = dy.List(
        dy.String(), nullable=False, description="Files it reads: sources, objects, libraries given as files."
    )
    output = dy.String(nullable=True, description="File it writes.")
    flags = dy.List(dy.String(), nullable=False, description="Other arguments in order.")
    text = dy.String(nullable=False, description="The whole command.")


SCHEMA = Commands


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for c in commands(events.messages):
            yield (
                *_log.here(source, c.message, c.message.span.line), c.step, c.program, list(c.inputs), c.output, list(c.flags),
                c.text,
            )  # fmt: skip

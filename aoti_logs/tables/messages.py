"""Messages of torch's loggers, and Python's warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Messages(dy.Schema):
    """One row a message; its lines are joined, the prefix taken off."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    level = dy.String(nullable=False, description="`DEBUG`, `INFO`, `WARNING`, `ERROR`, `CRITICAL`, `FATAL`.")
    time = dy.String(nullable=False, description="Time as printed; no year, local zone.")
    process = dy.Int64(nullable=True, description="Process id (thread id in torch 2.4).")
    module = dy.String(nullable=False, description="File or logger that printed it.")
    module_line = dy.Int64(nullable=True, description="Line there.")
    compile_id = dy.String(nullable=True, description="Compile id, `0/0`.")
    artifact = dy.String(nullable=True, description="Artifact, `output_code`.")
    rank = dy.Int64(nullable=True, description="Rank from the prefix.")
    worker = _sender.worker()
    style = dy.String(
        nullable=False,
        description="Style of the prefix: `default`, `short`, `bracket`, `cpp`, a %-format, or `warnings` for Python's warnings.",
    )
    n_lines = dy.Int64(nullable=False, description="Lines of the message.")
    text = dy.String(nullable=False, description="The message, at most 2,000 characters.")


SCHEMA = Messages


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for m in events.messages:
            yield (
                source.name, m.span.line, m.level, m.time, m.process, m.module, m.module_line, m.compile_id, m.artifact,
                m.rank, m.sender.worker if m.sender else None, m.style, len(m.lines), m.text[:2000],
            )  # fmt: skip

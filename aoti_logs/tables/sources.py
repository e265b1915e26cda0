"""What was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Sources(dy.Schema):
    """One row a file, archive member, or text found inside a trace or log."""

    name = dy.String(
        nullable=False,
        description="How a person finds it: the path as given, `archive!member`, or `trace#label`.",
    )
    kind = dy.String(
        nullable=False,
        description="What it is, told from its content: `log`, `torch_trace`, `wrapper_cpp`, ...",
    )
    role = dy.String(
        nullable=False, description="`subject`: asked about; `context`: only consulted for evidence."
    )
    parent = dy.String(nullable=True, description="The source that holds it.")
    label = dy.String(nullable=True, description="What the parent calls it.")
    rank = dy.Int64(
        nullable=True, description="Rank of the process that wrote it, where name or record tells."
    )
    compile_id = t.compile_id()
    filename = dy.String(nullable=True, description="Path that the generating process wrote it to.")
    bytes = dy.Int64(nullable=True, description="Size in bytes; null where it was not read (binary members).")


SCHEMA = Sources


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source in run.all_sources:
        yield (
            source.name,
            str(source.kind),
            str(source.role),
            source.parent.name if source.parent else None,
            source.label or None,
            source.rank,
            source.compile,
            source.filename or None,
            run.size_of(source),
        )

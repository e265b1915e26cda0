"""Which graphs, generated code, kernels and IR torch's loggers printed into a log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.logs.printed_text import printed_texts
from aoti_logs.parse.logs.whole_messages import line_of, readable_id, whole_messages
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class CodeBlocks(dy.Schema):
    """One row a title of texts in a log, and of the lines that say where code was written. The texts themselves are sources
    of their own (`sources`, `graphs`, `kernels`).
    """

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the first one, from 1.")
    title = dy.String(
        nullable=False,
        description="Title, `TRACED GRAPH`, `Output code`, `Output code written to`, `AFTER FUSION`.",
    )
    count = dy.Int64(nullable=False, description="Texts with this title.")
    n_lines = dy.Int64(nullable=False, description="Their lines, titles not counted.")
    compile_ids = dy.List(dy.String(), nullable=False, description="Compile ids without attempt.")
    paths = dy.List(dy.String(), nullable=False, description="Files that were written, in order.")


SCHEMA = CodeBlocks


@dataclass
class _Block:
    line: int
    count: int = 0
    n_lines: int = 0
    compile_ids: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        blocks: dict[str, _Block] = {}
        for text in printed_texts(whole_messages(events.messages)):
            block = blocks.setdefault(text.title, _Block(line_of(text.message, text.first)))
            block.count += 1
            block.n_lines += text.end - text.first - 1
            compile_id = readable_id(text.message)
            if compile_id is not None:
                block.compile_ids[compile_id] = None
            if text.path is not None:
                block.paths[text.path] = None
        for title, block in blocks.items():
            yield (
                source.name, block.line, title, block.count, block.n_lines, list(block.compile_ids), list(block.paths)
            )  # fmt: skip

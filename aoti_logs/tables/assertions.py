"""Failed bounds checks and device asserts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Assertions(dy.Schema):
    """One row a distinct assertion (form, file, line, text, rank); a storm of a million lines is one row."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    form = dy.String(
        nullable=False, description="`cuda`, `hip`, `xpu` (device lines) or `cpu` (text of a C++ exception)."
    )
    message = dy.String(nullable=False, description="The asserted text.")
    assertion = dy.String(
        nullable=True,
        description="The condition, `0 <= tmp4 < ks0`; null when the text is not an index check.",
    )
    operand = dy.String(nullable=True, description="What is tested.")
    operand_tmp = dy.String(
        nullable=True, description="The variable inside an operand that is an expression."
    )
    lower = dy.String(nullable=True, description="Lower end, null when only the upper is tested.")
    bound = dy.String(nullable=True, description="Upper end as written.")
    bound_kind = dy.String(nullable=True, description="`literal`, `symbol` or `symbolic_expr`.")
    bound_value = dy.Int64(nullable=True, description="Value of a literal bound.")
    file = dy.String(
        nullable=True, description="File that the assertion names; of the machine that compiled."
    )
    file_line = dy.Int64(nullable=True, description="Line in that file; 0 when the printer knew none.")
    function = dy.String(nullable=True, description="Function that it names; `unknown` as printed.")
    rank = dy.Int64(nullable=True, description="Rank from the prefix of the line.")
    worker = _sender.worker()
    process = _sender.process()
    time = _sender.time()
    count = dy.Int64(nullable=False, description="Lines (device) or printings (CPU).")
    n_threads = dy.Int64(nullable=True, description="Distinct (block, thread) pairs; null for a CPU.")
    n_blocks = dy.Int64(nullable=True, description="Distinct blocks; null for a CPU.")
    last_line = dy.Int64(nullable=False, description="Line of the last printing, from 1.")


SCHEMA = Assertions


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for a in events.assertions:
            t = a.text
            yield (
                source.name, a.first.line, str(a.form), a.message,
                t.full if t else None, t.operand if t else None, t.operand_name if t else None, t.lower if t else None,
                t.bound if t else None, t.bound_kind if t else None, t.bound_value if t else None,
                a.file, a.line, a.function, a.rank, *_sender.sent(a.sender), a.count, a.n_threads or None, a.n_blocks or None, a.last.line,
            )  # fmt: skip

"""Expressions over shape symbols that tracing decided about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_log import Decision, shapes_in
from aoti_logs.parse.sizes.shape_symbols import symbols_in
from aoti_logs.parse.sizes.shape_tree import Compare, Symbol, operands, walk
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source

_ENTRIES = (
    "guard_added_fast",
    "guard_added",
    "propagate_real_tensors",
    "propagate_real_tensors_provenance",
    "guard_on_data_dependent_error",
    "expression_created",
)


class Expressions(dy.Schema):
    """One row a guard or runtime assertion that was added, an expression that real data decided, one that nothing
    could decide, or one that was computed (TORCH_DTRACE). TORCH_LOGS=+dynamic also tells what needed no guard.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    entry = dy.String(
        nullable=False,
        description="`guard_added_fast` (guard or runtime assertion, a trace does not say which), `guard_added` "
        "(TORCH_DTRACE, TORCH_LOGS), `propagate_real_tensors`, `propagate_real_tensors_provenance`, "
        "`guard_on_data_dependent_error`, `expression_created`; in logs only: `statically_known`, `trivial`, `assumed` "
        "(nothing could decide it, and torch went on as if `result`), `ignored_guard`.",
    )
    expression = dy.String(
        nullable=True,
        description="Expression as sympy prints it, `Eq(Mod(s77, 2), 0)`; null where torch (2.9 and later) prints `False` "
        "in place of what it knew statically.",
    )
    python = dy.String(
        nullable=True,
        description="The same in Python's notation, `s77 % 2 == 0`; null for what is no expression over sizes.",
    )
    operator = dy.String(
        nullable=True,
        description="Outermost operator or function, `==`, `and`, `Max`; null for a bare symbol.",
    )
    symbols = dy.List(dy.String(), nullable=False, description="Shape symbols in it, in order of appearance.")
    unhinted = dy.String(nullable=True, description="The same before example sizes were put in.")
    result = dy.String(nullable=True, description="What real data gave for it, or what it was taken for.")
    prefix = dy.String(
        nullable=True,
        description="`eval` or `runtime_assert`, where recorded; ` [guard suppressed]` behind it: checked nowhere.",
    )
    method = dy.String(nullable=True, description="Operation that made it, `floordiv`.")
    arguments = dy.List(dy.String(), nullable=True, description="What that was given.")
    node_id = dy.Int64(
        nullable=True,
        description="Python id of the expression; ids are used again, so match it with the nearest row before.",
    )
    argument_ids = dy.List(dy.Int64(), nullable=True, description="Likewise of the arguments.")
    file = dy.String(
        nullable=True,
        description="Innermost file of the user's stack; torch cuts off its first characters in a log.",
    )
    file_line = dy.Int64(nullable=True, description="Line there.")
    function = dy.String(nullable=True, description="Function there.")
    code = dy.String(nullable=True, description="Text of that line.")
    symbol_sources = dy.String(nullable=True, description="What its symbols measure, as a JSON object.")
    locals = dy.String(nullable=True, description="Local variables of that frame, as a JSON object.")
    framework = dy.String(
        nullable=True,
        description="Line of torch that asked, `FILE:LINE in FUNCTION`, as a log has it; an export that is not strict "
        "names the user's line there.",
    )


SCHEMA = Expressions


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find(*_ENTRIES):
        fields = t.mapping(record.metadata)
        created = record.name == "expression_created"
        expression = t.text(fields.get("result" if created else "expr"))
        node = next((fields[key] for key in ("result_id", "expr_node_id", "expr_id") if key in fields), None)
        frame = t.innermost(record, fields.get("user_stack"))
        ids = fields.get("argument_ids")
        yield (
            *t.here(record), record.name, expression, *_tree(expression),
            t.text(fields.get("unhinted_expr")), None if created else t.text(fields.get("result")),
            t.text(fields.get("prefix")), t.text(fields.get("method")), t.texts(fields.get("arguments")),
            t.integer(node), [t.integer(i) for i in ids] if isinstance(ids, list) else None,
            frame.file if frame else None, frame.line if frame else None, frame.name if frame else None,
            frame.loc if frame else None, _object(fields.get("symbol_to_sources")), _object(fields.get("frame_locals")),
            None,
        )  # fmt: skip


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for told in shapes_in(events.messages):
        if isinstance(said := told.said, Decision):
            where = said.where
            yield (
                *_log.here(source, told.message, told.line), said.entry, said.expression, *_tree(said.expression),
                None, said.result, said.prefix, None, None, None, None, where.file, where.line, where.function, where.code,
                None, None, where.framework,
            )  # fmt: skip


def _tree(expression: str | None) -> tuple[str | None, str | None, list[str]]:
    """Return Python's notation, outermost operator and symbols."""
    expr = parse_shape_expr(expression) if expression is not None else None
    if expr is None:
        return None, None, list(symbols_in(expression or ""))
    operator = next(
        (getattr(expr, name) for name in ("op", "name") if operands(expr) and hasattr(expr, name)), None
    )
    if isinstance(expr, Compare):
        operator = expr.ops[0]
    symbols = dict.fromkeys(node.name for node in walk(expr) if isinstance(node, Symbol))
    return str(expr), operator, list(symbols)


def _object(value: object) -> str | None:
    return t.to_json(value) if value else None

"""What is tested of the inputs of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class InputChecks(dy.Schema):
    """One row a dimension of an input of a wrapper: what it is, and what is tested of it before or while the model runs.

    An input without dimensions, or of which no dimension is known, has one row without `dim`.
    """

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    input_index = dy.Int64(nullable=False, description="Index in the list that the caller gives.")
    tensor = dy.String(nullable=False, description="Name of the input in the generated code.")
    user_name = dy.String(nullable=True, description="What the user calls it.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    extent = dy.String(
        nullable=True,
        description="What the code takes the size for: a symbol, an expression (`2*s7`), or a number; null where "
        "nothing tells.",
    )
    told_by = dy.String(
        nullable=True,
        description="Who tells that: `assert_size_stride`, `check_input`, `measured` (a symbol is set to it), `solved` "
        "(a symbol is computed from it), or `graph` (a graph or signature that names the input).",
    )
    min = dy.Int64(nullable=True, description="Smallest size that the input check lets through.")
    max = dy.Int64(nullable=True, description="Largest size that the input check lets through.")
    compiled_range = dy.List(
        dy.Int64(nullable=True), nullable=True, description="Both of them; null where neither is tested."
    )
    expected_value = dy.Int64(nullable=True, description="The only size that a check lets through.")
    expected_stride = dy.Int64(
        nullable=True, description="The only stride that the input check lets through."
    )
    compared = dy.Bool(nullable=False, description="True when an assertion compares the size with `extent`.")
    enforced = dy.String(
        nullable=False,
        description="When the size is tested: `always`, `AOTI_RUNTIME_CHECK_INPUTS` (only when that variable is set) or "
        "`never`.",
    )
    dtype = dy.String(nullable=True, description="Element type that the input check wants.")
    device = dy.String(nullable=True, description="Type of device that the input check wants.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = InputChecks


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.code.model import CheckKind

    for view in run.views():
        wrapper = view.wrapper.source
        told = {(c.tensor, c.kind): c.expected for c in view.wrapper.checks}
        dims: dict[str, list[Any]] = {i.name: [] for i in view.wrapper.inputs if not i.scalar}
        for d in view.input_dims:
            dims[d.input.name].append(d)
        for i in view.wrapper.inputs:
            name = view.names.get(i.name)
            kinds = told.get((i.name, CheckKind.DTYPE)), told.get((i.name, CheckKind.DEVICE))
            head = wrapper.name, i.index, i.name, name.name if name else None
            for d in dims.get(i.name, ()):
                lines = [c.line for c in (*d.checks.values(), d.compared, d.measured) if c is not None]
                place = wrapper.place(min(lines, default=i.line))
                yield (
                    *head, d.dim, d.extent, d.told_by, d.lower, d.upper,
                    list(d.compiled_range) if d.compiled_range else None, d.expected, d.stride, d.compared is not None,
                    str(d.enforced), *kinds, place.source, place.line,
                )  # fmt: skip
            if i.name in dims and not dims[i.name]:
                place = wrapper.place(i.line)
                yield (*head, *[None] * 8, False, "never", *kinds, place.source, place.line)

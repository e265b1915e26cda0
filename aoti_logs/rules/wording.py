"""How rules name things, so that all of them say the same thing in the same words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Name, evaluate
from aoti_logs.code.kernel.interval import lower_limit
from aoti_logs.code.model import ArgumentKind
from aoti_logs.rules.exactness import is_exact

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.case_parts import BoundTerm, Indexed, IndexSource
    from aoti_logs.code.index.numbers import Known
    from aoti_logs.code.view import Tensor


def tensor_name(tensor: Tensor) -> str:
    """Name a tensor: `events`, `emb.weight`, `buf0`, in back-ticks."""
    return f"`{tensor.shown}`"


def index_name(case: IndexCase) -> str:
    """Name where the index comes from."""
    source = main_index(case)
    if source is None:
        operand = case.assertion.text.operand if case.assertion.text else None
        return f"`{operand}`" if operand else "an index"
    if source.loop is not None:
        plain = case.slice is not None and str(case.slice.value) in {source.loop, case.slice.operand}
        return (
            f"the loop variable `{source.loop}`"
            if plain
            else f"an index computed from the loop variable `{source.loop}`"
        )
    if source.tensor is None:
        return f"an index read through `{source.ptr}`"
    name = tensor_name(source.tensor)
    if case.slice is not None and (case.slice.direct is None or not is_exact(case)):
        name = f"an index computed from {name}"
    else:
        name = f"an index in {name}"
    inputs = [t for t in source.roots if t.kind is ArgumentKind.INPUT]
    if source.tensor.kind is not ArgumentKind.INPUT and inputs:
        name += f" (made from {', '.join(tensor_name(t) for t in inputs[:3])})"
    return name


def main_index(case: IndexCase) -> IndexSource | None:
    """Return the first source of the index."""
    return case.index[0] if case.index else None


def input_sources(case: IndexCase) -> tuple[Tensor, ...]:
    """Return the inputs of the model that the index is read from, or computed from."""
    found: dict[str, Tensor] = {}
    for source in case.index:
        tensors = (source.tensor,) if source.tensor is not None else ()
        for tensor in (*tensors, *source.roots):
            if tensor.kind is ArgumentKind.INPUT:
                found.setdefault(tensor.arg, tensor)
    return tuple(found.values())


def main_indexed(case: IndexCase) -> Indexed | None:
    """Return what the check stands before."""
    return case.indexed[0] if case.indexed else None


def indexed_name(case: IndexCase) -> str:
    """Name the tensor that is indexed, with the dimension when it is not the first."""
    target = main_indexed(case)
    if target is None:
        return "the indexed tensor"
    name = tensor_name(target.tensor)
    return f"dimension {target.dim} of {name}" if target.dim else name


def rows_name(case: IndexCase) -> str:
    """Say what the bound is: `the rows of `emb.weight``, `events.size(0)`."""
    if case.bound is None:
        return "its bound"
    if case.bound.value is not None:
        target = main_indexed(case)
        rows = target is not None and target.rows == str(case.bound.value)
        if target is not None and rows:
            unit = "rows" if not target.dim else f"entries in dimension {target.dim}"
            return f"{case.bound.value} {unit} of {tensor_name(target.tensor)}"
        return str(case.bound.value)
    if len(case.bound.terms) == 1 and case.bound.text == case.bound.terms[0].param:
        return f"`{case.bound.terms[0].shown}`"
    return f"`{case.bound.text}`"


def range_text(term: BoundTerm) -> str:
    """Write the compiled range of a size."""
    low = "-inf" if term.lower is None else str(term.lower)
    high = "inf" if term.upper is None else str(term.upper)
    return f"[{low}, {high}]"


def extremes(case: IndexCase) -> tuple[Known | None, Known | None]:
    """Return the printed minimum and maximum of the index, when it is a plain copy of a tensor."""
    source = main_index(case)
    if source is None or source.tensor is None or case.launch is None or case.slice is None:
        return None, None
    if case.slice.direct is None or not _read_as_printed(case, source) or not is_exact(case):
        return None, None
    return case.numbers.extremes(source.tensor.arg, case.launch.kernel)


def _read_as_printed(case: IndexCase, source: IndexSource) -> bool:
    """Tell whether the kernel reads the tensor in the dtype that it was printed with."""
    if source.dtype is None or source.tensor is None or not re.search(r"i64|int64|long", source.dtype):
        return True
    arg = source.tensor.arg
    dtypes = {d.dtype for d in case.numbers.dumps if d.argument == arg and d.dtype}
    return all("long" in d or "int64" in d for d in dtypes)


def lowest_allowed(case: IndexCase) -> int | None:
    """Return the smallest index the kernel accepts, None when it depends on an unknown size."""
    if case.slice is None:
        return None
    if case.slice.wraps is None:
        return 0
    if case.bound is None:
        added = evaluate(case.slice.wraps, {})
    else:
        sizes = {t.symbol: t.known.value for t in case.bound.terms if t.symbol and t.known}
        added = replace(case.bound, expr=case.slice.wraps, value=None).with_sizes(sizes)
    return None if added is None else -added


def is_aot(case: IndexCase) -> bool:
    """Return True unless the code is torch.compile's: AOTInductor checks no guards when it runs."""
    return case.compiled is None or case.compiled.startswith("aoti")


PRINT = "print "
"""How a hint to print something begins."""


def printable(case: IndexCase) -> str:
    """Name what a person prints to see the values of the index: inputs where it is computed from them."""
    source = main_index(case)
    if source is None or source.tensor is None:
        return "the index"
    if source.roots:
        return ", ".join(tensor_name(t) for t in source.roots[:3])
    return tensor_name(source.tensor)


def print_hint(what: str, verb: str = "print") -> str:
    """Say how to see a value."""
    return f"{verb} {what} just before the failing call"


def never_negative(case: IndexCase) -> bool:
    """Return True when the kernel's arithmetic keeps the index acceptable from below, given one row."""
    if case.slice is None or case.slice.value is None or case.slice.unread_lines or not is_exact(case):
        return False
    sizes = {t.param for t in case.bound.terms} if case.bound is not None else set()
    # One row says that a bound `ks0` is at least 1. Of the sizes in `ks0 + ks1` one can still be 0.
    plain = case.bound is not None and isinstance(case.bound.expr, Name)
    least = 1 if plain and case.bound is not None and not any(t.derived for t in case.bound.terms) else 0
    lowest = lower_limit(case.slice.value, sizes, least)
    if lowest is None:
        return False
    if case.slice.wraps is None:
        return lowest >= 0
    added = lower_limit(case.slice.wraps, sizes, least)
    return added is not None and lowest >= -added

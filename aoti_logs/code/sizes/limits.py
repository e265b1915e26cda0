"""Limits that a wrapper's own checks set on sizes, and what contradicts what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.sizes.definition import plain
from aoti_logs.code.sizes.evidence import Enforced, Limit
from aoti_logs.code.sizes.guards import bounds
from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_tree import Compare, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from aoti_logs.code.model import InputCheck
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.parse.sizes.shape_tree import Expr
    from aoti_logs.sources.source import Place

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def limits_of_dim(dim: InputDim, place: Callable[[int], Place]) -> Iterator[Limit]:
    """Yield what the input check demands of one dimension, as a limit of its extent.

    Args:
        dim: the dimension.
        place: gives the place of a line of the wrapper.
    """
    checks = [c for k, c in dim.checks.items() if k in {"min", "max"}]
    if dim.extent is None or not checks or dim.compiled_range is None:
        return
    gated = Enforced.GATED if all(c.gated for c in checks) else Enforced.ALWAYS
    lower, upper = dim.compiled_range
    lines = sorted(c.line for c in checks)
    text = f"input {dim.input.index}, dimension {dim.dim}"
    yield Limit(dim.extent, lower, upper, "check_input", gated, place(lines[0]), text)


def limits_of_check(
    check: InputCheck, same: Collection[str], place: Callable[[int], Place]
) -> Iterator[Limit]:
    """Yield what an assertion such as `u0 <= 4096` demands of a symbol; nothing for other forms.

    Args:
        check: the assertion.
        same: all names of the symbol.
        place: gives the place of a line of the wrapper.
    """
    tree = parse_shape_expr(plain(check.expected))
    if not isinstance(tree, Compare):
        return
    enforced = Enforced.GATED if check.gated else Enforced.ALWAYS
    for op, left, right in zip(tree.ops, tree.operands, tree.operands[1:], strict=False):
        for symbol, sign, number in ((left, op, right), (right, _MIRRORED.get(op, ""), left)):
            limits = _limits(symbol, sign, number, same)
            if limits is not None:
                yield Limit(
                    str(symbol), *limits, "runtime_assert", enforced, place(check.line), check.expected
                )


def _limits(
    symbol: Expr, op: str, number: Expr, same: Collection[str]
) -> tuple[int | None, int | None] | None:
    return bounds(op, number) if isinstance(symbol, Symbol) and symbol.name in same else None


def contradictions(same: Collection[str], limits: Sequence[Limit]) -> tuple[str, ...]:
    """Say where what was declared of a symbol differs from what is tested, and where records disagree.

    Args:
        same: all names of the symbol.
        limits: its limits.
    """
    own = [one for one in limits if one.extent in same]
    tested = [one for one in own if one.told_by == "check_input"]
    declared = [one for one in own if one.told_by == "exported_program"]
    if len({(one.lower, one.upper) for one in declared}) > 1:
        shown = ", ".join(f"{_range(one)} at {one.place}" for one in declared)
        return (f"exported programs disagree: {shown}; which of them is this model's is not known",)
    return tuple(dict.fromkeys(text for one in declared for t in tested for text in _refused(one, t)))


def _refused(declared: Limit, tested: Limit) -> Iterator[str]:
    who = f"the exported program allows {_range(declared)} ({declared.place})"
    if tested.lower is not None and tested.lower > (declared.lower or 0):
        yield f"{who}, the check of {tested.text} refuses less than {tested.lower} ({tested.place})"
    if tested.upper is not None and (declared.upper is None or tested.upper < declared.upper):
        yield f"{who}, the check of {tested.text} refuses more than {tested.upper} ({tested.place})"


def _range(limit: Limit) -> str:
    lower = 0 if limit.lower is None else limit.lower
    return f"{lower} or more" if limit.upper is None else f"{lower} to {limit.upper}"

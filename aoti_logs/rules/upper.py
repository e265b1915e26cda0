"""The upper side of a bounds check, shared by the rules on symbolic and on literal bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.wording import (
    extremes,
    index_name,
    indexed_name,
    main_index,
    main_indexed,
    print_hint,
    printable,
    rows_name,
    tensor_name,
)

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase


def judge_upper(case: IndexCase, code: str) -> Verdict | None:
    """Say whether the index was too large: proven by numbers, excluded by numbers, or possible."""
    bound = case.bound
    if bound is None:
        return None
    _, highest = extremes(case)
    size = bound.known
    if size == 0:
        # No index fits an empty tensor; that is what failed, not the index.
        return None
    source = main_index(case)
    fixes = (f"check or clamp the index against {rows_name(case)} before the call",)
    if highest is not None and size is not None:
        if highest.high < size:
            return None
        if highest.low >= size and source is not None and source.covers:
            strengths = [highest.strength, case.strength, *(t.known.strength for t in bound.terms if t.known)]
            name = tensor_name(source.tensor) if source.tensor else "the index"
            return Verdict(
                code,
                f"{name} has a maximum of {highest.shown}, and {_has(case, size)}",
                weakest(*strengths),
                (
                    f"{highest.text} ({highest.place})",
                    *(f"{t.known.text} ({t.known.place})" for t in bound.terms if t.known),
                ),
                fixes=fixes,
            )
    decide = [print_hint(f"the largest value of {printable(case)}")]
    if size is None and bound.terms:
        decide.append(
            print_hint(
                f"the shape of `{bound.terms[0].tensor.shown}`" if bound.terms[0].tensor else rows_name(case),
            )
        )
    because = [
        f"a value of {bound.value if bound.value is not None else rows_name(case)} or more prints this text"
    ]
    if highest is not None and source is not None and not source.covers:
        because.append(f"{highest.text}; whether the kernel reads all of it is not known ({highest.place})")
    title = f"{index_name(case)} may be too large for {indexed_name(case)}"
    return Verdict(code, title, Confidence.POSSIBLE, tuple(because), tuple(decide), fixes)


def _has(case: IndexCase, size: int) -> str:
    target = main_indexed(case)
    other = case.bound.terms[0].tensor if case.bound is not None and case.bound.terms else None
    if target is None or target.dim is None or (other is not None and other.arg != target.tensor.arg):
        return f"the bound is {size}" + (f", {rows_name(case)}" if case.bound and case.bound.terms else "")
    unit = "rows" if target.dim == 0 else f"entries in dimension {target.dim}"
    return f"{tensor_name(target.tensor)} has {size} {unit}"

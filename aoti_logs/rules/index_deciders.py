"""What decides between several causes of a failed index: one line to paste before the call, and what checks cannot see."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import ArgumentKind
from aoti_logs.rules.wording import PRINT, print_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.view import Tensor
    from aoti_logs.explain import Verdict

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_OF_VALUES = ("AL102", "AL103", "AL105", "AL107")
"""Causes that lie in values or in two sizes: a check of each input by itself cannot see them."""
_MOST = 4


def with_paste(verdicts: list[Verdict], case: IndexCase) -> list[Verdict]:
    """Return the verdicts with one line that prints what all of them ask for, where a person can name the tensors."""
    line = _paste(case)
    if line is None:
        return verdicts
    return [
        replace(v, decide=(line, *(d for d in v.decide if not d.startswith(PRINT))))
        if any(d.startswith(PRINT) for d in v.decide)
        else v
        for v in verdicts
    ]


def beyond_checks(verdicts: list[Verdict]) -> str:
    """Say which of the possible causes a check of the inputs does not decide."""
    left = [v.code for v in verdicts if v.code in _OF_VALUES]
    return f"; it does not look at values, so it cannot decide {' or '.join(left)}" if left else ""


def _paste(case: IndexCase) -> str | None:
    index = {t.arg: t for t in _index(case)}
    sizes = {t.arg: t for t in _sizes(case) if t.arg not in index}
    named = [*index.values(), *sizes.values()]
    if not index or len(named) > _MOST:
        return None
    if any(t.kind is not ArgumentKind.INPUT or t.name is None or not _NAME.fullmatch(t.name) for t in named):
        return None
    parts = [
        f"{t.name}.shape, {t.name}.dtype, {t.name}.stride(), {t.name}.min(), {t.name}.max()"
        for t in index.values()
    ]
    parts += [f"{t.name}.shape" for t in sizes.values()]
    return print_hint(f"`print({', '.join(parts)})`", "put")


def _index(case: IndexCase) -> Iterator[Tensor]:
    """Yield the tensors whose values make the index: of a buffer, what it is computed from."""
    for source in case.index:
        if source.tensor is not None:
            yield from source.roots or (source.tensor,)


def _sizes(case: IndexCase) -> Iterator[Tensor]:
    """Yield the inputs that a possible cause speaks of besides: that of the bound, and the one that is indexed."""
    for term in case.bound.terms if case.bound is not None else ():
        if term.tensor is not None:
            yield term.tensor
    yield from (i.tensor for i in case.indexed[:1] if i.tensor.kind is ArgumentKind.INPUT)

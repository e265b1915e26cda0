"""Bounds checks of CPU kernels at hand that throw inside of a parallel region: what may be behind a `terminate` without a text.

Inductor writes `#pragma omp parallel` around the loops of a kernel and its checks inside (`_inductor/codegen/cpp.py`). An
exception cannot leave such a region, so the process ends, and where several threads throw at once no text is printed.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from aoti_logs.code.index.joiner import Joiner
from aoti_logs.code.index.numbers import Numbers
from aoti_logs.code.kernel.inside import is_defined
from aoti_logs.code.kernel.slice import operand_of, slice_check
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.explain import Confidence, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.body import Body, Check
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.index.case_parts import IndexSource
    from aoti_logs.code.model import Kernel
    from aoti_logs.code.view import ModelView

_PARALLEL = re.compile(r"^\s*#\s*pragma\s+omp\s+parallel\b")
_MOST_WRAPPERS = 64
_SHOWN = 6
_WIDE = 200


def parallel_checks(evidence: Evidence) -> tuple[Link, ...]:
    """Return the checks inside of parallel regions, each a possible cause, with the input that it tests.

    The main loop and the tail of a kernel hold the same check; one of them is shown.
    """
    found = list(islice(_links(evidence), _SHOWN + 1))
    if len(found) <= _SHOWN:
        return tuple(found)
    return (*found[:_SHOWN], Link("check", "and more in parallel regions", None, Confidence.POSSIBLE))


def _links(evidence: Evidence) -> Iterator[Link]:
    seen: set[tuple[str, str]] = set()
    for code in evidence.base.wrappers[:_MOST_WRAPPERS]:
        if code.wrapper is None:
            continue
        view = evidence.view(code.wrapper)
        for kernel in map(view.definition, code.wrapper.kernel_names):
            if (
                kernel is None
                or kernel.backend is not Backend.CPP
                or not is_defined(kernel)
                or not kernel.asserts
            ):
                continue
            regions = parallel_regions(kernel.source.lines_from(kernel.line, kernel.end_line))
            body = evidence.body(kernel) if regions else None
            for check in body.checks if body is not None else ():
                inside = any(start <= check.line - kernel.line <= end for start, end in regions)
                if body is not None and inside and (kernel.name, check.message) not in seen:
                    seen.add((kernel.name, check.message))
                    yield _link(evidence, view, kernel, body, check)


def parallel_regions(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return (first, last) of what each `#pragma omp parallel` governs: lines from it to the brace that closes it."""
    regions: list[tuple[int, int]] = []
    start, depth, opened = None, 0, False
    for number, line in enumerate(lines):
        if start is None:
            if _PARALLEL.match(line):
                start, depth, opened = number, 0, False
            continue
        code = re.sub(r'"[^"\n]{0,2000}"|//.*', "", line)
        opened = opened or "{" in code
        depth += code.count("{") - code.count("}")
        if opened and depth <= 0:
            regions.append((start, number))
            start = None
    return regions if start is None else [*regions, (start, len(lines))]


def _link(evidence: Evidence, view: ModelView, kernel: Kernel, body: Body, check: Check) -> Link:
    launches = view.wrapper.launches_of(kernel.name)
    details: tuple[str, ...] = ()
    # Of several launches each gives other tensors: then the text of the check is all that is said.
    if len(launches) == 1:
        sliced = slice_check(body, check)
        sources = Joiner(view, launches[0], Numbers((), ()), evidence).index(sliced, body) if sliced else ()
        operand, _, bound = operand_of(check)
        plain = str(sliced.value) if sliced is not None and sliced.value is not None else ""
        limit = str(bound) if bound is not None else None
        details = tuple(_tested(source, operand, limit, plain) for source in sources)
    condition = check.message.removeprefix("index out of bounds: ")[:_WIDE]
    text = f"{kernel.name} tests {condition} in a parallel region"
    return Link("check", text, kernel.source.place(check.line), Confidence.POSSIBLE, details)


def _tested(source: IndexSource, operand: str | None, bound: str | None, plain: str) -> str:
    """Say where the tested value comes from, in the user's words."""
    if source.loop is not None:
        sizes = ", ".join(f"`{term.shown}`" for term in source.extent_terms)
        end = sizes or source.extent or "an end that is not known"
        said = f"{operand} is computed from `{source.loop}`, which runs below {end}"
        terms = source.extent_terms
        copied = plain in {source.loop, operand} and len(terms) == 1 and str(source.extent) == terms[0].param
        return (
            f"{said}: it fails where that is above {bound}"
            if copied and bound and bound.isdecimal()
            else said
        )
    if source.tensor is None:
        return f"{operand} is read through {source.ptr}"
    roots = [t for t in source.roots if t.kind is ArgumentKind.INPUT]
    made = f", made from {', '.join(f'`{t.shown}`' for t in roots[:3])}" if roots else ""
    return f"{operand} is computed from values of `{source.tensor.shown}`{made}" + (
        f"; the bound is {bound}" if bound else ""
    )

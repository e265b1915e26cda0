"""The index tensor is not laid out, or not as long, as the code was compiled for.

## What it says
The kernel walks over the memory of the index input by the strides and the length that it was compiled
for. Nothing tests either when an AOTInductor model runs, so `idx[::2]`, a transposed index, or an index
shorter than its partner is read at the wrong places: numbers that nobody passed are checked, and fail.

## Why it matters
Every index that the caller sees is legal. Like int32 ids (AL106) it looks like bad data.

## Evidence it needs
The launch, to know which inputs of the model the index is read from or computed from. Proven when the
value printer shows strides that differ from the wrapper's check of them, over other memory than a
contiguous tensor has, and all values in range. Excluded when it shows a vector that is contiguous
and that the kernel reads from end to end, or under torch.compile, which guards the layout; else
possible.

## What to do
Pass `idx.contiguous()`; run once with `AOTI_RUNTIME_CHECK_INPUTS=1`, which says `unmatched stride value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import extremes, input_sources, is_aot, lowest_allowed, print_hint, tensor_name

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.model import InputCheck
    from aoti_logs.code.view import Tensor
    from aoti_logs.parse.events import Dump


def judge(case: IndexCase) -> Verdict | None:
    """Apply when the index comes from inputs of the model and nothing tested their layout."""
    if not case.sites or not is_aot(case):
        return None
    open_ones: list[tuple[Tensor, tuple[str, ...]]] = []
    for tensor in input_sources(case):
        dump = next(
            (d for d in reversed(case.numbers.dumps) if d.argument == tensor.arg and d.stride and d.shape),
            None,
        )
        checks = _checks(case, tensor)
        if dump is None:
            if not _tested(case, checks):
                open_ones.append((tensor, ()))
            continue
        if _dense(dump):
            reads_all = any(
                i.covers and i.tensor is not None and i.tensor.arg == tensor.arg for i in case.index
            )
            shorter = _shorter(case, tensor, dump)
            if shorter or not reads_all:
                open_ones.append((tensor, shorter))
            continue
        if (verdict := _proven(case, tensor, dump, checks)) is not None:
            return verdict
        printed = (
            f"{tensor.arg} was printed with size {list(dump.shape or ())} and stride {list(dump.stride or ())}, "
            f"with gaps or repeats in its memory ({dump.span.place})"
        )
        open_ones.append((tensor, (printed,)))
    return _possible(case, open_ones)


def _checks(case: IndexCase, tensor: Tensor) -> list[InputCheck]:
    return [
        c
        for c in (case.view.wrapper.checks if case.view else ())
        if c.tensor == tensor.arg and c.dim is not None
    ]


def _tested(case: IndexCase, checks: list[InputCheck]) -> bool:
    """Tell whether strides of every dimension, and the length, were compared with fixed numbers."""
    ran = [c for c in checks if case.checks_on or not c.gated]
    strides = {c.dim for c in ran if c.kind is CheckKind.STRIDE}
    lengths = {c.dim for c in ran if c.kind is CheckKind.EQUAL}
    # A size that the code takes from this very tensor is its own: it cannot be too short for it.
    sizes = case.view.sizes.values() if case.view is not None else ()
    lengths |= {
        s.dim for s in sizes if checks and s.tensor == checks[0].tensor and s.dim is not None and not s.stride
    }
    every = {c.dim for c in checks}
    return bool(every) and every <= strides and every <= lengths


def _dense(dump: Dump) -> bool:
    """Tell a tensor whose elements fill one block of memory, in whatever order."""
    filled = 1
    pairs = zip(dump.stride or (), dump.shape or (), strict=False)
    for stride, size in sorted((stride, size) for stride, size in pairs if size != 1):
        if size and stride != filled:
            return False
        filled *= size
    return True


def _shorter(case: IndexCase, tensor: Tensor, dump: Dump) -> tuple[str, ...]:
    """Return what was printed of another input that was compiled for the same length and has another one."""
    if case.view is None or not tensor.shape:
        return ()
    found = []
    for arg in case.view.inputs:
        other = case.view.named(arg).shape or ()
        theirs = next((d for d in reversed(case.numbers.dumps) if d.argument == arg and d.shape), None)
        if arg == tensor.arg or theirs is None:
            continue
        pairs = zip(other, theirs.shape or (), strict=False)
        lengths = {size: length for size, length in pairs if not size.isdecimal()}
        for size, length in zip(tensor.shape, dump.shape or (), strict=False):
            if lengths.get(size, length) != length:
                found.append(
                    f"{size} is a size of both, and {tensor.arg} was printed with size {list(dump.shape or ())} "
                    f"({dump.span.place}), {arg} with {list(theirs.shape or ())} ({theirs.span.place})"
                )
    return tuple(found)


def _proven(case: IndexCase, tensor: Tensor, dump: Dump, checks: list[InputCheck]) -> Verdict | None:
    """Return the verdict when the values that were passed are all in range, so that only the layout is left."""
    given, shape = dump.stride or (), dump.shape or ()
    wrong = [
        c
        for c in checks
        if c.kind is CheckKind.STRIDE
        and c.dim is not None
        and c.dim < min(len(given), len(shape))
        and shape[c.dim] > 1
        and str(given[c.dim]) != c.expected
    ]
    lowest, highest = extremes(case)
    allowed, size = lowest_allowed(case), case.bound.known if case.bound is not None else None
    if case.bound is not None and case.bound.value is not None:
        size = case.bound.value
    main = case.index[0].tensor
    if not wrong or main is None or main.arg != tensor.arg or size is None or allowed is None:
        return None
    if highest is None or lowest is None or highest.high >= size or lowest.low < allowed:
        return None
    name = tensor_name(tensor)
    return Verdict(
        "AL110",
        f"{name} was given with strides {list(given)}, and the code reads it with {wrong[0].expected} "
        f"in dimension {wrong[0].dim}",
        weakest(case.strength, case.numbers.strength),
        (
            f"{tensor.arg} was printed with stride {list(given)} ({dump.span.place})",
            f"its values, {lowest.shown} to {highest.shown}, are all in range",
        ),
        fixes=_fixes(name),
    )


def _possible(case: IndexCase, tensors: list[tuple[Tensor, tuple[str, ...]]]) -> Verdict | None:
    if not tensors:
        return None
    name = " or ".join(tensor_name(t) for t, _ in tensors[:3])
    walks = f"the model walks over {name} by the strides and the length that it was compiled for"
    because = (
        f"{walks}, and nothing tests all of them",
        *(text for _, printed in tensors for text in printed),
    )
    decide = [print_hint(f"the shape and strides of {tensor_name(t)}") for t, _ in tensors[:3]]
    gated = [c for t, _ in tensors for c in _checks(case, t) if c.kind is CheckKind.STRIDE and c.gated]
    if gated and not case.checks_on:
        decide.insert(0, "AOTI_RUNTIME_CHECK_INPUTS=1 names a stride that differs")
    title = f"{name} may not be laid out as compiled (a slice with steps, a transpose, or shorter than its partner)"
    return Verdict("AL110", title, Confidence.POSSIBLE, because, tuple(decide), _fixes(name))


def _fixes(name: str) -> tuple[str, ...]:
    return (f"pass {name} as a contiguous tensor: `.contiguous()`",)


RULE = Rule("AL110", "index-layout", __doc__ or "", judge)

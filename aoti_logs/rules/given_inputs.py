"""What a model of AOTInductor was given, as far as it was printed, against what it was compiled for.

The value printer prints every input of a call (`aoti_model_inputs`); the comparisons that the wrapper would make are in its
code, whether the run switched them on or not. Both together are the check of the inputs, after the fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.index.case import prints_values
from aoti_logs.code.model import CheckKind
from aoti_logs.code.wrapper_cpp.info import aten_dtype
from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.dtype import torch_dtype
from aoti_logs.parse.printer.launches import INPUTS
from aoti_logs.rules.device_run import printed_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import InputCheck
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.events import Dump, LogEvents

_MOST = 64
"""So many wrappers are looked into."""
_SPECIAL = 2


@dataclass(frozen=True)
class Misfit:
    """One property of an input that is not what the model was compiled for.

    `certain`: False for a size of 0 or 1 below a limit of 2, which the compiler sets for its own reasons (AL206).
    """

    text: str
    dump: Dump
    view: ModelView
    check: InputCheck
    certain: bool = True

    @property
    def link(self) -> Link:
        """Quote what was printed, with the comparison of the wrapper under it."""
        where = self.view.wrapper.source.place(self.check.line)
        told = f"the wrapper's check: {self.check.text.strip(' {')} ({where})"
        return Link("given", self.text, self.dump.span.place, details=(told,))


@dataclass(frozen=True)
class Given:
    """The inputs of the last call before a failure: how many were printed and compared, and which do not fit."""

    inputs: tuple[str, ...] = ()
    misfits: tuple[Misfit, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether the check of the inputs would add nothing: they were printed, and fit or not."""
        return bool(self.inputs)

    @property
    def because(self) -> tuple[str, ...]:
        """What follows, in words; nothing where nothing was printed."""
        certain = [m.text for m in self.misfits if m.certain]
        if certain:
            return tuple(f"likely the cause: {text}" for text in certain)
        small = tuple(f"possible: {m.text} (AL206)" for m in self.misfits)
        if small or not self.inputs:
            return small
        names = ", ".join(f"`{name}`" for name in self.inputs[:8])
        return (
            f"what was printed of {names} (dtype, sizes, strides, kind of device) is what the checks of the wrapper allow",
        )


def given_inputs(events: LogEvents, evidence: Evidence, before: int, rank: int | None = None) -> Given:
    """Compare the inputs that a rank printed last above an offset of the log; nothing where several models can have printed them."""
    dumps = _last_call(printed_of(events.dumps, rank), before)
    views = list(_printing(evidence, {str(d.argument) for d in dumps})) if dumps else []
    if len(views) != 1:
        return Given()
    view = views[0]
    checked: dict[str | None, list[InputCheck]] = {}
    for check in view.wrapper.checks:
        if check.input_index is not None:
            checked.setdefault(check.tensor, []).append(check)
    found = [
        m
        for dump in dumps
        for m in _without_followers(list(_misfits(view, dump, checked.get(dump.argument, []))))
    ]
    names = tuple(_called(view, str(d.argument)) for d in dumps if d.argument in checked)
    return Given(names, tuple(found))


def _last_call(dumps: Iterable[Dump], before: int) -> list[Dump]:
    """Return the last block of inputs, without what another call printed above it."""
    found: dict[str | None, Dump] = {}
    ended = False
    for dump in dumps:
        if dump.span.start >= before:
            break
        if dump.phase != INPUTS:
            ended = True
            continue
        if ended or dump.argument in found:
            found, ended = {}, False
        if dump.is_tensor and dump.complete and dump.argument:
            found[dump.argument] = dump
    return list(found.values())


def _printing(evidence: Evidence, names: set[str]) -> Iterator[ModelView]:
    """Yield the models at hand whose code prints exactly these inputs; equal comparisons once."""
    seen = set()
    for code in evidence.base.wrappers[:_MOST]:
        wrapper = code.wrapper
        if wrapper is None or wrapper.flavour != "aoti_cpp" or not prints_values(wrapper.source):
            continue
        if not names <= {i.name for i in wrapper.inputs}:
            continue
        key = tuple((c.kind, c.tensor, c.dim, c.expected) for c in wrapper.checks)
        if key not in seen:
            seen.add(key)
            yield evidence.view(wrapper)


def _called(view: ModelView, argument: str) -> str:
    known = view.names.get(argument)
    return known.name if known is not None and known.strength is Confidence.PROVEN else argument


def _without_followers(found: list[Misfit]) -> list[Misfit]:
    """Leave out strides where a size is wrong: they follow from it."""
    sized = any(m.check.kind in {CheckKind.EQUAL, CheckKind.MAX} for m in found)
    return [m for m in found if not (sized and m.check.kind is CheckKind.STRIDE)]


def _misfits(view: ModelView, dump: Dump, checks: Iterable[InputCheck]) -> Iterator[Misfit]:
    name = _called(view, str(dump.argument))
    shape, stride = dump.shape, dump.stride
    for check in checks:
        expected, kind, dim = check.expected.rstrip("L"), check.kind, check.dim
        if kind is CheckKind.DTYPE:
            given = torch_dtype(dump.dtype)
            if given is not None and given != aten_dtype(expected):
                yield Misfit(
                    f"`{name}` was given as {given}, and the model reads {aten_dtype(expected)}",
                    dump,
                    view,
                    check,
                )
        elif kind is CheckKind.DEVICE:
            device = (dump.device or "").partition(":")[0]
            if device and device != expected:
                yield Misfit(
                    f"`{name}` was given on {dump.device}, and the model was compiled for {expected}",
                    dump,
                    view,
                    check,
                )
        elif dim is not None and shape is not None and expected.isdecimal():
            if dim >= len(shape):
                yield Misfit(
                    f"`{name}` was given with {len(shape)} dimensions, and the model reads dimension {dim}",
                    dump,
                    view,
                    check,
                )
                return
            wanted = int(expected)
            yield from _of_size(name, dump, view, check, shape[dim], wanted)
            moves = shape[dim] > 1 and 0 not in shape
            if kind is CheckKind.STRIDE and stride is not None and moves and stride[dim] != wanted:
                text = f"`{name}` was given with stride {stride[dim]} in dimension {dim}, and the model reads it with {wanted}"
                yield Misfit(text, dump, view, check)


def _of_size(
    name: str, dump: Dump, view: ModelView, check: InputCheck, size: int, wanted: int
) -> Iterator[Misfit]:
    said = f"`{name}` was given with size {size} in dimension {check.dim}, and the model was compiled for"
    if check.kind is CheckKind.EQUAL and size != wanted:
        yield Misfit(f"{said} {wanted}", dump, view, check)
    elif check.kind is CheckKind.MAX and size > wanted:
        yield Misfit(f"{said} at most {wanted}", dump, view, check)
    elif check.kind is CheckKind.MIN and size < wanted:
        yield Misfit(f"{said} at least {wanted}", dump, view, check, certain=wanted > _SPECIAL)

"""Which wrapper at hand an error of a running model fits, and what it says about the input or the call in question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.code.codebase import common_tail
from aoti_logs.code.model import ArgumentKind, CheckKind
from aoti_logs.code.wrapper_cpp.info import aten_dtype
from aoti_logs.explain import Confidence, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import InputCheck, Launch
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.aoti.facts import FailedCall, InputMismatch
    from aoti_logs.parse.facts import Range
    from aoti_logs.sources.source import Place

_MOST = 64
"""So many wrappers are looked into."""


@dataclass(frozen=True)
class FailedInput:
    """An input of a wrapper whose check is the one that failed; `range` is that of the exported program."""

    view: ModelView
    check: InputCheck
    name: str | None
    range: Range | None

    @property
    def place(self) -> Place:
        """Where the check stands."""
        return self.view.wrapper.source.place(self.check.line)


def _views(evidence: Evidence) -> Iterator[ModelView]:
    for code in evidence.base.wrappers[:_MOST]:
        wrapper = code.wrapper
        if wrapper is not None and wrapper.flavour == "aoti_cpp":
            yield evidence.view(wrapper)


def failed_inputs(evidence: Evidence, told: InputMismatch) -> tuple[FailedInput, ...]:
    """Return the inputs at hand with exactly the check that a text tells of, one for each name."""
    if told.handles != "input":
        return ()
    found: dict[tuple[str, str | None], FailedInput] = {}
    for view in _views(evidence):
        for check in view.wrapper.checks:
            if check.input_index == told.index and _same(check, told):
                made = _input(evidence, view, check)
                found.setdefault((check.tensor, made.name), made)
    return tuple(found.values())


def failed_rank(evidence: Evidence, expected: int) -> tuple[FailedInput, ...]:
    """Return the inputs at hand whose layout is asserted with so many dimensions."""
    found: dict[tuple[str, str | None], FailedInput] = {}
    for view in _views(evidence):
        for check in view.wrapper.checks:
            shape = view.shapes.get(check.tensor)
            known = check.kind is CheckKind.SIZE_STRIDE and check.tensor in view.inputs
            if known and shape is not None and len(shape) == expected:
                made = _input(evidence, view, check)
                found.setdefault((check.tensor, made.name), made)
    return tuple(found.values())


def _input(evidence: Evidence, view: ModelView, check: InputCheck) -> FailedInput:
    named = view.names.get(check.tensor)
    return FailedInput(view, check, named.name if named else None, _range(evidence, view, check))


_KINDS = {
    ("dtype", "=="): CheckKind.DTYPE,
    ("device type", "=="): CheckKind.DEVICE,
    ("size", "=="): CheckKind.EQUAL,
    ("size", ">="): CheckKind.MIN,
    ("size", "<="): CheckKind.MAX,
    ("stride", "=="): CheckKind.STRIDE,
}


def _same(check: InputCheck, told: InputMismatch) -> bool:
    if check.kind is not _KINDS.get((told.attribute, told.relation)) or check.dim != told.dim:
        return False
    expected = check.expected.rstrip("L")
    return str(told.expected) in {expected, aten_dtype(expected)}


def _range(evidence: Evidence, view: ModelView, check: InputCheck) -> Range | None:
    """Return the range that the exported program gives the size, where all at hand agree."""
    symbols = {
        s.symbol
        for s in view.wrapper.sizes
        if s.tensor == check.tensor and s.dim == check.dim and not s.stride and s.alias_of is None
    }
    ranges = [r for r in evidence.ranges if r.symbol in symbols]
    same = {(r.symbol, r.lower, r.upper) for r in ranges}
    return ranges[0] if len(same) == 1 else None


def inputs_of(evidence: Evidence, count: int) -> list[tuple[ModelView, tuple[str, ...]]]:
    """Return the wrappers at hand with so many inputs, and their names in order; equal lists once."""
    found: dict[tuple[str, ...], ModelView] = {}
    for view in _views(evidence):
        if len(view.wrapper.inputs) == count:
            names = tuple(_shown(view, i.name) for i in sorted(view.wrapper.inputs, key=lambda i: i.index))
            found.setdefault(names, view)
    return [(view, names) for names, view in found.items()]


def _shown(view: ModelView, arg: str) -> str:
    named = view.names.get(arg)
    return named.name if named is not None else arg


@dataclass(frozen=True)
class CallSite:
    """The statement of a wrapper that a failed call's file and line name."""

    view: ModelView
    launch: Launch
    strength: Confidence

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.view.wrapper.source.place(self.launch.line)


def call_site(evidence: Evidence, call: FailedCall) -> CallSite | None:
    """Return the statement that failed, where the wrapper is at hand and has this call on this line."""
    for code, agree in evidence.base.named(call.file):
        wrapper = code.wrapper
        if wrapper is None:
            continue
        for launch in wrapper.launches:
            text = "\n".join(wrapper.source.lines_from(launch.line, launch.line + 1))
            if abs(launch.line - call.line) <= 1 and call.name in text:
                name = common_tail(call.file, wrapper.source.name) or agree
                strength = (
                    Confidence.PROVEN if name > 1 or call.file.endswith(".wrapper.cpp") else Confidence.LIKELY
                )
                return CallSite(evidence.view(wrapper), launch, strength)
    return None


def argument_facts(site: CallSite) -> list[dict[str, Any]]:
    """Return what each tensor of a call is: an input, a weight, or a buffer and who made it."""
    rows: list[dict[str, Any]] = []
    for argument in site.launch.arguments:
        if argument.name is None:
            continue
        tensor = site.view.named(argument.name)
        row: dict[str, Any] = {"position": argument.position, "arg": argument.name}
        if tensor.kind is ArgumentKind.INPUT:
            row |= {"input_index": tensor.input_index, "input_name": tensor.name}
        elif tensor.kind is ArgumentKind.CONSTANT:
            row["constant"] = tensor.name
        elif tensor.kind is ArgumentKind.BUFFER:
            maker = site.view.producer(argument.name, site.launch.index)
            if maker is None:
                continue
            row["produced_by"] = maker.kernel
        else:
            continue
        rows.append(row)
    return rows


def site_link(site: CallSite, rows: list[dict[str, Any]]) -> Link:
    """Quote the statement, with what its tensors are."""
    details = []
    for row in rows:
        if "input_index" in row:
            name = f" `{row['input_name']}`" if row.get("input_name") else ""
            details.append(f"{row['arg']} is input {row['input_index']}{name}")
        elif row.get("constant"):
            details.append(f"{row['arg']} is the weight `{row['constant']}`")
        elif row.get("produced_by"):
            details.append(f"{row['arg']} comes from {row['produced_by']}")
    return Link("wrapper", site.launch.text.strip(), site.place, site.strength, tuple(details))

"""Why torch compiles a function again: the reasons of TORCH_TRACE's `recompile_reasons`, one a cached compilation.

Format: `grammars/recompile_reason.lark`; a guard that failed is read by `parse.guard_line`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aoti_logs.parse.guards.guard_kind import GuardKind, guard_kind
from aoti_logs.parse.guards.guard_line import Guard, read_guard
from aoti_logs.parse.python.stack_text import StackLine, frames_of_stack
from aoti_logs.parse.shape import Fields, fields, first
from aoti_logs.records.envelope import decode_json

_STACK = "\nUser stack trace:\n"
_MOST = 100  # guards of one compile that are looked at
_OF_TENSOR = {"size", "stride", "storage_offset", "dtype", "device", "requires_grad", "tensor"}
# terminal of grammars/recompile_reason.lark: what it is about
_ABOUT = {
    "TYPE_OF": "type", "DEVICE_INDEX": "device_index", "KEY": "key", "ATTRIBUTE": "attribute",
    "GLOBAL_STATE": "global_state", "ALIASING": "aliasing", "DEALLOCATED": "deallocated", "BACKEND": "backend",
    "UNEXPECTED": "unexpected", "MARKING": "dimension_marking",
}  # fmt: skip


@dataclass(frozen=True)
class RecompileReason:
    """Why one cached compilation was not used.

    Attributes:
        text: the reason as printed, without the user's stack.
        cached_compile_id: compile id of the cached compilation (`0/0`); None where torch prints none (2.4).
        tensor: Dynamo source of the tensor that does not fit, without `L[...]` from torch 2.9 on.
        what: what differs. Of a tensor `size`, `stride`, `dtype`, `rank`, `requires_grad`, `dispatch_key_set`,
            `device_index`, `type`; else `key`, `attribute`, `global_state`, `aliasing`, `deallocated`, `backend`,
            `dimension_marking`, `unexpected`; of a guard what `parse.guard_kind` tells (`int_equality`, `length`, ...);
            None for a text of another form.
        index: dimension of a size or stride.
        expected: what was compiled for, as printed.
        actual: what came, as printed.
        subject: what a text is about that is not about a tensor: the key, the attribute, the names of the state, the
            Dynamo source that a guard tests.
        guard: the guard that failed, Python text.
        code: the user's line of code that the guard comes from.
        user_file: its file; torch cuts off the first characters.
        user_line: its line, from 1.
        user_function: its function.
        framework: line of torch that made the guard, `FILE:LINE in FUNCTION`.
        hint: what else torch remarks.
        user_stack: frames of the user's stack at the guard, outermost first (torch 2.13).
    """

    text: str
    cached_compile_id: str | None = None
    tensor: str | None = None
    what: str | None = None
    index: int | None = None
    expected: str | None = None
    actual: str | None = None
    subject: str | None = None
    guard: str | None = None
    code: str | None = None
    user_file: str | None = None
    user_line: int | None = None
    user_function: str | None = None
    framework: str | None = None
    hint: str | None = None
    user_stack: tuple[StackLine, ...] = ()


def read_recompile_reasons(payload: str) -> tuple[RecompileReason, ...]:
    """Read the payload of `recompile_reasons`: a JSON list, or from torch 2.10 on the bare text of a single one.

    Newest cached compilation first; none for an empty payload.
    """
    return tuple(map(read_recompile_reason, _texts(payload)))


def _texts(payload: str) -> list[str]:
    import json

    if payload.lstrip()[:1] in {"[", '"'}:
        try:
            value = decode_json(payload.encode("utf-8", "surrogatepass"))
        except ValueError:
            value = None
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [item if isinstance(item, str) else json.dumps(item) for item in value]
    return [payload] if payload.strip() else []


def read_recompile_reason(text: str) -> RecompileReason:
    """Read one reason, with or without the user's stack; text of another form keeps its text."""
    said, _, stack = text.partition(_STACK)
    frames = frames_of_stack(stack) if stack else ()
    line, _, more = said.partition("\n")
    found = fields("recompile_reason", "start", line)
    if found is None:
        return RecompileReason(said, user_stack=frames)
    cached = first(found, "COMPILE_ID")
    cached = None if cached == "None" else cached
    if "GUARD" not in found:
        return _mismatch(said, cached, found)
    guard = _first_of(read_guard(found["GUARD"][0]))
    if more or not _is_guard(guard, found["GUARD"][0]):
        return RecompileReason(said, cached, user_stack=frames)
    kind = guard_kind(guard.expression) or GuardKind()
    of_tensor = kind.what in _OF_TENSOR
    return RecompileReason(
        said,
        cached,
        tensor=kind.subject if of_tensor else None,
        what=kind.what,
        index=kind.index,
        expected=kind.value,
        subject=None if of_tensor else kind.subject,
        guard=guard.expression,
        code=guard.code,
        user_file=guard.file,
        user_line=guard.line,
        user_function=guard.function,
        framework=guard.framework,
        hint=guard.hint,
        user_stack=frames,
    )


def _mismatch(said: str, cached: str | None, found: Fields) -> RecompileReason:
    what = next((about for terminal, about in _ABOUT.items() if terminal in found), None)
    if what is None:
        what = found["WHAT"][0].removesuffix(" mismatch").replace(" ", "_")
    index = first(found, "INDEX")
    subject, marking = first(found, "SUBJECT"), first(found, "MARKING")
    remark = first(found, "REMARK")
    return RecompileReason(
        said,
        cached,
        tensor=first(found, "TENSOR"),
        what=what,
        index=int(index[:18]) if index else None,
        expected=first(found, "EXPECTED"),
        actual=first(found, "ACTUAL"),
        subject=marking or (subject.strip() if subject else None),
        hint=remark[2:] if remark else None,
    )


def _first_of(guard: Guard) -> Guard:
    """Return the first of several guards, which TORCH_LOGS=recompiles_verbose joins; the others are its hint."""
    head, joined, others = guard.expression.partition("; ")
    if not joined or guard_kind(guard.expression) is not None:
        return guard
    if not all(guard_kind(part) for part in guard.expression.split("; ")[:_MOST]):
        return guard
    return replace(guard, expression=head, hint=others if guard.hint is None else f"{others} {guard.hint}")


def _is_guard(guard: Guard, text: str) -> bool:
    """Tell a guard, which is Python, from what torch says in words."""
    if not guard.parsed:
        return False
    if (
        guard.code is not None
        or guard.file is not None
        or guard.framework is not None
        or guard.type is not None
    ):
        return True
    return "  # " in text or guard_kind(guard.expression) is not None

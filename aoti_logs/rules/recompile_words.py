"""How the rules about recompiles name what changed, and what to do about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.guards.recompile_reason import read_recompile_reasons
from aoti_logs.parse.traces.payload_text import line_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.sources.source import Place

_EQUAL = {"int_equality", "float_equality", "bool_equality", "str_equality"}
_SIZES = {"size", "sizes"}
_SOURCES = {
    "identity": "which object", "type": "the type of", "key": "the key", "keys": "the keys of", "attribute": "the attribute",
}  # fmt: skip
_DYNAMIC = 3
"""So many values of one size show that torch did not make it dynamic; sizes 0 and 1 are compiled apart."""
_CONFIG = re.compile(r"torch\._dynamo\.config\.\w+ = \w+")
_LOCAL = re.compile(r"L\['(\w+)'\]")


def reasons_of(record: TraceRecord) -> list[tuple[RecompileReason, Place]]:
    """Return the reasons of a `recompile_reasons` record with their places, the newest compile's first."""
    text = record.text
    rows = text.split("\n")
    found = []
    at = 0
    for reason in read_recompile_reasons(text):
        # As JSON writes it; a list has each reason on a line of its own.
        head = reason.text.partition("\n")[0][:80].replace("\\", "\\\\").replace('"', '\\"')
        at = next((n for n in range(at, len(rows)) if head and head in rows[n]), at)
        found.append((reason, line_place(record, at)))
    return sorted(found, key=lambda told: -_age(told[0]))


def newest_first(reasons: Sequence[RecompileReason]) -> list[RecompileReason]:
    """Return the reasons in the order of their compiles, the newest first; as they are where none has an id."""
    return sorted(reasons, key=lambda reason: -_age(reason))


def _age(reason: RecompileReason) -> int:
    """Return the number of the cached compile; torch lists those first that were used last, not the newest."""
    number = (reason.cached_compile_id or "").rpartition("/")[2]
    return int(number) if number.isdecimal() and len(number) < 10 else -1


def reason_facts(reason: RecompileReason) -> dict[str, Any]:
    """Return a reason as plain values."""
    return {
        "compile_id": reason.cached_compile_id,
        "tensor": reason.tensor,
        "what": reason.what,
        "index": reason.index,
        "expected": _value(reason.expected),
        "actual": _value(reason.actual),
        "subject": reason.subject,
        "guard": reason.guard,
        "source": reason.subject if reason.guard else None,
        "value": _value(reason.expected) if reason.guard else None,
        "code": reason.code,
        "text": reason.text,
    }


def _value(text: str | None) -> int | str | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,18}", text) else text


def reason_text(reason: RecompileReason) -> str:
    """Write a reason in one line, with the line of code that its guard comes from."""
    text = reason.text.partition("\n")[0].partition("  # ")[0].partition(". Guard failed on ")[0].strip()
    return f"{text}  ({reason.code.strip()})" if reason.code else text


def what_moves(reason: RecompileReason) -> str:
    """Name what differed: `size 0 of `x``, `the guard `n == 1``."""
    if reason.guard:
        return _tested(reason)
    name = f"`{plain(reason.tensor)}`" if reason.tensor else ""
    if reason.tensor and reason.what:
        what = reason.what.replace("_", " ")
        return f"{what} {reason.index} of {name}" if reason.index is not None else f"{what} of {name}"
    if reason.what == "unexpected":
        return "nothing that torch could name"
    return _named(reason) or (reason.what or "something").replace("_", " ")


def _tested(reason: RecompileReason) -> str:
    """Name what a guard tests."""
    about = reason.subject
    if about and reason.what in _EQUAL:
        return f"`{plain(about)}`"
    if about and reason.what == "length":
        return f"`len({plain(about)})`"
    return _named(reason) or f"what the guard `{plain(reason.guard or '')[:120]}` tests"


def _named(reason: RecompileReason) -> str | None:
    """Name what differs by the source that a guard is about: its text holds numbers of objects, which differ each time."""
    about = plain(reason.subject) if reason.subject else None
    if reason.what == "global_state":
        # older torch does not say which
        return f"global state ({', '.join(about.split())})" if about and not reason.guard else "global state"
    if about and reason.what in _SOURCES:
        return f"{_SOURCES[reason.what]} `{about}`" + (" is" if reason.what == "identity" else "")
    return None


def values_seen(reasons: Sequence[RecompileReason]) -> list[str]:
    """Return the values that were compiled for and that came, in order, each once."""
    values: dict[str, None] = {}
    for reason in reversed(reasons):
        if reason.guard and reason.what not in {*_EQUAL, "length"}:
            continue  # what the guard names holds the value
        for value in (reason.expected, reason.actual):
            if value is not None:
                values.setdefault(value)
    return list(values)


def advice(reasons: Sequence[RecompileReason]) -> tuple[str, ...]:
    """Say what would keep a function from being compiled again for these reasons."""
    found: dict[str, None] = {}
    for reason in reasons:
        line = _advice(reason)
        if line is not None:
            found.setdefault(line)
        if reason.hint and reason.hint.startswith("torch.compile considers"):
            found.setdefault(f"torch remarks: {reason.hint}")
    return tuple(found)


def _advice(reason: RecompileReason) -> str | None:
    what, name = reason.what, plain(reason.tensor or reason.subject or "")
    if reason.guard and what != "global_state":
        return _guarded(what, name)
    if what == "size":
        if reason.actual in {"0", "1"} or reason.expected in {"0", "1"}:
            return (
                f"size {reason.index} of `{name}` is 0 or 1 at times: torch always compiles these sizes apart"
            )
        config = _CONFIG.search(reason.hint or "")
        if config is not None or "_parameters[" in name:
            # mark_dynamic does not win over it (torch/_dynamo/variables/builder.py)
            setting = (
                config[0]
                if config is not None
                else "torch._dynamo.config.force_parameter_static_shapes = False"
            )
            return f"`{name}` belongs to a module, whose sizes torch keeps static: {setting}"
        return f"torch._dynamo.mark_dynamic({name}, {reason.index}) before the call, or torch.compile(dynamic=True)"
    known = {
        "stride": f"call `{name}.contiguous()` before, so that its layout is always the same",
        "dtype": f"always pass `{name}` with the same dtype",
        "requires_grad": f"call it always with, or always without a gradient for `{name}` (torch.no_grad)",
        "rank": f"always pass `{name}` with the same number of dimensions",
        "device_index": f"always pass `{name}` on the same device",
        "backend": "pass the same backend object at every call of torch.compile",
        "global_state": "keep the global state the same at every call (grad mode and inference_mode, autocast, default "
        "dtype, threads)",
        "unexpected": "report it with this output: torch itself calls it a bug; threads that share a function can cause it",
    }
    return known.get(what or "")


def _guarded(what: str | None, name: str) -> str | None:
    """Say what would keep a guard from failing again."""
    if what in {"int_equality", "float_equality"}:
        return (
            f"`{name}` is a Python number that changes: torch makes an argument dynamic at its first change, and compiles "
            "an attribute of a module for each value: pass it as a tensor, or keep it (mark_dynamic takes tensors only)"
        )
    if what == "str_equality" and name:
        return f"`{name}` is a string that changes, and each is compiled for itself: pass what it selects instead of it, or look it up outside of the compiled function"
    if what == "length" and name:
        return f"`len({name})` is the length of a Python container, which differs: code is compiled anew for each length of a list"
    if what == "type" and name:
        return f"always pass `{name}` with the same type"
    if what == "identity" and name:
        return (
            f"code is compiled for each object that `{name}` is, which is meant where there are several (modules, functions); "
            "keep one where a new one is made for each call. Older torch tests True, False and None this way, too"
        )
    if what in _SIZES:
        return "a size crosses a border that the code was compiled for (sizes 0 and 1 are compiled apart)"
    return None


def static_for(what: str | None, values: Sequence[str]) -> str | None:
    """Say why a size that has changed more than once was not made dynamic, as far as that is known."""
    if what != "size" or len(set(values)) < _DYNAMIC or not all(v.isdecimal() for v in values):
        return None
    return (
        "torch makes a size dynamic at its first change unless something keeps it from that: look for dynamic=False, "
        "mark_static, a size of a module, or a line that makes it a constant (TORCH_LOGS=dynamic shows that line)"
    )


def plain(name: str) -> str:
    """Return a Dynamo source as the user wrote it, `L['x']` as `x`."""
    return _LOCAL.sub(r"\1", name)

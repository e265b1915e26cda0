"""How the rules about recompiles name what changed, and what to do about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.payload_text import line_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.records.record import TraceRecord
    from aoti_logs.sources.source import Place

_ID = re.compile(r"(!?\d+(?:/\d+)+): ")
_TENSOR = re.compile(
    r"tensor '(?P<tensor>[^\n]{1,500}?)' (?P<what>size|stride|dtype|rank|requires_grad|dispatch key set) mismatch"
    r"(?: at index (?P<index>\d+))?\. expected (?P<expected>.*?)(?:, actual (?P<actual>.*))?$"
)


def reasons_of(record: TraceRecord) -> list[tuple[str, Place]]:
    """Return the reasons of a `recompile_reasons` record with their places, the newest compile's first."""
    value = record.json()
    texts = [str(v) for v in value] if isinstance(value, list) else [record.text]
    rows = record.text.split("\n")
    found = []
    for text in texts:
        head = text.split("\n")[0][:80].replace('"', '\\"')
        row = next((n for n, line in enumerate(rows) if head and head in line), 0)
        found.append((text, line_place(record, row)))
    return found


def reason_facts(text: str) -> dict[str, Any]:
    """Return a reason as plain values."""
    first = text.split("\n", maxsplit=1)[0]
    head = _ID.match(first)
    said = first[head.end() :] if head else first
    facts: dict[str, Any] = {"compile_id": head[1] if head else None, "text": said}
    tensor = _TENSOR.match(said)
    if tensor is None:
        return facts | {"guard": said.partition("  #")[0].strip()}
    index = tensor["index"]
    return facts | {
        "tensor": tensor["tensor"],
        "what": tensor["what"],
        "index": int(index) if index else None,
        "expected": _value(tensor["expected"]),
        "actual": _value(tensor["actual"]) if tensor["actual"] else None,
    }


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def reason_text(text: str) -> str:
    """Write a reason in one line."""
    return text.split("\n", maxsplit=1)[0].partition("  # ")[0].strip()


def what_moves(text: str) -> str:
    """Name what differed: `size 0 of `x``, `the guard `n == 1``."""
    facts = reason_facts(text)
    if facts.get("tensor"):
        if facts["what"] in {"size", "stride"} and facts["index"] is not None:
            return f"{facts['what']} {facts['index']} of `{facts['tensor']}`"
        return f"{facts['what']} of `{facts['tensor']}`"
    return f"the guard `{facts['guard'][:120]}`"


def advice(texts: Sequence[str]) -> tuple[str, ...]:
    """Say what would keep a function from being compiled again for these reasons."""
    found: dict[str, None] = {}
    for text in texts:
        line = _advice(text)
        if line is not None:
            found.setdefault(line)
    return tuple(found)


def _advice(text: str) -> str | None:
    facts = reason_facts(text)
    tensor, what, index = facts.get("tensor"), facts.get("what"), facts.get("index")
    if tensor and what == "size":
        return f"torch._dynamo.mark_dynamic({_plain(tensor)}, {index}) before the call, or torch.compile(dynamic=True)"
    if tensor and what == "stride":
        return f"call `{_plain(tensor)}.contiguous()` before, so that its layout is always the same"
    if tensor and what == "dtype":
        return f"always pass `{_plain(tensor)}` with the same dtype"
    if tensor and what == "requires_grad":
        return f"call it always with, or always without a gradient for `{_plain(tensor)}` (torch.no_grad)"
    guard = str(facts.get("guard") or "")
    if guard.startswith("Unexpected recompilation"):
        return "report it with this trace: torch itself calls it a bug; threads that share the function can cause it"
    if guard.startswith("BACKEND_MATCH failure"):
        return "pass the same backend object at every call of torch.compile"
    if re.fullmatch(r"[\w.\[\]'\"()]+ == -?[\d.]+", guard):
        name = guard.partition(" == ")[0]
        return f"`{name}` is a Python number that changes: pass it as a tensor, or keep it the same"
    if re.search(r"\.size\(\)|\.shape", guard):
        return "a size crosses a border that the code was compiled for (sizes 0 and 1 are compiled apart)"
    return None


def _plain(name: str) -> str:
    """Return a Dynamo source as the user wrote it, `L['x']` as `x`."""
    found = re.fullmatch(r"L\['(\w+)'\]", name)
    return found[1] if found else name

"""What tlparse -e needs of the records of a draft export.

tlparse 0.4.3 takes only texts for the locals of a guard, stops (`unwrap`) where a value is missing, and
puts most of what it finds into its pages as HTML.
"""

from __future__ import annotations

from typing import Any

from aoti_logs.report.reasons import Reason
from aoti_logs.report.text import shown, without_tags

_GUARDS = ("guard_added", "propagate_real_tensors_provenance")
_NO_NODE = 2**64 - 1
_NO_TEXT = "(not recorded)"
_NEEDED: dict[str, dict[str, int | str]] = {
    "guard_added": {"expr": _NO_TEXT, "expr_node_id": _NO_NODE},
    "propagate_real_tensors_provenance": {"expr": _NO_TEXT, "result": _NO_TEXT, "expr_node_id": _NO_NODE},
    "missing_fake_kernel": {"op": _NO_TEXT},
    "mismatched_fake_kernel": {"op": _NO_TEXT, "reason": _NO_TEXT},
    # Another number than that of a guard without a node, which this is not about.
    "expression_created": {"result_id": _NO_NODE - 1},
    "create_unbacked_symbol": {"node_id": _NO_NODE - 1},
}
_STACKS = frozenset({"stack", "user_stack"})


def mend_export(envelope: dict[str, Any]) -> list[tuple[Reason, str]]:
    """Change the records of a draft export in place; return what was changed."""
    changes: list[tuple[Reason, str]] = []
    for key, needed in _NEEDED.items():
        entry = envelope.get(key)
        if not isinstance(entry, dict):
            continue
        passed_over = key == "guard_added" and entry.get("prefix") != "eval"
        for name, value in needed.items():
            if entry.get(name) is None and not passed_over:
                entry[name] = value
                changes.append((Reason.EXPORT_MISSING, f"{name} of {key}"))
        if key in _GUARDS and _texts(entry):
            changes.append((Reason.EXPORT_TYPES, ""))
        for name, value in entry.items():
            if name not in _STACKS:
                entry[name] = _harmless(value, changes)
    return changes


def _texts(entry: dict[str, Any]) -> bool:
    """Make texts of what tlparse reads as texts; true when there was something else."""
    changed = False
    frame = entry.get("frame_locals")
    if frame is not None and not isinstance(frame, dict):
        entry["frame_locals"] = None
        return True
    holders = [(frame, "locals"), (frame, "symbols")] if frame else []
    for holder, name in [*holders, (entry, "symbol_to_sources")]:
        values = holder.get(name)
        if values is None:
            continue
        texts = {key: _text(value) for key, value in values.items()} if isinstance(values, dict) else {}
        if name == "symbol_to_sources":
            texts = {key: value or "" for key, value in texts.items()}
        if texts != values:
            holder[name] = texts
            changed = True
    return changed


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        parts = [text for text in map(_text, value) if text is not None]
        return ", ".join(parts) if parts else None
    return value if value is None or isinstance(value, str) else str(value)


def _harmless(value: Any, changes: list[tuple[Reason, str]]) -> Any:
    if isinstance(value, str):
        harmless = without_tags(value)
        if harmless != value:
            changes.append((Reason.MARKUP, shown(value)))
        return harmless
    if isinstance(value, list):
        return [_harmless(item, changes) for item in value]
    if isinstance(value, dict):
        return {_harmless(key, changes): _harmless(item, changes) for key, item in value.items()}
    return value

"""Provenance maps of a trace: which node or kernel came from which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord

MAPPINGS = "artifact:inductor_provenance_tracking_node_mappings"
_OLDER = {
    "artifact:inductor_post_to_pre_grad_nodes": "postToPre",
    "artifact:inductor_triton_kernel_to_post_grad_nodes": "cppCodeToPost",
}
_KERNEL_FIRST, _KERNEL_LAST = "cppCodeToPost", "postToCppCode"

Pair = tuple["TraceRecord", str, str, int | None, str, int | None]
"""Record, map, from, its debug handle, to, its debug handle."""


def pairs(trace: TraceIndex) -> Iterator[Pair]:
    """Yield every pair of every map, in file order."""
    for record in trace.find(MAPPINGS, *_OLDER):
        value = record.json()
        if not isinstance(value, dict):
            continue
        maps = {_OLDER[record.key]: value} if record.key in _OLDER else value
        for name, entries in maps.items():
            if isinstance(entries, dict):
                yield from _pairs(record, name, entries)


def _pairs(record: TraceRecord, name: str, entries: dict[str, Any]) -> Iterator[Pair]:
    for key, values in entries.items():
        if not isinstance(values, list):
            continue
        first = with_handle(key) if name == _KERNEL_FIRST else (key, None)
        for value in values:
            other = value.get("name") if isinstance(value, dict) else value  # nodes with a history until 2025
            if isinstance(other, str):
                last = with_handle(other) if name == _KERNEL_LAST else (other, None)
                yield record, name, *first, *last


def with_handle(kernel: str) -> tuple[str, int | None]:
    """Take the debug handle off a kernel's name: `aten::mm:3` is (`aten::mm`, 3).

    Names of C++ kernels hold `::`, and there were no handles before torch 2.9.
    """
    name, colon, handle = kernel.rpartition(":")
    if colon and not name.endswith(":") and handle.isdecimal() and len(handle) < 18:
        return name, int(handle)
    return kernel, None

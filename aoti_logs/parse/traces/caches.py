"""Caches that a compile asked: artifacts such as `fx_graph_cache_miss`, and instants of the same names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord

# torch/_inductor/compile_fx.py, torch/_functorch/_aot_autograd/{autograd_cache,aot_autograd_result}.py,
# torch/_dynamo/{package,pgo,output_graph,precompile_context}.py; `_hash` until 2024.
_NAME = re.compile(
    r"(?P<cache>fx_graph_cache|fx_graph_bundled_cache|aotautograd_cache|autograd_cache|precompile_cache|dynamo_cache)"
    r"_(?P<status>hit|miss|bypass|disabled|hash|exception|entries|guard_miss|saved|pickle_failure)"
)
_PGO = re.compile(
    r"(?P<status>get|put)_(?P<cache>(?:extra_)?(?:local|remote)_code_state|extra_remote_code_state)"
)
_CACHES = {
    "fx_graph_cache": "fx_graph",
    "fx_graph_bundled_cache": "fx_graph_bundled",
    "aotautograd_cache": "aot_autograd",
    "autograd_cache": "aot_autograd",
    "precompile_cache": "precompile",
    "dynamo_cache": "dynamo",
}


@dataclass(frozen=True)
class CacheEvent:
    """One answer of a cache.

    Attributes:
        record: the artifact, or the instant where no artifact tells of it.
        cache: `fx_graph`, `fx_graph_bundled`, `aot_autograd`, `precompile`, `dynamo`, `pgo`.
        status: `hit`, `miss`, `bypass`, `disabled`, ...; `get` and `put` of profile-guided state.
        fields: what it says about it.
    """

    record: TraceRecord
    cache: str
    status: str
    fields: dict[str, Any]

    def text(self, *names: str) -> str | None:
        """Return the first of these fields that is a text."""
        return next((self.fields[n] for n in names if isinstance(self.fields.get(n), str)), None)

    @property
    def components(self) -> list[str]:
        """What the key was made of, `[hash] part: value` each; a value of several lines was split until 2024."""
        parts: list[str] = []
        items = self.fields.get("components") or self.fields.get("cache_components")
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, str):
                continue
            if parts and not item.startswith("["):
                parts[-1] += "\n" + item
            else:
                parts.append(item)
        return parts

    @property
    def time_saved_us(self) -> float | None:
        """Microseconds of compiling that a hit saved."""
        for name, scale in (("time_saved_ns", 1e-3), ("time_saved_ms", 1e3), ("time_saved_us", 1.0)):
            value = self.fields.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value * scale
        return None


def cache_events(trace: TraceIndex) -> Iterator[CacheEvent]:
    """Yield what caches answered, in file order; an instant only where no artifact says the same."""
    told: set[tuple[str, str, str | None, str | None]] = set()
    found: list[CacheEvent] = []
    for record in trace.find("artifact"):
        kind = kind_of(record.artifact or "")
        if kind is None:
            continue
        value = record.json()
        event = CacheEvent(record, *kind, value if isinstance(value, dict) else {"text": record.text})
        found.append(event)
        told.add((*kind, record.compile, event.text("key")))
    for record in _instants(trace):
        value = record.json()
        if not isinstance(value, dict) or value.get("ph") not in ("i", "I"):
            continue
        kind = kind_of(str(value.get("name", "")))
        args = value.get("args")
        if kind is None or not isinstance(args, dict):
            continue
        event = CacheEvent(record, *kind, args)
        if (*kind, record.compile, event.text("key")) not in told:
            found.append(event)
    return iter(sorted(found, key=lambda event: event.record.number))


_INSTANT = re.compile(rb"_cache_(?:hit|miss|bypass|disabled)")


def _instants(trace: TraceIndex) -> Iterator[TraceRecord]:
    for record in trace.find("chromium_event"):
        # Spans are nine of ten events: only what can be an instant is decoded.
        if _INSTANT.search(record.payload_start(400)):
            yield record


def kind_of(name: str) -> tuple[str, str] | None:
    """Return cache and status for the name of an artifact or instant, None when it is about no cache."""
    found = _NAME.fullmatch(name)
    if found is not None:
        return _CACHES[found["cache"]], found["status"]
    state = _PGO.fullmatch(name)
    return ("pgo", state["status"]) if state is not None else None

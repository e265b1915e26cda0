"""What caches answered, as torch's loggers tell it; a trace has the same in artifacts (`parse/traces/caches.py`).

Format: `grammars/compile_log.lark`, rule `cache`; below `hash details` stands what the key was made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

_STARTS = ("fx graph cache ", "AOTAutograd cache ", "FX graph cache hash", "Autograd graph cache hash", "FX cache bypass",
           "Bypassing ")  # fmt: skip


@dataclass(frozen=True)
class LoggedCache:
    """One answer: `cache` is `fx_graph` or `aot_autograd`, `status` `hit`, `miss` or `bypass`."""

    message: LogLine
    cache: str
    status: str
    key: str | None = None
    reason: str | None = None
    components: tuple[str, ...] = ()


def logged_caches(messages: Iterable[LogLine]) -> Iterator[LoggedCache]:
    """Yield the answers; what two loggers say of one bypass is one."""
    parts: dict[tuple[object, ...], tuple[str, ...]] = {}
    bypassed: set[tuple[object, ...]] = set()
    for message in messages:
        if not message.text.startswith(_STARTS):
            continue
        head, _, below = message.text.partition("\n")
        found = fields("compile_log", "cache", head.rstrip()[:4096])
        if found is None:
            continue
        key = first(found, "KEY")
        where = (message.rank, message.process, message.compile_id)
        if "DETAILS" in found:
            parts[*where, key] = _components(below)
        elif "CACHE" in found:
            cache = "fx_graph" if found["CACHE"][0].startswith("fx") else "aot_autograd"
            answer = LoggedCache(message, cache, found["CACHE_WORD"][0], key)
            yield replace(answer, components=parts.pop((*where, key), ()))
        else:
            cache = "aot_autograd" if "BYPASS_AUTOGRAD" in found else "fx_graph"
            named = head.startswith("FX cache bypass reason")
            if named and (*where, cache) in bypassed:
                continue
            bypassed.add((*where, cache))
            yield LoggedCache(message, cache, "bypass", reason=found["TEXT"][0].strip("'"))


def _components(text: str) -> tuple[str, ...]:
    """Split `[hash] part: value` lines; a value of several lines goes on without a hash."""
    parts: list[str] = []
    for row in text.split("\n"):
        if parts and not row.startswith("["):
            parts[-1] += "\n" + row
        elif row:
            parts.append(row)
    return tuple(parts)

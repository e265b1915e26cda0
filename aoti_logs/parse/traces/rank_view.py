"""What one rank's trace holds that can be compared with the other ranks' traces, compile by compile.

A compile is known by its id and by how often that id was begun before: `torch._dynamo.reset()` begins to count anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.traces.caches import cache_events
from aoti_logs.parse.traces.outcomes import metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.traces.caches import CacheEvent
    from aoti_logs.parse.traces.outcomes import Outcome, Outcomes
    from aoti_logs.records.trace import TraceIndex, TraceRecord

Key = tuple[str, int]
"""Compile id, and how often it had been begun before."""
Shapes = dict[str, tuple[str, "TraceRecord"]]
"""Shape and element type of each tensor as one text (`float32 [32, 16]`), by the tensor's source, with the record."""

# A call as the generated Python code has it; wait_tensor waits for one's own, no rank needs another for that.
_CALL = re.compile(rb"torch\.ops\.(?:_?c10d_functional\.)(\w+)(?:\.\w+)?\(")
_NAME = re.compile(r"c10d_functional\.(\w+)")
_LOCAL = "wait_tensor"


@dataclass(frozen=True)
class Schedule:
    """The collectives of a compile's graphs (forward, then backward) in their order, and the records that show them."""

    graphs: tuple[tuple[str, ...], ...]
    records: tuple[TraceRecord, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The collectives of all graphs."""
        return tuple(name for graph in self.graphs for name in graph)


@dataclass(frozen=True)
class Operation:
    """An operation of `inductor_runtime_and_tensor_meta`: name, `compute` or `collective`, and its outputs as one text."""

    name: str
    type: str
    outputs: str
    record: TraceRecord


@dataclass
class RankView:
    """One rank's trace. `compiles` are those of torch.compile, in the order in which they began."""

    rank: int
    trace: TraceIndex
    outcomes: Outcomes
    compiles: dict[Key, Outcome] = field(default_factory=dict)
    _begun: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give each compile its key."""
        seen: Counter[str] = Counter()
        for outcome in self.outcomes.compiles:
            if outcome.compile_id is None or outcome.start is None:
                continue
            self.compiles[outcome.compile_id, seen[outcome.compile_id]] = outcome
            self._begun.setdefault(outcome.compile_id, []).append(outcome.start.number)
            seen[outcome.compile_id] += 1

    @cached_property
    def times(self) -> tuple[str, str]:
        """When its first and its last record were written, as printed; empty where a prefix is damaged."""
        trace = self.trace
        return (trace[0].time, trace[len(trace) - 1].time) if len(trace) else ("", "")

    @property
    def whole(self) -> bool:
        """Whether nothing of the trace is damaged and no compile is unfinished, so that what it lacks was not there."""
        return not self.trace.unparsed and not self.outcomes.unfinished

    def key_of(self, record: TraceRecord) -> Key | None:
        """Return the compile that a record belongs to."""
        begun = self._begun.get(record.compile or "")
        at = bisect_right(begun, record.number) - 1 if begun else -1
        return (str(record.compile), at) if at >= 0 else None

    @cached_property
    def schedules(self) -> dict[Key, Schedule]:
        """The collectives of each compile: as scheduled (torch 2.9 and later), else as they stand in generated Python.

        A graph that came from a cache has no schedule, but its code: of one compile, only the forward may come from there.
        """
        found: dict[Key, Schedule] = {}
        coded: set[Key] = (
            set()
        )  # whose last graph is told by its code as yet; torch writes the schedule behind it
        for record in self.trace.find("inductor_output_code", "artifact:inductor_collective_schedule"):
            key = self.key_of(record)
            if key is None:
                continue
            before = found.get(key, Schedule((), ()))
            if record.name == "inductor_output_code":
                names = [m.decode() for m in _CALL.findall(record.payload)]
                coded.add(key)
            else:
                value = record.json()
                told = [_NAME.search(str(op)) for op in value] if isinstance(value, list) else []
                names = [m[1] for m in told if m is not None]
                if key in coded:
                    before = Schedule(before.graphs[:-1], before.records[:-1])
                    coded.discard(key)
            own = tuple(name for name in names if name != _LOCAL)
            found[key] = Schedule((*before.graphs, own), (*before.records, record))
        return found

    @cached_property
    def inputs(self) -> dict[Key, Shapes]:
        """The tensors that each compile met as inputs (torch 2.6 and later)."""
        found: dict[Key, Shapes] = {}
        waiting: dict[tuple[Any, ...], tuple[str, TraceRecord]] = {}
        for record in self.trace.find("describe_tensor", "describe_source"):
            fields = record.metadata if isinstance(record.metadata, dict) else {}
            at = (record.process, fields.get("describer_id"), fields.get("id"))
            if record.name == "describe_tensor":
                waiting[at] = (_described(fields), record)
                continue
            described, source, key = waiting.pop(at, None), fields.get("source"), self.key_of(record)
            if described is not None and key is not None and isinstance(source, str):
                found.setdefault(key, {}).setdefault(source, described)
        return found

    @cached_property
    def operations(self) -> dict[Key, list[Operation]]:
        """The scheduled operations of each compile with shapes; recorded with `config.log_tlparse` only."""
        found: dict[Key, list[Operation]] = {}
        for record in self.trace.find("artifact:inductor_runtime_and_tensor_meta"):
            key, value = self.key_of(record), record.json()
            ops = value.get("ops") if isinstance(value, dict) else None
            if key is not None and isinstance(ops, list):
                found.setdefault(key, []).extend(_operations(ops, record))
        return found

    @cached_property
    def caches(self) -> dict[Key, dict[str, CacheEvent]]:
        """What caches answered to each compile, the first answer of each cache."""
        found: dict[Key, dict[str, CacheEvent]] = {}
        for event in cache_events(self.trace):
            key = self.key_of(event.record)
            if key is not None:
                found.setdefault(key, {}).setdefault(event.cache, event)
        return found

    @cached_property
    def ran(self) -> tuple[tuple[str, ...], TraceRecord | None]:
        """Compile ids in the order in which their graphs ran, and the record; empty where that was not recorded."""
        record = None
        names: list[str] = []
        for record in self.trace.find("artifact:graph_execution"):
            value = record.json()
            order = value.get("graph_execution_order") if isinstance(value, dict) else None
            runs = order if isinstance(order, list) else []
            names += [str(run.get("compile_id") if isinstance(run, dict) else run) for run in runs]
        return tuple(names), record

    def seconds(self, key: Key) -> float | None:
        """Return how long a compile took, as its metrics say (torch 2.6 and later)."""
        value = metric(self.compiles[key].end, "duration_us") if key in self.compiles else None
        return value / 1e6 if isinstance(value, int | float) and not isinstance(value, bool) else None


def _described(fields: dict[str, Any]) -> str:
    size = fields.get("size")
    sizes = ", ".join(map(str, size)) if isinstance(size, list) else "?"
    return f"{str(fields.get('dtype')).removeprefix('torch.')} [{sizes}]"


def _operations(ops: list[Any], record: TraceRecord) -> Iterator[Operation]:
    for op in ops:
        if isinstance(op, dict):
            outputs = [o for o in op.get("outputs") or () if isinstance(o, dict)]
            told = [f"{o.get('dtype')} {o.get('shape')}" for o in outputs if o.get("dtype") is not None]
            yield Operation(str(op.get("name")), str(op.get("type")), ", ".join(told), record)

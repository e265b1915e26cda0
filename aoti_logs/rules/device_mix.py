"""Tensors of two devices met while tracing: which of them is on which device, as a trace describes them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment, Link
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.rules.recompile_words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex

_MIXED = re.compile(
    r"Tensor on device (?P<odd>[\w:]+) is not on the expected device (?P<main>[\w:]+?)!?$|"
    r"found two different devices (?P<first>[\w:]+), (?P<second>[\w:]+)|"
    r"found at least two devices, (?P<one>[\w:]+) and (?P<other>[\w:]+?)!?(?:$|\s)",
    re.MULTILINE,
)
_DEVICE = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
_SHOWN = 5


def mixed_devices(finding: Finding) -> tuple[str, ...]:
    """Return the two devices that a refused operator names, none where it names none; the odd one first if it says so."""
    if finding.rule != "AL604":
        return ()
    found = _MIXED.search(str(finding.facts.get("inner_message") or "")[:4096])
    return tuple(part for part in found.groups() if part) if found else ()


def of_log(findings: Sequence[Finding], command: str, traces: Sequence[TraceIndex]) -> list[Finding]:
    """Name the tensors of a log's finding from the one trace of one compile that is at hand, else suggest a trace."""
    found = []
    for finding in findings:
        told = finding
        if mixed_devices(finding):
            # A log does not say which compile it was, so that a trace of several does not tell whose tensors they are.
            if len(traces) == 1 and len({str(r.compile_id) for r in traces[0].find("describe_tensor")}) == 1:
                told = _named(finding, traces[0])
            if told is finding:
                told = replace(finding, experiments=(_trace(command),))
        found.append(told)
    return found


def with_devices(findings: Sequence[Finding], trace: TraceIndex) -> list[Finding]:
    """Name the tensors that are on the rarer of the two devices."""
    return [_named(f, trace) if mixed_devices(f) else f for f in findings]


def _named(finding: Finding, trace: TraceIndex) -> Finding:
    tensors = [
        (d, o, r)
        for d, o, r in _tensors(trace, finding.facts.get("compile_id"))
        if d in mixed_devices(finding)
    ]
    counts = {device: sum(d == device for d, _, _ in tensors) for device in mixed_devices(finding)}
    few = min(counts, key=lambda device: counts[device], default=None)
    if few is None or not counts[few] or len(counts) < 2:
        return finding
    odd = [(origin, record) for device, origin, record in tensors if device == few]
    others = ", ".join(f"{n} on {d}" for d, n in counts.items() if d != few)
    names = ", ".join(f"`{_shown(origin)}`" for origin, _ in odd[:_SHOWN])
    more = f" and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
    said = f"the trace describes {len(tensors)} tensors: {names}{more} on {few}, {others}"
    links = tuple(Link("tensor", f"{origin} is on {few}", record.place) for origin, record in odd[:_SHOWN])
    fixes = tuple(
        f"move `{_shown(origin)}` to the device of the others; an attribute that is no buffer or parameter does not follow "
        "`model.to(device)`: register_buffer"
        for origin, _ in (odd[:1] if counts[few] < max(counts.values()) else ())
    )
    verdicts = tuple(
        replace(v, because=(*v.because, said), fixes=(*v.fixes, *fixes), decide=()) for v in finding.verdicts
    )
    facts = {
        **finding.facts,
        "tensors_by_device": counts,
        "odd_device": few,
        "odd_tensors": [o for o, _ in odd],
    }
    return replace(finding, chain=(*finding.chain, *links), verdicts=verdicts, facts=facts, experiments=())


def _shown(origin: str) -> str:
    found = input_of(origin)
    return found.name if found is not None and found.name else plain(origin)


def _tensors(trace: TraceIndex, compile_id: object) -> list[tuple[str, str, TraceRecord]]:
    """Return device, Dynamo's source and record of every tensor that a compile describes."""
    waiting: dict[tuple[object, ...], tuple[str, TraceRecord]] = {}
    found: dict[str, tuple[str, str, TraceRecord]] = {}
    for record in trace.find("describe_tensor", "describe_source"):
        fields = record.metadata if isinstance(record.metadata, dict) else {}
        if compile_id is not None and str(record.compile_id) != str(compile_id):
            continue
        told = fields.get(record.name)
        told = told if isinstance(told, dict) else fields
        key = (record.process, told.get("describer_id"), told.get("id"))
        if record.name == "describe_tensor":
            device = _DEVICE.fullmatch(str(told.get("device")))
            if device is not None:
                waiting[key] = (device[1] + (f":{device[2]}" if device[2] else ""), record)
        elif key in waiting and isinstance(told.get("source"), str):
            device_name, described = waiting.pop(key)
            found.setdefault(told["source"], (device_name, told["source"], described))
    return list(found.values())


def _trace(command: str) -> Experiment:
    return Experiment(
        command,
        (("TORCH_TRACE", "trace"),),
        "compile",
        "describes each tensor that Dynamo meets with its device, so that those on the other device are named; give both to aoti-logs",
        "torch/_subclasses/meta_utils.py writes describe_tensor and describe_source records while tracing",
    )

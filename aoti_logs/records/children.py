"""Generated code and graphs that a trace carries, as sources of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.records.trace import TraceIndex, TraceRecord

_KINDS = {
    "graph_dump:inductor_aot_wrapper_code": Kind.WRAPPER_CPP,
    "graph_dump:inductor_aot_code": Kind.WRAPPER_CPP,  # until torch 2.6, kernels included
    "graph_dump:inductor_aot_kernel_code": Kind.KERNEL_CPP,
    "inductor_output_code": Kind.OUTPUT_CODE,
    "artifact:inductor_provenance_tracking_node_mappings": Kind.PROVENANCE,
    "artifact:inductor_provenance_tracking_kernel_stack_traces": Kind.KERNEL_INFORMATION,
    "exported_program": Kind.GRAPH,
}
# Entry and artifact names of graphs are open: FX passes and AOTAutograd make some at run time.
_GRAPH_NAME = re.compile(
    r"(?:^|_)graph(?:_pre_|_after_|$)|split_(?:graph|child)|_(?:pre|post)_grad$|^(?:optimus|cff)_|"
    r"_aten_pass$|^make_fx_fail_partial$"
)
_GRAPH_TEXT = re.compile(
    rb"^[ \t]*(?:class [^\n]{1,200}Module\):|def forward\(|graph\(\):|ExportedProgram:)", re.M
)
_LOOK = 1 << 16


def trace_sources(index: TraceIndex) -> tuple[Source, ...]:
    """Return the generated code, graphs and provenance in a trace, in file order.

    Each is a source named `TRACE#ENTRY[COMPILE ID]`, its data the payload without TABs, its lines
    those of the trace. `label` is the entry's name (`aot_inference_graph`; for AOTInductor code
    `graph_dump inductor_aot_wrapper_code`), `filename` the path that torch wrote the code to.
    """
    columns = index.columns
    kinds: dict[int, Kind] = {}
    for (name, own), numbers in zip(columns.keys, columns.by_key, strict=True):
        kind = _KINDS.get(name if own is None else f"{name}:{own}")
        if kind is None and name != "graph_dump" and _GRAPH_NAME.search(own or name):
            kind = Kind.GRAPH
        if kind is not None:
            kinds.update(dict.fromkeys(numbers, kind))
    seen: dict[str, int] = {}
    children = []
    for number in sorted(kinds):
        record = index[number]
        if record.has_payload and (kinds[number] is not Kind.GRAPH or _is_graph(record)):
            children.append(_child(record, kinds[number], seen))
    return tuple(children)


def _is_graph(record: TraceRecord) -> bool:
    start, end = record.index.columns.pieces(record.number)[0]
    return _GRAPH_TEXT.search(bytes(record.index.source.data[start : min(end, start + _LOOK)])) is not None


def _child(record: TraceRecord, kind: Kind, seen: dict[str, int]) -> Source:
    trace = record.index.source
    entry = record.name
    own = record.artifact or entry
    compile_id = record.compile_id
    name = f"{trace.name}#{own}" + (f"[{compile_id}]" if compile_id is not None else "")
    seen[name] = seen.get(name, 0) + 1
    return Source(
        # Forward and backward of one compile write the same entries under one id.
        name if seen[name] == 1 else f"{name}.{seen[name]}",
        kind,
        _reader(record),
        parent=trace,
        parent_lines=record.payload_lines,
        role=trace.role,
        label=f"graph_dump {own}" if entry == "graph_dump" else own,
        rank=trace.rank if (rank := record.rank) is None else rank,
        compile_id=compile_id,
        compile_=record.compile,
        filename=record.filename,
    )


def _reader(record: TraceRecord) -> Callable[[], bytes]:
    return lambda: record.payload

"""Where an export or a trace of AOTAutograd broke off: the graph so far, its last node, and who asked for it.

`make_fx_fail_partial` (torch/fx/experimental/proxy_tensor.py) is written when an exception leaves `make_fx`; it
holds the graph up to the node at which that was raised, and not the exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.graphs.graph import read_graph
from aoti_logs.parse.traces.payload_text import payload_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.facts import GraphNode
    from aoti_logs.records.record import StackFrame, TraceRecord
    from aoti_logs.sources.source import Place

_SYMBOL = re.compile(r'^\s*\w+: "Sym\((.*)\)" = ')
_COMPARED = re.compile(r"^(?:Eq|Ne|Gt|Ge|Lt|Le|And|Or|Not)\(|[<>]|==|!=")
_TORCH = re.compile(
    r"/site-packages/torch/|(?:^|/)torch/(?:_\w+|nn|fx|export|autograd|utils|optim|distributed|cuda|jit|overrides\.py)(?:/|$)"
)
_EXPORT = (
    "torch/export/__init__.py",
    "torch/export/_trace.py",
    "torch/_export/__init__.py",
    "torch/export/_draft_export.py",
)


@dataclass(frozen=True)
class PartialGraph:
    """A graph that was not finished. `condition` is the last node's value where that is a comparison."""

    record: TraceRecord
    n_nodes: int
    last: GraphNode | None
    last_text: str | None
    code_place: Place | None
    """The comment that names the last node's line of Python."""
    condition: str | None


def read_partial(record: TraceRecord) -> PartialGraph:
    """Read the payload of a `make_fx_fail_partial` record."""
    source = payload_source(record)
    graph = read_graph(source)
    last = graph.nodes[-1] if graph.nodes else None
    row = next(
        (n for n in range(len(source.lines), 0, -1) if last and _assigns(source.line_text(n), last.name)),
        None,
    )
    text = source.line_text(row).strip() if row else None
    comment = next((n for n in range(row or 0, 0, -1) if "# File: " in source.line_text(n)), None)
    found = _SYMBOL.match(text) if text else None
    value = found[1] if found and len(found[1]) < 4096 else None
    compared = value if value is not None and _COMPARED.search(value) else None
    place = source.place(comment) if comment else None
    return PartialGraph(record, len(graph.nodes), last, _without_frees(text), place, compared)


def _assigns(line: str, name: str) -> bool:
    return line.strip().startswith((f"{name} = ", f"{name}: "))


def _without_frees(text: str | None) -> str | None:
    """Leave out `;  a = b = None`, by which a graph lets go of values."""
    return text.partition(";  ")[0] if text else None


def export_call(frames: Sequence[StackFrame]) -> StackFrame | None:
    """Return the user's frame that called `torch.export`, None where no such call is in the stack."""
    for number, frame in enumerate(frames):
        if (frame.file or "").replace("\\", "/").endswith(_EXPORT):
            return frames[number - 1] if number else None
    return None


def user_frame(frames: Sequence[StackFrame]) -> StackFrame | None:
    """Return the innermost frame outside of torch, or the innermost of all."""
    own = [f for f in frames if f.file and not is_torch(f.file)]
    return own[-1] if own else frames[-1] if frames else None


def is_torch(path: str) -> bool:
    """Tell a file of torch from the user's by its path."""
    return _TORCH.search(path.replace("\\", "/")) is not None

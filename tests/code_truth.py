"""Recorded graphs: the code, what aoti_logs reads from it, and what Inductor knew (`fixtures/record/inductor_truth.py`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aoti_logs.code.codebase import CodeBase
from aoti_logs.code.view import ModelView
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from pathlib import Path

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.model import Launch

EXTERN = {
    "ExternKernelAllocLine",
    "ExternKernelOutLine",
    "ExternKernelMultiOutLine",
    "IndexPutFallbackLine",
    "ScatterFallbackLine",
}
CALLS = EXTERN | {"KernelCallLine"}
NAME = re.compile(r"[A-Za-z_]\w*")
FILLS = re.compile(
    r"aoti_torch_zero_\(workspace_\d+|workspace_\d+\.zero_\(|\w+\.copy_\(\w+, (?:True|False)\)$|= \w+\.clone\(\)$"
)
"""Zeroed workspaces, copies between devices and of what a loop carries: launches that Inductor writes as plain text."""


@dataclass
class Compiled:
    """One graph: Inductor's records, the wrapper's text, and what aoti_logs makes of it."""

    truth: dict[str, Any]
    text: str
    kernels: str | None = None

    @cached_property
    def is_cpp(self) -> bool:
        return bool(self.truth["graphs"][0]["cpp_wrapper"])

    @cached_property
    def wrapper(self) -> Wrapper:
        found = self.base.wrappers[0].wrapper
        assert found is not None
        return found

    @cached_property
    def base(self) -> CodeBase:
        data = self.text.encode()
        kind, name = (
            (Kind.WRAPPER_CPP, "wrapper.cpp") if self.is_cpp else (Kind.OUTPUT_CODE, "output_code.py")
        )
        sources = [Source(name, kind, lambda: data)]
        if self.kernels:
            inner = self.kernels.encode()
            sources.append(Source("kernel.cpp", Kind.KERNEL_CPP, lambda: inner))
        return CodeBase(sources)

    @cached_property
    def view(self) -> ModelView:
        return ModelView(self.wrapper, self.base, {})

    @cached_property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.text.split("\n")]

    @cached_property
    def graphs(self) -> dict[str | None, dict[str, Any]]:
        return {g["graph"]: g for g in self.truth["graphs"]}

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The events with the lines (from 1) that their text has in the wrapper."""
        start = next((n for n, t in enumerate(self.lines) if "::run_impl(" in t), 0) if self.is_cpp else 0
        cursors: dict[str | None, int] = {}
        places: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            places.setdefault(line, []).append(number)
        found = []
        for event in self.truth["events"]:
            graph = event.get("graph")
            cursor = cursors.get(graph, start)
            rows = []
            for line in (part.strip() for text in event.get("text", ()) for part in text.split("\n")):
                row = next((n for n in places.get(line, ()) if n >= cursor), None) if line else None
                if row is not None:
                    rows.append(row + 1)
                    cursor = row + 1
            cursors[graph] = cursor
            found.append(event | {"rows": rows})
        return found

    @cached_property
    def calls(self) -> list[tuple[dict[str, Any], list[Launch]]]:
        """Each call that Inductor wrote, with the launches that stand on its lines."""
        by_row: dict[int, list[Launch]] = {}
        for launch in self.wrapper.launches:
            same = by_row.setdefault(launch.line, [])
            if all(launch.text != other.text for other in same):
                same.append(launch)  # a subgraph's function that is called twice has its launches twice
        bound: dict[str, list[dict[str, Any]]] = {}
        found = []
        for event in self.events:
            if "call" in event:
                bound.setdefault(event["call"], []).append(event)
            if event.get("line") in CALLS:
                first, last = (event["rows"][0], event["rows"][-1]) if event["rows"] else (0, -1)
                rows = range(first, last + 1)
                marks = bound.get(event.get("kernel", ""), [])
                mark = marks.pop(0) if marks else None
                found.append((event | {"mark": mark}, [x for row in rows for x in by_row.get(row, ())]))
        return sorted([*found, *self._looked_up(found)], key=lambda f: f[1][0].index if f[1] else -1)

    def _looked_up(
        self, found: list[tuple[dict[str, Any], list[Launch]]]
    ) -> list[tuple[dict[str, Any], list[Launch]]]:
        """The operators that are looked up, with the launches that no other call stands for and that name their inputs."""
        left = self.other_launches(found)
        calls: list[tuple[dict[str, Any], list[Launch]]] = []
        for op in self.looked_up:
            mine = left[:1] if left and all(n in left[0].text for n in op.get("inputs", ())) else []
            left = left[len(mine) :]
            calls.append(
                (
                    op
                    | {"line": "looked up", "mark": None, "rows": [x.line for x in mine], "text": [op["op"]]},
                    mine,
                )
            )
        return calls

    def other_launches(self, calls: list[tuple[dict[str, Any], list[Launch]]]) -> list[Launch]:
        """The launches that none of these calls stands for, without those that Inductor writes as plain text."""
        used = {(x.line, x.text) for _, got in calls for x in got}
        return [x for x in self.wrapper.launches if (x.line, x.text) not in used and not FILLS.search(x.text)]

    @cached_property
    def looked_up(self) -> list[dict[str, Any]]:
        """Operators whose calls Inductor writes as plain text: those that are looked up when the model runs."""
        written = {e.get("name") for e in self.truth["events"] if e.get("line") in EXTERN}
        return [
            op
            for graph in self.truth["graphs"]
            for op in graph["operations"]
            if op["class"] == "FallbackKernel" and op["name"] not in written
        ]

    def facts(self, name: str) -> dict[str, Any]:
        """What Inductor knows of a buffer."""
        return next((g["buffers"][name] for g in self.truth["graphs"] if name in g["buffers"]), {})

    def dtype(self, name: str) -> str | None:
        """The type of a buffer, an input or a constant."""
        for graph in self.truth["graphs"]:
            for group in ("buffers", "inputs", "constants"):
                if name in graph[group]:
                    return str(graph[group][name].get("dtype"))
        return None

    def is_scalar(self, name: str) -> bool:
        """Tell a number among the inputs of the graph."""
        return "dtype" not in self.graphs[None]["inputs"].get(name, {"dtype": ""})

    def parts(self, name: str) -> set[str]:
        """The single outputs of an operation with several."""
        return {
            op["name"]
            for graph in self.truth["graphs"]
            for op in graph["operations"]
            if op["class"] == "MultiOutput" and name in op.get("inputs", ())
        }

    def subgraph(self, event: dict[str, Any]) -> str | None:
        """The graph of `torch.cond` and the like that a call belongs to."""
        return event.get("graph") or (event.get("mark") or {}).get("graph")


def load(folder: Path, stem: str = "graph_0") -> Compiled:
    """Read one recorded graph: the wrapper lies beside it, or below `sources/` with the name that the cache gave it."""
    truth = json.loads((folder / f"{stem}.json").read_text())
    if (folder / f"{stem}.wrapper").exists():
        kernel = folder / f"{stem}.kernel"
        return Compiled(
            truth, (folder / f"{stem}.wrapper").read_text(), kernel.read_text() if kernel.exists() else None
        )
    mark = "class AOTInductorModelKernels" if truth["graphs"][0]["cpp_wrapper"] else "\nasync_compile.wait("
    texts = [p.read_text() for p in sorted((folder / "sources").rglob("*")) if p.suffix in {".cpp", ".py"}]
    (wrapper,) = [text for text in texts if mark in text]
    return Compiled(truth, wrapper, next((t for t in texts if t != wrapper and "void kernel(" in t), None))


def expected_arguments(mark: dict[str, Any]) -> list[tuple[str, str]]:
    """(outer, inner) of a kernel's arguments in their order, from `KernelArgs`."""
    args = mark.get("bound") or {}
    inplace = {v["inner"]: v["names"][-1] for v in args.get("inplace", {}).values()}
    found = [(outer, inner) for inner, outer in inplace.items()]
    for group in ("input", "output"):
        found += [
            (outer, inner)
            for outer, inner in args.get(group, {}).items()
            if outer not in args.get("inplace", {})
        ]
    found += list(args.get("sizes", {}).items())
    return found + [(w["outer"], w["inner"]) for w in args.get("workspace", ())]

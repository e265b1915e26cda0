"""FX graphs printed as Python: alone in a file or trace record, or inside a log among other text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from aoti_logs.parse.facts import Graph, GraphBody, GraphNode, Placeholders
from aoti_logs.parse.graphs.graph_frame import usual_frame
from aoti_logs.parse.graphs.graph_statement import Statement, read_statements
from aoti_logs.parse.graphs.placeholders import Inputs, placeholders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aoti_logs.sources.source import Source

_HEAD = b"def forward("
_CLASS = re.compile(r"(?:^|\s)class (\S+)\(torch\.nn\.Module\):\s*$")
_TITLE = re.compile(r"===== (.+?) =====\s*$")
_LONGEST_LINE = 4 << 20
_LONGEST_HEAD = 20_000
_STRANGERS = 50
"""Lines of other output that may stand inside a graph before it is taken to have ended."""


@dataclass(frozen=True)
class NodeLine:
    """A Python line as the header above nodes names it."""

    file: str
    line: int
    function: str | None
    code: str


@lru_cache(maxsize=8192)
def read_node_header(text: str) -> NodeLine | None:
    """Read `# File: FILE:LINE in FUNCTION, code: CODE` by `grammars/node_header.lark`; None for others."""
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tokens = parser("node_header").parse(text[:_LONGEST_LINE]).children
    except LarkError:
        return None
    parts = {getattr(t, "type", ""): str(t) for t in tokens}
    file, _, line = parts["FILE_LINE"].rpartition(":")
    function = parts["IN_FUNCTION"][4:-7] if "IN_FUNCTION" in parts else None
    return NodeLine(file, int(line[:18]), function, parts.get("CODE", "").strip())


def read_graph(source: Source, stage: str | None = None, compile_id: str | None = None) -> Graph:
    """Return the first graph printed in a source, an empty one when there is none."""
    graphs = graphs_in_text(source, stage, compile_id)
    return (
        graphs[0]
        if graphs
        else Graph(stage or source.label, Placeholders(), 1, GraphBody, source, compile_id)
    )


def graphs_in_text(
    source: Source, stage: str | None = None, compile_id: str | None = None
) -> tuple[Graph, ...]:
    """Return every FX graph printed in a source, subgraphs of higher-order operators each on its own.

    Args:
        source: a graph alone (trace record, debug folder) or a log with ExportedPrograms in it.
        stage: what the trace calls the graph; without it the text around tells (`exported_program`,
            the title of a TORCH_LOGS message) or else the source's label.
        compile_id: as the record says; without it the source's own.
    """
    data = source.data
    compile_id = source.compile_id if compile_id is None else compile_id
    graphs = []
    at = 0
    while (found := data.find(_HEAD, at)) >= 0:
        start = data.rfind(b"\n", 0, found) + 1
        if bytes(data[start : min(found, start + 200)]).strip():
            # inside a line of something else, such as code quoted in JSON
            at = found + 1
            continue
        first = source.line_at(start)
        before = source.cut(max(0, start - 2000), start)
        owner = _CLASS.search(before.rstrip().rpartition("\n")[2])
        named = owner is not None and owner[1] != "<lambda>"
        frame = usual_frame(data, start, found)
        if frame is None:
            reader = _Reader(source, first)
            at = reader.read(start)
            inputs = reader.inputs.placeholders(named=named)
            body: Callable[[], GraphBody] = reader.body
        else:
            at = frame.end
            inputs = placeholders(frame.head, frame.lines, named=named)
            body = partial(_body_at, source, start, first)
        graphs.append(Graph(stage or source.label or _stage(before), inputs, first, body, source, compile_id))
        at = max(at, found + 1)
    return tuple(graphs)


def _body_at(source: Source, start: int, first_line: int) -> GraphBody:
    reader = _Reader(source, first_line)
    reader.read(start)
    return reader.body()


def _lines(source: Source, start: int) -> Iterator[tuple[int, str]]:
    """Give (offset after the line, text without its end) from a byte offset; huge lines are cut."""
    data = source.data
    size = len(data)
    while start < size:
        end = data.find(b"\n", start)
        end = size if end < 0 else end
        yield min(end + 1, size), source.cut(start, min(end, start + _LONGEST_LINE)).rstrip("\r")
        start = end + 1


@dataclass
class _Reader:
    source: Source
    first_line: int
    inputs: Inputs = field(default_factory=Inputs)
    nodes: list[GraphNode] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    where: NodeLine | None = None

    def read(self, start: int) -> int:
        """Read one graph whose `def forward(` is on the line at `start`; return where it ends."""
        lines = _lines(self.source, start)
        head: list[str] = []
        number, at = self.first_line, start
        for _, text in lines:
            head.append(text)
            number += 1
            if text.rstrip().endswith(":") or len(head) >= _LONGEST_HEAD:
                break
        indent = len(head[0]) - len(head[0].lstrip()) if head else 0
        cut = head[0].find("def forward(") if head else 0
        self.inputs.head("\n".join([head[0][cut:], *head[1:]]) if head else "")
        self.known.update(self.inputs.by_name)
        strangers = 0
        for end, text in lines:
            body = text.lstrip()
            if body.startswith(("class ", "def forward(", "Graph signature:", "Range constraints:")):
                return at
            if body and len(text) - len(body) <= indent:
                strangers += 1
                if strangers > _STRANGERS:
                    return at
            elif body:
                strangers = 0
                if self._line(body, number):
                    return end
            number += 1
            at = end
        return at

    def _line(self, text: str, number: int) -> bool:
        """Read a line of the body; True when the graph ends with it."""
        if text.startswith("#"):
            if "No stacktrace found" in text or "File: " in text:
                self.where = read_node_header(text)
            return False
        for statement in read_statements(text):
            if statement.kind == "return":
                return True
            self._statement(statement, text, number)
        return False

    def _statement(self, statement: Statement, text: str, number: int) -> None:
        match statement.kind:
            case "input" | "inputs":
                self.inputs.statement(statement, text, number - self.first_line)
                self.known.update(self.inputs.by_name)
            case "alias":
                self.known.add(statement.name)
            case "attribute":
                self.known.add(statement.name)
                self.attributes.append((statement.name, statement.target))
            case _:
                self._node(statement, number)

    def _node(self, statement: Statement, number: int) -> None:
        where = self.where
        target = statement.target
        holder, dot, method = target.partition(".")
        if dot and holder in self.known:
            target = f".{method}"
        self.nodes.append(
            GraphNode(
                name=statement.name,
                target=target,
                args=tuple(n for n in statement.names if n in self.known),
                file=where.file if where else None,
                line=where.line if where else None,
                function=where.function if where else None,
                code=where.code if where else None,
                place=self.source.place(number),
            )
        )
        self.known.add(statement.name)

    def body(self) -> GraphBody:
        """Return the nodes and attributes that were read."""
        return GraphBody(tuple(self.nodes), tuple(self.attributes))


def _stage(before: str) -> str:
    """Return what the text above a graph calls it."""
    above = [line for line in before.split("\n") if line.strip()][-3:]
    if any(line.strip() == "ExportedProgram:" for line in above):
        return "exported_program"
    for line in reversed(above):
        if title := _TITLE.search(line):
            return title[1]
    owner = _CLASS.search(above[-1]) if above else None
    return owner[1] if owner else ""

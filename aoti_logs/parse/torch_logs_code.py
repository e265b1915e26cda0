"""Generated code and graphs that TORCH_LOGS printed into a log, as sources of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aoti_logs.parse.events import LogLine

# torch/_inductor/graph.py, codecache.py, compile_fx.py: the text below one of these is code.
_CODE_HEADINGS = ("Output code:", "Output wrapper code:", "Output kernel code:")
# torch/_dynamo/utils.py `lazy_format_graph_code`: TRACED GRAPH, a title, a path and the graph.
_GRAPH_HEADING = "TRACED GRAPH"
_HEADINGS = (*_CODE_HEADINGS, _GRAPH_HEADING)
_AFTER = ("Output code written to:", "Wrapper code written to:", "Kernel code written to:")
_TITLE = re.compile(r"\s*===== (.+?) =====\s*")
_WRAPPER = re.compile(r"\bAOTInductorModel(?:Container)?\w*::run_impl\(|\binductor_entry_impl\(")
_PYTHON = re.compile(r"^(?:# AOT ID: |from ctypes import |async_compile = |import torch\b|def call\()", re.M)
_KERNEL = re.compile(r'^\s*extern "C"|^#include |\bat::vec::', re.M)
_GRAPH = re.compile(r"^\s*def forward\(", re.M)


def code_in_messages(messages: Iterable[LogLine], host: Source) -> tuple[Source, ...]:
    """Return the code and graphs in a log's messages, in order.

    Two messages with the same prefix arrive as one; they are told apart by their headings. Each
    source is named `LOG#output_code[0/1]` after its artifact and compile id, its lines are those of
    the log. What no longer looks like code, because the log was cut right there, is left out.
    """
    found: list[Source] = []
    seen: dict[str, int] = {}
    for message in messages:
        text = message.text
        if _GRAPH_HEADING not in text and "Output " not in text:
            continue
        lines = text.split("\n")
        for start, end in _pieces(lines):
            child = _child(message, lines, start, end, host, seen)
            if child is not None:
                found.append(child)
    return tuple(found)


def _pieces(lines: list[str]) -> list[tuple[int, int]]:
    """Return where each text starts, at its heading, and ends."""
    marks = [i for i, line in enumerate(lines) if line.startswith((*_HEADINGS, *_AFTER))]
    ends = [*marks[1:], len(lines)]
    return [(i, end) for i, end in zip(marks, ends, strict=False) if lines[i].startswith(_HEADINGS)]


def _child(
    message: LogLine, lines: list[str], start: int, end: int, host: Source, seen: dict[str, int]
) -> Source | None:
    body, numbers = lines[start + 1 : end], list(message.lines[start + 1 : end])
    if not body or not numbers:
        return None
    label = (message.artifact or "").strip("_") or "output_code"
    if lines[start].startswith(_GRAPH_HEADING):
        kind: Kind | None = Kind.GRAPH if any(_GRAPH.match(line) for line in body) else None
        title = next((t for line in body[:2] if (t := _TITLE.fullmatch(line))), None)
        label = title[1] if title else label
    else:
        kind = _kind("\n".join(body))
    if kind is None:
        return None
    name = f"{host.name}#{label}" + (f"[{message.compile_id}]" if message.compile_id else "")
    seen[name] = seen.get(name, 0) + 1
    return Source(
        name if seen[name] == 1 else f"{name}.{seen[name]}",
        kind,
        _reader("\n".join(body)),
        parent=host,
        parent_lines=numbers,
        role=host.role,
        label=label,
        rank=message.rank if message.rank is not None else host.rank,
        compile_id=message.compile_id,
    )


def _reader(text: str) -> Callable[[], bytes]:
    return lambda: text.encode("utf-8", "replace")


def _kind(code: str) -> Kind | None:
    """Tell the language of generated code by what only it contains."""
    if _PYTHON.search(code):
        return Kind.OUTPUT_CODE
    if _WRAPPER.search(code):
        return Kind.WRAPPER_CPP
    return Kind.KERNEL_CPP if _KERNEL.search(code) else None

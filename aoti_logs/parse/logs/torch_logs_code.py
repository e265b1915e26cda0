"""Generated code and graphs that TORCH_LOGS printed into a log, as sources of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.printed_text import GRAPH, printed_texts
from aoti_logs.parse.logs.whole_messages import whole_messages
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aoti_logs.parse.events import LogLine
    from aoti_logs.parse.logs.printed_text import PrintedText

_TITLE = re.compile(r"\s*===== (.+?) =====\s*")
_CACHED = " (from cache)"
_WRAPPER = re.compile(r"\bAOTInductorModel(?:Container)?\w*::run_impl\(|\binductor_entry_impl\(")
_PYTHON = re.compile(r"^(?:# AOT ID: |from ctypes import |async_compile = |import torch\b|def call\()", re.M)
_TRITON = re.compile(r"^@triton(?:\.\w+)*\.jit\b|^@triton_heuristics\.", re.M)
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
    for text in printed_texts(whole_messages(messages)):
        if text.path is None and not text.title.endswith(" FUSION"):
            child = _child(text, host, seen)
            if child is not None:
                found.append(child)
    return tuple(found)


def _child(text: PrintedText, host: Source, seen: dict[str, int]) -> Source | None:
    message = text.message
    body = message.text.split("\n")[text.first + 1 : text.end]
    numbers = list(message.lines[text.first + 1 : text.end])
    if not body or not numbers:
        return None
    label = (message.artifact or "").strip("_") or "output_code"
    if text.title == GRAPH or text.title.endswith(_CACHED):
        kind: Kind | None = Kind.GRAPH if any(_GRAPH.match(line) for line in body) else None
        title = next((t for line in body[:2] if (t := _TITLE.fullmatch(line))), None)
        label = title[1] if title else text.title if text.title != GRAPH else label
    else:
        kind = _kind("\n".join(body), alone=text.title.endswith(" Kernel"))
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


def _kind(code: str, *, alone: bool) -> Kind | None:
    """Tell the language of generated code by what only it contains; `alone` for a kernel without wrapper."""
    if alone and _TRITON.search(code):
        return Kind.TRITON_KERNEL
    if _PYTHON.search(code):
        return Kind.OUTPUT_CODE
    if _WRAPPER.search(code):
        return Kind.WRAPPER_CPP
    return Kind.KERNEL_CPP if _KERNEL.search(code) else None

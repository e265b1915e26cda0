"""Texts that torch's loggers print as a whole: graphs, generated code, kernels, IR, and where code was written.

Printed by torch/_dynamo/utils.py (`lazy_format_graph_code`), torch/_functorch/_aot_autograd/aot_autograd_result.py,
torch/_inductor/{graph,compile_fx,codecache,async_compile,debug}.py, torch/_inductor/codegen/wrapper.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

GRAPH = "TRACED GRAPH"
_HEAD = re.compile(
    r"(?P<title>TRACED GRAPH$|(?:Joint|Forward|Backward) graph \(from cache\)$|(?:BEFORE|AFTER) FUSION$|"
    r"Output (?:wrapper |kernel )?code(?=:)|(?:Output|Wrapper|Kernel|Header) code written to(?=: )|"
    r"Auto-tuning code written to(?= )|\w[\w+]{1,20} Kernel(?=:$))"
)
_WRITTEN = " written to"
_KERNELS = "kernel_code"


@dataclass(frozen=True)
class PrintedText:
    """A text: its title (`Output code`, `TRACED GRAPH`), its message, and its rows there, the title's own first.

    `path` is the file that it says was written.
    """

    title: str
    message: LogLine
    first: int
    end: int
    path: str | None = None


def printed_texts(messages: Iterable[LogLine]) -> Iterator[PrintedText]:
    """Yield the texts; of several in messages with one prefix each ends where the next begins."""
    for message in messages:
        head = message.text[:40].lstrip()
        if not _HEAD.match(head.partition("\n")[0].rstrip()) and "\n" not in message.text:
            continue
        rows = message.text.split("\n")
        found = [(i, m) for i, row in enumerate(rows) if (m := _title(row, message.artifact)) is not None]
        ends = [*(i for i, _ in found[1:]), len(rows)][: len(found)]
        for (first, title), end in zip(found, ends, strict=True):
            path = rows[first][len(title) :].strip(": ") if title.endswith(_WRITTEN) else None
            yield PrintedText(title, message, first, first + 1 if path else end, path)


def _title(row: str, artifact: str | None) -> str | None:
    found = _HEAD.match(row.rstrip()) if row[:1].isupper() else None
    if found is None or (found["title"].endswith(" Kernel") and artifact != _KERNELS):
        return None
    return found["title"]

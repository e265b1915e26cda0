"""The condition on data that a graph shows which tracing printed as it broke off: its last node.

`make_fx` prints the graph so far when an exception leaves it (torch/fx/experimental/proxy_tensor.py, `print_readable`), to
stdout; in a log that has both streams it stands right below the messages of TORCH_LOGS about that exception.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.parse.graphs.graph import read_node_header

if TYPE_CHECKING:
    from aoti_logs.parse.sizes.shape_log import ShapeLine
    from aoti_logs.sources.source import Place

_MESSAGE = re.compile(r"[VDIWEC]\d{4} \d\d:\d\d:|\[\d{4}-\d\d-\d\d |\$ |Traceback ")
_HEAD = re.compile(r"\s*def forward\(")
_NODE = re.compile(r'\s*(?:sym_)?\w+: "Sym\((?P<value>.{1,400})\)" = ')
_OTHER = re.compile(r"\s*\w+(?:: \".{0,400}\")? = ")
_COMPARED = re.compile(r"[<>]|==|!=|\b(?:Eq|Ne|Gt|Ge|Lt|Le)\(")
_FAR = 400
"""So many lines below the message are looked at."""


class PrintedCondition(NamedTuple):
    """A condition (`u0 > 5`), the user's line that asks (`gen_logs.py:64 in forward: if n > 5: ...`), and the node's place."""

    expression: str
    asked_at: str | None
    place: Place


def printed_condition(line: ShapeLine, symbol: str) -> PrintedCondition | None:
    """Return the condition on a symbol that the graph below a message ends with; None where none is printed there."""
    message = line.message
    source = message.span.source
    begin = max(message.lines, default=line.line) + 1
    inside, last, comment, header = False, None, None, None
    for number in range(begin, min(begin + _FAR, len(source.lines) + 1)):
        text = source.line_text(number)
        if _MESSAGE.match(text) or (inside and _HEAD.match(text)):
            break
        inside = inside or _HEAD.match(text) is not None
        if not inside:
            continue
        comment = text.strip() if text.lstrip().startswith("# File: ") else comment
        node = _NODE.match(text)
        if node is not None:
            last, header = (number, node["value"]), comment
        elif _OTHER.match(text):
            last = None
    if last is None or not _COMPARED.search(last[1]) or not re.search(rf"\b{re.escape(symbol)}\b", last[1]):
        return None
    asked = read_node_header(header) if header is not None else None
    where = None
    if asked is not None:
        function = f" in {asked.function}" if asked.function else ""
        where = f"{asked.file}:{asked.line}{function}" + (f": {asked.code}" if asked.code else "")
    return PrintedCondition(last[1], where, source.place(last[0]))

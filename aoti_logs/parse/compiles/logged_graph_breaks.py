"""Graph breaks that TORCH_LOGS=graph_breaks printed: the same text as a trace's artifact, see `parse/compiles/graph_break.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.graph_break import read_graph_break

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.compiles.graph_break import GraphBreak
    from aoti_logs.parse.events import LogLine

ARTIFACT = "graph_breaks"
# torch/_dynamo/symbolic_convert.py and convert_frame.py; the last is of exc.py, format_error_msg.
_BEGINS = ("Graph break", "WON'T CONVERT ")


def graph_breaks_in(messages: Iterable[LogLine]) -> Iterator[tuple[LogLine, GraphBreak]]:
    """Yield the graph breaks with the message that tells each.

    A message whose first lines are not in the log has neither place nor reason, and is left out.
    """
    for message in messages:
        if message.artifact != ARTIFACT or not message.text.strip():
            continue
        found = read_graph_break(message.text)
        if message.text.startswith(_BEGINS) or found.reason is not None:
            yield message, found

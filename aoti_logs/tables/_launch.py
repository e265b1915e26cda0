"""Rows of launches, shared by the table and the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.code.model import ArgumentKind
from aoti_logs.code.wrapper.argument_text import only_written, passed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.view import ModelView

_TENSORS = {ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT}
_SIZES = {ArgumentKind.SIZE, ArgumentKind.LITERAL, ArgumentKind.EXPRESSION}


def launch_rows(view: ModelView) -> Iterator[tuple[Any, ...]]:
    """Yield one row a launch, in program order."""
    source, cpp = view.wrapper.source, view.wrapper.flavour != "jit_python"
    for launch in view.wrapper.launches:
        outputs = view.written_by(launch)
        outs = only_written(view, launch)
        inputs = [
            a.name
            for a in launch.arguments
            if a.kind in _TENSORS and a.name and a.name not in outs and a.name not in launch.outputs
        ]
        sizes = [a.text for a in launch.arguments if a.kind in _SIZES and a.param is not None]
        place = source.place(launch.line)
        yield (
            source.name,
            launch.index,
            launch.kernel,
            str(launch.backend),
            place.source,
            place.line,
            passed(launch, cpp=cpp),
            list(dict.fromkeys(inputs)),
            list(outputs),
            sizes,
            list(launch.grid),
            launch.stream,
            list(launch.branch),
            launch.subgraph,
            launch.unbound,
            launch.handle,
            launch.checked,
            list(launch.source_nodes),
            launch.text,
        )

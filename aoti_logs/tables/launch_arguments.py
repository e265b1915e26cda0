"""Arguments of launches, bound to parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class LaunchArguments(dy.Schema):
    """One row an argument."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=False, description="`launches.index`.")
    kernel = dy.String(nullable=False, description="Kernel.")
    position = dy.Int64(nullable=False, description="Position, from 0.")
    param = dy.String(nullable=True, description="Formal parameter; null for what only the launcher needs.")
    text = dy.String(nullable=False, description="Argument as written.")
    kind = dy.String(
        nullable=False,
        description="`buffer`, `input`, `constant`, `size`, `literal`, `expression` or `other`.",
    )
    name = dy.String(nullable=True, description="Variable behind casts and views.")
    user_name = dy.String(nullable=True, description="What the user calls it: input name or module path.")


SCHEMA = LaunchArguments


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for launch in view.wrapper.launches:
            for a in launch.arguments:
                tensor = view.named(a.name, a.kind) if a.name else None
                yield (
                    view.wrapper.source.name, launch.index, launch.kernel, a.position, a.param, a.text, str(a.kind), a.name,
                    tensor.name if tensor else None,
                )  # fmt: skip

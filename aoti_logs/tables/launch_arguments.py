"""Arguments of launches, bound to parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.code.wrapper.argument_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class LaunchArguments(dy.Schema):
    """One row an argument."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=False, description="`launches.index`.")
    kernel = dy.String(nullable=False, description="Kernel.")
    position = dy.Int64(nullable=False, description="Position, from 0.")
    param = dy.String(
        nullable=True,
        description="Parameter of the kernel; null for what only the launcher needs, for calls of ATen, and where `launches.unbound` tells why.",
    )
    text = dy.String(nullable=False, description="Argument as written.")
    kind = dy.String(
        nullable=False,
        description="`buffer`, `input`, `constant`, `size`, `literal`, `expression` or `other`.",
    )
    name = dy.String(nullable=True, description="Variable behind casts and views.")
    value = dy.String(
        nullable=True,
        description="Value of a size or literal in canonical form (`64*s23`), as a guard would have it; null for tensors.",
    )
    dtype = dy.String(
        nullable=True,
        description="Type of the parameter as the kernel writes it (`*fp32`, `const int64_t*`).",
    )
    user_name = dy.String(nullable=True, description="What the user calls it: input name or module path.")


SCHEMA = LaunchArguments


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        cpp = view.wrapper.flavour != "jit_python"
        for launch in view.wrapper.launches:
            for a in launch.arguments:
                tensor = view.named(a.name, a.kind) if a.name else None
                yield (
                    view.wrapper.source.name, launch.index, launch.kernel, a.position, a.param, a.text, str(a.kind), a.name,
                    value_text(a, cpp=cpp), a.dtype, tensor.name if tensor else None,
                )  # fmt: skip

"""How Triton kernels were compiled and tuned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

_COLUMNS = frozenset({"autotune_cache_state", "num_configs", "only_config", "compile_time_us"})


class TritonKernels(dy.Schema):
    """One row a kernel of a `triton_kernel_info` artifact."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    kernel = dy.String(nullable=False, description="Kernel, as `kernels.name`.")
    autotune_cache_state = dy.String(
        nullable=True, description="`hit`, `miss`, `only 1 config`, `force_disabled`, ..."
    )
    n_configs = dy.Int64(nullable=True, description="Configurations that were compared.")
    only_config = dy.String(nullable=True, description="The only configuration, as JSON.")
    compile_time_us = dy.Float64(nullable=True, description="Microseconds of compiling it.")
    other = dy.String(nullable=True, description="Its other fields as a JSON object.")


SCHEMA = TritonKernels


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("artifact:triton_kernel_info"):
        where = t.here(record)
        for kernel, value in t.mapping(record.json()).items():
            fields = t.mapping(value)
            other = {name: item for name, item in fields.items() if name not in _COLUMNS}
            yield (
                *where, kernel, t.text(fields.get("autotune_cache_state")), t.integer(fields.get("num_configs")),
                t.text(fields.get("only_config")), t.number(fields.get("compile_time_us")),
                t.to_json(other) if other else None,
            )  # fmt: skip

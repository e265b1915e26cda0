"""Input tensors as tracing met them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

_COLUMNS = frozenset(
    [
        "id",
        "describer_id",
        "ndim",
        "dtype",
        "device",
        "size",
        "stride",
        "storage",
        "storage_offset",
        "requires_grad",
        "is_leaf",
        "is_parameter",
        "layout",
        "view_func",
    ]
)


class Tensors(dy.Schema):
    """One row a `describe_tensor` record, with the `describe_storage` and `describe_source` that belong to it."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    describer = dy.Int64(nullable=True, description="Describer of the process; ids are its own.")
    id = dy.Int64(nullable=True, description="Number of the tensor there.")
    origin = dy.String(nullable=True, description="Where Dynamo or export found it, `L['x']`.")
    input_name = dy.String(nullable=True, description="Name of the input in it.")
    dtype = dy.String(nullable=True, description="Element type, `torch.float32`.")
    device = dy.String(nullable=True, description="Device, `cuda:0`.")
    ndim = dy.Int64(nullable=True, description="Number of dimensions.")
    shape = dy.List(dy.String(), nullable=True, description="Sizes; symbolic ones are expressions.")
    stride = dy.List(dy.String(), nullable=True, description="Strides in elements.")
    storage_offset = dy.String(nullable=True, description="Offset in elements; null is 0.")
    requires_grad = dy.Bool(nullable=False, description="Whether it requires a gradient.")
    is_leaf = dy.Bool(nullable=False, description="Whether it is a leaf.")
    is_parameter = dy.Bool(nullable=False, description="Whether it is a parameter.")
    storage = dy.Int64(nullable=True, description="Number of its storage; tensors that share one alias.")
    storage_bytes = dy.Int64(nullable=True, description="Size of the storage in bytes; null where symbolic.")
    storage_size = dy.String(nullable=True, description="The same as text, `4*s77`.")
    other = dy.String(nullable=True, description="Its other fields as a JSON object.")


SCHEMA = Tensors


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    storages: dict[tuple[Any, ...], Any] = {}
    waiting: dict[tuple[Any, ...], list[Any]] = {}
    rows: list[list[Any]] = []
    for record in trace.find("describe_storage", "describe_tensor", "describe_source"):
        fields = t.mapping(record.metadata)
        process = record.process
        key = (process, t.integer(fields.get("describer_id")), t.integer(fields.get("id")))
        if record.name == "describe_storage":
            storages[key] = fields.get("size")
        elif record.name == "describe_source":
            row, origin = waiting.pop(key, None), fields.get("source")
            if row is not None and isinstance(origin, str):
                found = input_of(origin)
                row[6], row[7] = origin, found.name if found else None
        else:
            size = storages.get((process, key[1], t.integer(fields.get("storage"))))
            row = [*t.here(record), *key[1:], None, None, *_description(fields, size)]
            waiting[key] = row
            rows.append(row)
    yield from map(tuple, rows)


def _description(fields: dict[str, Any], size: object) -> tuple[Any, ...]:
    other = {name: value for name, value in fields.items() if name not in _COLUMNS}
    return (
        t.text(fields.get("dtype")), _device(fields.get("device")), t.integer(fields.get("ndim")),
        t.texts(fields.get("size")), t.texts(fields.get("stride")), t.text(fields.get("storage_offset")),
        fields.get("requires_grad") is True, fields.get("is_leaf") is True, fields.get("is_parameter") is True,
        t.integer(fields.get("storage")), t.integer(size), t.text(size), t.to_json(other) if other else None,
    )  # fmt: skip


def _device(value: object) -> str | None:
    """Return `cuda:0` for `device(type='cuda', index=0)`."""
    text = t.text(value)
    if text is None or not text.startswith("device(type='"):
        return text
    kind, _, rest = text.removeprefix("device(type='").partition("'")
    index = rest.removeprefix(", index=").removesuffix(")")
    return f"{kind}:{index}" if index.isdigit() else kind

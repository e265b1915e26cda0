"""What the tables made of trace records share: where a record stands, and values that may be anything.

Envelopes and JSON payloads come from strangers: a field that torch writes as a number may be a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy
from orjson import dumps

if TYPE_CHECKING:
    from aoti_logs.records.trace import StackFrame, TraceRecord

Here = tuple[str, int, str | None, int | None]


def here(record: TraceRecord) -> Here:
    """Return file, line, compile id and rank of a record: the first columns of its rows."""
    return record.index.context.here[record.number]


def here_of_payload(record: TraceRecord) -> Here:
    """Return the same for what the payload holds: a tlparse report has it in a file of its own."""
    source, line = record.text_where
    _, _, compile_id, rank = here(record)
    return source, line, compile_id, rank


def source() -> dy.String:
    """Describe the column `source`."""
    return dy.String(nullable=False, description="File or archive member, as `sources.name`.")


def line() -> dy.Int64:
    """Describe the column `line`."""
    return dy.Int64(nullable=False, description="Line of the record, from 1.")


def compile_id() -> dy.String:
    """Describe the column `compile_id`."""
    return dy.String(
        nullable=True,
        description="Compile id without its attempt, `0/1`; `aoti/0` is the file's first AOTInductor compile, "
        "which torch gives no id; null outside of a compile.",
    )


def rank() -> dy.Int64:
    """Describe the column `rank`."""
    return dy.Int64(nullable=True, description="Rank from the record, else from the file's name.")


def attempt() -> dy.Int64:
    """Describe the column `attempt`."""
    return dy.Int64(
        nullable=True, description="How often analysis had restarted, from 0; null where not recorded."
    )


def text(value: object) -> str | None:
    """Return a string as it is, another value as JSON, None for none."""
    if value is None or isinstance(value, str):
        return value
    return to_json(value)


def to_json(value: object) -> str:
    """Return a value as JSON text."""
    try:
        return dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or nested deeper than orjson writes
        import json

        try:
            return json.dumps(value)
        except RecursionError:
            return '"nested too deeply"'


def integer(value: object) -> int | None:
    """Return an integer of 64 bits, None for anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and -(2**63) <= value < 2**63 else None  # type: ignore[operator,return-value]


def number(value: object) -> float | None:
    """Return a number or truth value as a float, None for anything else."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def texts(value: object) -> list[str] | None:
    """Return a list's items as texts, None for anything but a list."""
    if not isinstance(value, list):
        return None
    return [item if isinstance(item, str) else to_json(item) for item in value]


def mapping(value: object) -> dict[str, Any]:
    """Return a dict as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list as it is, an empty one for anything else."""
    return value if isinstance(value, list) else []


def innermost(record: TraceRecord, stack: object) -> StackFrame | None:
    """Return the innermost frame of a stack in a record's envelope."""
    frames = record.frames(stack[-1:]) if isinstance(stack, list) else ()
    return frames[0] if frames else None

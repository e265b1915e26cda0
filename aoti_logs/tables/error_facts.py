"""What the texts of errors say, taken apart."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.sources.source import Source, Span
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DEEPEST = 6
_MOST = 2000  # facts of one error


class ErrorFacts(dy.Schema):
    """One row a fact of an error whose text is known: which input has which dtype, which library lacks which symbol, which
    address was read by which kernel, how many bytes were asked for.
    """

    source = t.source()
    line = dy.Int64(nullable=False, description="First line of the error, as `errors.line`.")
    rank = t.rank()
    form = dy.String(nullable=False, description="How the error reached the log, as `errors.form`.")
    kind = dy.String(
        nullable=False, description="What kind of text it is: `input_mismatch`, `dlopen`, `device_fault`, ..."
    )
    key = dy.String(
        nullable=False, description="Name of the fact; parts of a part are joined by dots, `frames.0.symbol`."
    )
    value = dy.String(nullable=False, description="Its value as text.")
    number = dy.Float64(nullable=True, description="Its value, where it is a number.")


SCHEMA = ErrorFacts


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for error in events.errors:
            detail = error.detail
            if detail is None or not is_dataclass(detail):
                continue
            kind = _WORD.sub("_", type(detail).__name__).lower()
            rank = error.rank if error.rank is not None else source.rank
            for number, (key, value) in enumerate(_facts("", detail, 0)):
                if number == _MOST:
                    break
                yield source.name, error.span.line, rank, str(error.form), kind, key, *_cell(value)


def _facts(key: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the plain values inside of a value."""
    if value is None or isinstance(value, Span | Source) or depth > _DEEPEST:
        return
    if is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _facts(f"{key}.{one.name}" if key else one.name, getattr(value, one.name), depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for number, one in enumerate(value):
            yield from _facts(f"{key}.{number}", one, depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _facts(f"{key}.{name}", one, depth + 1)
    elif isinstance(value, str | int | float | Enum):
        yield key, value


def _cell(value: Any) -> tuple[str, float | None]:
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, Enum):
        return str(value.value), None
    if isinstance(value, int | float):
        return str(value) if abs(value) < 1 << 64 else f"{value:.17g}", float(value) if abs(
            value
        ) < 1 << 63 else None
    return str(value), None

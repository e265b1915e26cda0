"""Numbers of the run: shapes and extreme values that something printed before the failure.

Two printers tell them: AOTInductor's value printer (by the generated name, exact to six digits),
and the caller's own lines (`table=(0, 4)`), which match by name only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import Dump, LogEvents
    from aoti_logs.sources.source import Place, Span

_DIGITS = 6


@dataclass(frozen=True)
class Known:
    """A number with the line that prints it. `exact` is False when the printer rounded it."""

    value: int
    place: Place
    text: str
    strength: Confidence
    exact: bool = True


@dataclass(frozen=True)
class Numbers:
    """What was printed before one point of a log."""

    dumps: tuple[Dump, ...]
    shapes: tuple[tuple[str, tuple[int, ...], Span], ...]

    @classmethod
    def before(cls, events: LogEvents, offset: int) -> Numbers:
        """Collect what stands before an offset; for the same name the last one counts."""
        dumps = tuple(d for d in events.dumps if d.span.start < offset)
        shapes = []
        for note in events.notes:
            if note.kind == "shapes" and note.span.start < offset:
                shapes += [(k, shape, note.span) for k, v in note.facts if (shape := _shape(v)) is not None]
        return cls(dumps, tuple(shapes))

    def extent(self, arg: str, name: str | None, dim: int) -> Known | None:
        """Return the extent of a dimension of a tensor, by generated and by user's name."""
        for dump in reversed(self.dumps):
            if dump.argument == arg and dump.shape is not None and dim < len(dump.shape):
                text = f"{arg} was printed with size {list(dump.shape)}"
                return Known(dump.shape[dim], dump.span.place, text, Confidence.PROVEN)
        for key, shape, span in reversed(self.shapes):
            if name is not None and key == name and dim < len(shape):
                text = f"the run printed {key} with shape {_tuple(shape)}"
                same = {s for k, s, _ in self.shapes if k == key}
                strength = Confidence.LIKELY if len(same) == 1 else Confidence.POSSIBLE
                return Known(shape[dim], span.place, text, strength)
        return None

    def symbol(self, symbol: str, kernel: str) -> Known | None:
        """Return a size that the value printer printed as a scalar before a launch."""
        for dump in reversed(self.dumps):
            if dump.form == "cpp_scalar" and dump.argument == symbol and dump.kernel == kernel:
                value = _integer(dump.value)
                if value is not None:
                    return Known(
                        value, dump.span.place, f"{symbol} was printed as {value}", Confidence.PROVEN
                    )
        return None

    def extremes(self, arg: str, kernel: str) -> tuple[Known | None, Known | None]:
        """Return the smallest and the largest printed value of a tensor before a launch of a kernel."""
        for dump in reversed(self.dumps):
            if dump.argument != arg or dump.min is None or dump.max is None:
                continue
            if dump.phase == "before_launch" and dump.kernel != kernel:
                continue
            if dump.dtype and not _is_integer(dump.dtype):
                return None, None
            return _known(dump, dump.min, "minimum"), _known(dump, dump.max, "maximum")
        return None, None

    def last_started(self) -> Dump | None:
        """Return the last record that announces a launch."""
        started = [d for d in self.dumps if d.phase == "before_launch"]
        return started[-1] if started else None


def _known(dump: Dump, value: float, what: str) -> Known | None:
    if math.isnan(value) or abs(value) >= 2**62:
        return None
    text = f"{dump.argument} was printed with a {what} of {value:g}"
    return Known(int(value), dump.span.place, text, Confidence.PROVEN, abs(value) < 10**_DIGITS)


def _is_integer(dtype: str) -> bool:
    return any(word in dtype for word in ("int", "long", "char", "short", "bool")) and "float" not in dtype


def _integer(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _tuple(shape: Iterable[int]) -> str:
    return str(tuple(shape))


def _shape(text: str) -> tuple[int, ...] | None:
    inner = text.strip().removeprefix("torch.Size").strip("()[] ")
    parts = [p.strip() for p in inner.split(",") if p.strip()]
    if not all(p.isdigit() for p in parts):
        return None
    return tuple(int(p) for p in parts)

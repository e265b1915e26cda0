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
    from collections.abc import Collection, Iterable, Sequence

    from aoti_logs.code.index.other_stream import Elsewhere
    from aoti_logs.parse.events import Dump, LogEvents
    from aoti_logs.sources.source import Place, Span

_INPUTS = "aoti_model_inputs"
_EXACT = 1_000_000
"""Below this the printer's six digits are all of an integer's digits."""


@dataclass(frozen=True)
class Known:
    """A number with the line that prints it.

    The printer writes six digits: the true value of a larger one lies from `low` to `high`.
    """

    value: int
    place: Place
    text: str
    strength: Confidence

    @property
    def exact(self) -> bool:
        """True when no digit was lost."""
        return abs(self.value) < _EXACT

    @property
    def low(self) -> int:
        """The smallest value that prints like this."""
        return self.value if self.exact else self.value - self._lost

    @property
    def high(self) -> int:
        """The largest value that prints like this."""
        return self.value if self.exact else self.value + self._lost

    @property
    def _lost(self) -> int:
        return math.ceil(abs(self.value) * 5 / _EXACT)

    @property
    def shown(self) -> str:
        """The value, `about` it when digits were lost."""
        return str(self.value) if self.exact else f"about {self.value}"


@dataclass(frozen=True)
class Numbers:
    """What was printed before one point of a log, by the call of the model that failed.

    `dumps` are the value printer's records of that call; `printed` are all before the point,
    whichever call they belong to.
    """

    dumps: tuple[Dump, ...]
    shapes: tuple[tuple[str, tuple[int, ...], Span], ...]
    printed: tuple[Dump, ...] = ()
    strength: Confidence = Confidence.PROVEN
    """How sure it is that `dumps` are of the run that failed."""
    elsewhere: Elsewhere | None = None
    """Values that are printed, and not above the failure; they are `dumps` where they can be bound to it."""

    @classmethod
    def before(
        cls,
        events: LogEvents,
        offset: int,
        kernel: str | None = None,
        known: Collection[str] = (),
        elsewhere: Elsewhere | None = None,
    ) -> Numbers:
        """Collect what stands before an offset.

        Args:
            events: the events of one run.
            offset: where the failure was printed.
            kernel: the kernel that failed.
            known: names of all kernels and calls of its wrapper.
            elsewhere: values that stand in another place, for a failure above which none are printed.
        """
        printed = tuple(d for d in events.dumps if d.span.start < offset)
        shapes = []
        for note in events.notes:
            if note.kind == "shapes" and note.span.start < offset:
                shapes += [(k, shape, note.span) for k, v in note.facts if (shape := _shape(v)) is not None]
        if printed or elsewhere is None:
            return cls(_failing_call(printed, kernel, known), tuple(shapes), printed)
        call = _failing_call(elsewhere.dumps, kernel, known) if elsewhere.bound else ()
        return cls(call, tuple(shapes), (), Confidence.LIKELY if call else Confidence.PROVEN, elsewhere)

    def extent(self, arg: str, name: str | None, dim: int) -> Known | None:
        """Return the extent of a dimension of a tensor, by generated and by user's name."""
        for dump in reversed(self.dumps):
            if dump.argument == arg and dump.shape is not None and dim < len(dump.shape):
                text = f"{arg} was printed with size {list(dump.shape)}"
                return Known(dump.shape[dim], dump.span.place, text, self.strength)
        for key, shape, span in reversed(self.shapes):
            if name is not None and key == name and dim < len(shape):
                text = f"the run printed {key} with shape {_tuple(shape)}"
                if len({s for k, s, _ in self.shapes if k == key}) > 1:
                    # Several calls were announced; which of them failed is not known.
                    return None
                return Known(shape[dim], span.place, text, Confidence.LIKELY)
        return None

    def symbol(self, symbol: str, kernel: str) -> Known | None:
        """Return a size that the value printer printed as a scalar before a launch."""
        for dump in reversed(self.dumps):
            if dump.format == "cpp_scalar" and dump.argument == symbol and dump.kernel == kernel:
                value = _integer(dump.value)
                if value is not None:
                    return Known(value, dump.span.place, f"{symbol} was printed as {value}", self.strength)
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
            return self._known(dump, dump.min, "minimum"), self._known(dump, dump.max, "maximum")
        return None, None

    def _known(self, dump: Dump, value: float, what: str) -> Known | None:
        if math.isnan(value) or abs(value) >= 2**62:
            return None
        text = f"{dump.argument} was printed with a {what} of {value:g}"
        return Known(int(value), dump.span.place, text, self.strength)

    def started_with(self, kernel: str) -> set[str]:
        """Return the arguments that were announced for the last launch of a kernel."""
        names: set[str] = set()
        for dump in reversed(self.dumps):
            if dump.phase != "before_launch" or dump.kernel != kernel or dump.argument in names:
                if names:
                    break
                continue
            if dump.argument and dump.format != "cpp_scalar":
                names.add(dump.argument)
        return names

    def last_started(self) -> Dump | None:
        """Return the last record that announces a launch."""
        started = [d for d in self.printed if d.phase == "before_launch"]
        return started[-1] if started else None


def _failing_call(printed: Sequence[Dump], kernel: str | None, known: Collection[str]) -> tuple[Dump, ...]:
    """Return the records of the model call that ended in the failing launch.

    They are only this call's when the last thing that was started is the failing kernel, and
    nothing of another model stands between. Otherwise the tail of the output was lost, or another
    call printed last, and its numbers say nothing.
    """
    started = [n for n, d in enumerate(printed) if d.phase == "before_launch" and d.kernel == kernel]
    if kernel is None or not started:
        return ()
    last = started[-1]
    if any(d.phase == "after_launch" and d.complete and d.kernel == kernel for d in printed[last:]):
        return ()
    first = last
    while first > 0 and printed[first - 1].phase != _INPUTS and printed[first].phase != _INPUTS:
        first -= 1
    while first > 0 and printed[first - 1].phase == _INPUTS:
        first -= 1
    call = tuple(printed[first:])
    return call if all(d.kernel is None or d.kernel in known for d in call) else ()


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

"""What the kernel that began last was given, as the value printer shows it: abnormal, and whose work, or sound.

A fault in a kernel does not make that kernel guilty: a kernel before it may have written what it was given. So an abnormal
value is followed back, to the launch that wrote it, and to the first NaN of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.index.case import prints_values
from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.printer.launches import bare_name, printed_launches
from aoti_logs.rules.first_nan import first_nan, proves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Launch
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.events import Dump, LogEvents
    from aoti_logs.parse.printer.launches import PrintedLaunch

_MOST = 64
"""So many wrappers are looked into."""
_NAMED = 6


@dataclass(frozen=True)
class LaunchValues:
    """Sentences and quotes about what one launch was given; empty where nothing was printed that could be judged."""

    because: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


def launch_values(
    events: LogEvents, evidence: Evidence, kernel: str, before: int, rank: int | None
) -> LaunchValues:
    """Judge the tensors that were printed before the last, unfinished launch of a kernel above an offset of the log."""
    dumps = [d for d in events.dumps if d.span.start < before and d.rank == rank]
    launches = printed_launches(dumps)
    own = next(
        (launch for launch in reversed(launches) if launch.kernel == kernel and not launch.after), None
    )
    # Of an output before the launch only memory is printed.
    given = [d for d in own.before if proves(d) and d.numel is not None] if own is not None else []
    if own is None or not given:
        return LaunchValues()
    abnormal = [(d, what) for d in given if (what := _abnormal(d)) is not None]
    if not abnormal:
        return _sound(kernel, given)
    because: list[str] = []
    links: list[Link] = []
    site = _site(evidence, own)
    for dump, what in abnormal:
        name = bare_name(dump.argument)
        text = f"`{name}` {what} as `{kernel}` is launched"
        writer = site[0].producer(name, site[1].index) if site is not None else None
        if writer is not None and site is not None:
            text += f"; `{writer.kernel}` wrote it"
            place = site[0].wrapper.source.place(writer.line)
            links.append(Link("written by", writer.text, place, Confidence.LIKELY))
        because.append(f"{text}: what is wrong began before this launch")
        links.insert(0, Link("given", f"{name} {what}", dump.span.place))
    first = first_nan(dumps, launches)
    if first is not None and first.record is not abnormal[0][0]:
        after = f" by `{first.record.kernel}`" if first.record.kernel else " to the model"
        because.append(
            f"the first NaN of the run is in `{first.tensor}`, {first.origin.value}{after} (AL401)"
        )
    return LaunchValues(tuple(because), tuple(links))


def _abnormal(dump: Dump) -> str | None:
    if dump.numel == 0:
        return "is empty"
    if dump.has_nan:
        return "holds NaN"
    return "holds infinity" if dump.has_inf else None


def _sound(kernel: str, given: Sequence[Dump]) -> LaunchValues:
    known = [bare_name(d.argument) for d in given if d.has_nan is False and d.has_inf is False]
    if len(known) != len(given):
        return LaunchValues()
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(known[:_NAMED]))
    said = (
        f"`{kernel}` was given no NaN, no infinity and no empty tensor ({names}; whether indices are in range is not "
        "judged): the kernel itself, or the sizes that it was given, are suspect"
    )
    return LaunchValues((said,))


def _site(evidence: Evidence, printed: PrintedLaunch) -> tuple[ModelView, Launch] | None:
    """Return the launch in the code, where one model at hand has it and only once with these tensors."""
    names = {bare_name(d.argument) for d in printed.before if d.is_tensor}
    found = [
        (evidence.view(code.wrapper), launch)
        for code in evidence.base.wrappers[:_MOST]
        if code.wrapper is not None and prints_values(code.wrapper.source)
        for launch in code.wrapper.launches_of(printed.kernel)
        if names <= {a.name or a.text for a in launch.arguments} | set(launch.outputs)
    ]
    return found[0] if len(found) == 1 else None

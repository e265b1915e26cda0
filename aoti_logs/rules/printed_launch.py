"""A launch of the value printer's records in the generated code: the line, what it reads, who wrote a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.index.case import prints_values
from aoti_logs.code.model import ArgumentKind
from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.printer.launches import bare_name
from aoti_logs.rules.first_nan import Origin
from aoti_logs.rules.nan_operations import nan_operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Launch
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.printer.launches import PrintedLaunch
    from aoti_logs.rules.first_nan import FirstNan


@dataclass(frozen=True)
class LaunchSite:
    """What the code adds. `weights` are constants that the launch reads and the printer leaves out."""

    links: tuple[Link, ...]
    user_name: str | None = None
    weights: tuple[str, ...] = ()
    producer: Launch | None = None


def launch_site(nan: FirstNan, launches: Sequence[PrintedLaunch], evidence: Evidence) -> LaunchSite | None:
    """Return the place in the only wrapper at hand that launches what the records show, or None."""
    names = {launch.kernel for launch in launches}
    views = [
        evidence.view(code.wrapper)
        for code in evidence.base.wrappers
        if code.wrapper is not None and prints_values(code.wrapper.source)
    ]
    fitting = [v for v in views if names & {c.kernel for c in v.wrapper.calls}]
    if len(fitting) != 1:
        return None
    view = fitting[0]
    if nan.origin is Origin.GIVEN:
        user = view.names.get(nan.tensor)
        if user is None:
            return LaunchSite(())
        told = Link("input", f"{nan.tensor} is {user.name}: {user.why}", user.place, user.strength)
        return LaunchSite((told,), user.name if user.strength is Confidence.PROVEN else None)
    launch = _launch(view, nan)
    if launch is None:
        return None
    source = view.wrapper.source
    nodes = ("from " + ", ".join(launch.source_nodes),) if launch.source_nodes else ()
    links = [Link("launch", launch.text, source.place(launch.line), Confidence.LIKELY, nodes)]
    if nan.origin is Origin.WRITTEN:
        links += nan_operations(launch.kernel, view)
    producer = view.producer(nan.tensor, launch.index) if nan.origin is Origin.READ else None
    if producer is not None:
        links.append(Link("written by", producer.text, source.place(producer.line), Confidence.LIKELY))
    return LaunchSite(tuple(links), None, tuple(_weights(view, launch, nan)), producer)


def _launch(view: ModelView, nan: FirstNan) -> Launch | None:
    """Return the launch with the printed arguments; None when several have them."""
    if nan.launch is None:
        return None
    printed = {bare_name(d.argument) for d in (*nan.launch.before, *nan.launch.after) if d.is_tensor}
    fitting = [
        launch
        for launch in view.wrapper.launches_of(nan.launch.kernel)
        if printed <= {a.name or a.text for a in launch.arguments} | set(launch.outputs)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _weights(view: ModelView, launch: Launch, nan: FirstNan) -> Iterator[str]:
    printed = {d.argument for d in nan.launch.before} if nan.launch is not None else set()
    for argument in launch.arguments:
        if argument.kind is ArgumentKind.CONSTANT and argument.name and argument.name not in printed:
            yield view.named(argument.name).shown

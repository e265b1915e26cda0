"""What `aoti-logs code` prints: the models at hand, one of them, or one thing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.model_facts import headline
from aoti_logs.errors import LoadError
from aoti_logs.render.code_buffer import buffer_screen, size_screen
from aoti_logs.render.code_graph import as_dot, as_mermaid, launch_graph
from aoti_logs.render.code_kernel import kernel_screen, launch_lines
from aoti_logs.render.code_overview import overview
from aoti_logs.render.names import ShortNames
from aoti_logs.render.safe import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from aoti_logs.code.view import ModelView

_NAMED = 20


@dataclass(frozen=True)
class Wanted:
    """What of a model is asked for; with nothing set, all of it in short."""

    kernel: str | None = None
    launch: int | None = None
    name: str | None = None
    """A buffer, input, constant or size symbol, by its generated or its user's name."""
    graph: str | None = None
    """`dot` or `mermaid`."""
    body: bool = False
    everything: bool = False


def choose(views: Sequence[ModelView], model: str | None) -> list[ModelView]:
    """Return the models that a number (from 1) or a part of a name means.

    Raises:
        LoadError: there is none.
    """
    if not views:
        raise LoadError(
            "there is no generated wrapper here (wrapper.cpp, output_code, or a trace, log or package with one)"
        )
    if model is None:
        return list(views)
    if model.isdecimal():
        found = list(views[int(model) - 1 : int(model)]) if 0 < int(model) <= len(views) else []
    else:
        found = [v for v in views if model in v.wrapper.source.name]
    if not found:
        raise LoadError(
            f"no wrapper is called {model}; there are {len(views)}, numbers 1 to {len(views)} choose one"
        )
    return found


def code_screen(views: Sequence[ModelView], wanted: Wanted, files: Collection[str] = ()) -> str:
    """Return the screen as text.

    Args:
        views: the models.
        wanted: what of them to show.
        files: names of the files that were read, to be shortened.

    Raises:
        LoadError: what is asked for is not there, or is in several models.
    """
    if wanted.graph is not None:
        graph = launch_graph(_only(views, "a graph"))
        return as_dot(graph) if wanted.graph == "dot" else as_mermaid(graph)
    lines = _lines(views, wanted)
    if wanted.kernel is not None or wanted.launch is not None or wanted.name is not None:
        lines = _shortened(lines, files)
    return "\n".join(map(clean, lines)).rstrip() + "\n"


def _shortened(lines: list[str], files: Collection[str]) -> list[str]:
    """Return the lines with short names of files, and the legend that explains them."""
    whole = "\n".join(lines)
    names = ShortNames([name for name in files if name in whole])
    legend = [
        f"{'files:' if number == 0 else '      '} {short}  {name}"
        for number, (short, name) in enumerate(names.legend())
    ]
    shown = [names.within(line).rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return [*shown, "", *legend] if legend else shown


def _lines(views: Sequence[ModelView], wanted: Wanted) -> list[str]:
    if wanted.kernel is not None:
        return _kernel(views, wanted.kernel, wanted)
    if wanted.launch is not None:
        view = _only(views, "a launch")
        number = len(view.wrapper.calls)
        if not 0 <= wanted.launch < number:
            raise LoadError(f"there is no launch {wanted.launch}; the model has {number}")
        launch = view.wrapper.launch(wanted.launch)
        return [launch.kernel, *launch_lines(view, launch)]
    if wanted.name is not None:
        return _thing(_only(views, "a name"), wanted.name, everything=wanted.everything)
    if len(views) == 1:
        return list(overview(views[0], everything=wanted.everything))
    lines = [f"{len(views)} models"]
    for number, view in enumerate(views, 1):
        lines += [f"{number:>3}  {headline(view)}", f"     {view.wrapper.source.name}"]
    return [*lines, "", "--model NUMBER shows one of them"]


def _only(views: Sequence[ModelView], what: str) -> ModelView:
    if len(views) > 1:
        raise LoadError(f"there are {len(views)} models here; choose one with --model to ask for {what}")
    return views[0]


def _kernel(views: Sequence[ModelView], name: str, wanted: Wanted) -> list[str]:
    exact = [v for v in views if name in v.wrapper.kernel_names]
    if not exact:
        near = sorted({n for v in views for n in v.wrapper.kernel_names if name in n})
        if len(near) != 1:
            among = f"; {', '.join(near[:_NAMED])} have it in their names" if near else ""
            raise LoadError(f"no kernel is called {name}{among}")
        name = near[0]
        exact = [v for v in views if name in v.wrapper.kernel_names]
    lines: list[str] = []
    for view in exact:
        if len(exact) > 1:
            lines += [view.wrapper.source.name]
        lines += [*kernel_screen(view, name, body=wanted.body, everything=wanted.everything), ""]
    return lines


def _thing(view: ModelView, name: str, *, everything: bool) -> list[str]:
    generated = _generated(view, name)
    if generated in view.sizes or generated in view.symbols.names:
        return size_screen(view, generated)
    if view.buffer(generated) is None:
        raise LoadError(f"the model has no buffer, input, constant or size {name}")
    return buffer_screen(view, generated, everything=everything)


def _generated(view: ModelView, name: str) -> str:
    """Return the generated name of what a user calls so."""
    for entry in view.wrapper.inputs:
        named = view.names.get(entry.name)
        if named is not None and named.name == name:
            return entry.name
    return next((c.name for c in view.wrapper.constants if c.fqn == name), name)

"""A buffer's life on a screen, and a size symbol's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.code_overview import described

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.view import ModelView

_SHOWN = 30


def buffer_screen(view: ModelView, name: str, *, everything: bool = False) -> list[str]:
    """Return the lines of a buffer's screen: birth, memory it shares, who writes and reads it, its end."""
    tensor = view.named(name)
    shown = f"{name} ({tensor.name})" if tensor.name and tensor.name != name else name
    lines = [" ".join(filter(None, [str(tensor.kind), shown, described(view, name)]))]
    events = sorted(_events(view, name), key=lambda e: (e[0], e[1]))
    shown_events = events if everything else events[:_SHOWN]
    lines += [f"  {text}" for _, _, text in shown_events]
    if len(events) > len(shown_events):
        lines.append(f"  and {len(events) - len(shown_events):,} more (--all)")
    roots = view.roots(name, len(view.wrapper.calls))
    if roots:
        lines += ["", f"made from: {', '.join(root.shown for root in roots)}"]
    return lines


def _events(view: ModelView, name: str) -> Iterator[tuple[int, int, str]]:
    """Yield (launches before, rank among equals, text) of everything that happens to it."""
    wrapper = view.wrapper
    for buffer in wrapper.buffers:
        extents = f"[{', '.join(buffer.shape)}]" if buffer.shape is not None else ""
        if buffer.name == name and buffer.alias_of is None:
            yield buffer.at, 0, f"line {buffer.line}: begins {extents}".rstrip()
        elif buffer.name == name:
            how = "looks into" if buffer.view else "takes over the memory of"
            yield buffer.at, 0, f"line {buffer.line}: {how} {buffer.alias_of} {extents}".rstrip()
        elif buffer.alias_of == name:
            how = "a view of it" if buffer.view else "its memory goes on"
            yield buffer.at, 0, f"line {buffer.line}: {how} as {buffer.name} {extents}".rstrip()
    for index in wrapper.mentioning({name}):
        launch = wrapper.launch(index)
        writes = name in view.written_by(launch)
        params = [a.param or str(a.position) for a in launch.arguments if a.name == name]
        verb = "written by" if writes else "read by"
        as_what = f" as {', '.join(params)}" if params else ""
        yield index, 1, f"line {launch.line}: {verb} launch {index} {launch.kernel}{as_what}"
    for release in wrapper.releases:
        if release.name == name:
            yield release.at, 2, f"line {release.line}: ends"
    for index, output in enumerate(wrapper.outputs):
        if output == name:
            yield len(wrapper.calls), 3, f"returned as output {index}"


def size_screen(view: ModelView, symbol: str) -> list[str]:
    """Return the lines of a size symbol's screen: where its value comes from, and what is checked."""
    lines = [f"size {symbol}"]
    for size in view.size_chain(symbol):
        place = view.wrapper.source.place(size.line)
        measured = ""
        if size.tensor is not None and size.dim is not None:
            what = "stride" if size.stride else "dim"
            measured = f"   {what} {size.dim} of {view.named(size.tensor).shown}"
        lines.append(f"  {place.source}:{place.line}: {' '.join(size.text.split())}{measured}")
    return lines

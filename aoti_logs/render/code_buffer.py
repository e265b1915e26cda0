"""A buffer's life on a screen, and where a size symbol comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.code_overview import described

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.buffers.life import BufferLife, BufferUse
    from aoti_logs.code.sizes.symbol_facts import SymbolFacts
    from aoti_logs.code.view import ModelView

_SHOWN = 30
_TESTED = {
    "always": "tested in every run",
    "AOTI_RUNTIME_CHECK_INPUTS": "tested with AOTI_RUNTIME_CHECK_INPUTS=1",
    "guards": "a guard: compiled again where it fails",
    "never": "nothing tests it",
}


def buffer_screen(view: ModelView, name: str, *, everything: bool = False) -> list[str]:
    """Return the lines of a buffer's screen: birth, memory it shares, who writes and reads it, its end."""
    tensor = view.named(name)
    life = view.buffer(name)
    shown = f"{name} ({tensor.name})" if tensor.name and tensor.name != name else name
    size = f"{life.size:,} bytes" if life is not None and life.size is not None else ""
    lines = [" ".join(filter(None, [str(tensor.kind), shown, described(view, name), size]))]
    if life is None:
        return lines
    events = [text for *_, text in sorted(_events(view, life), key=lambda e: e[:2])]
    shown_events = events if everything else events[:_SHOWN]
    lines += [f"  {text}" for text in shown_events]
    if len(events) > len(shown_events):
        lines.append(f"  and {len(events) - len(shown_events):,} more (--all)")
    return [*lines, *_reached(view, name)]


def _events(view: ModelView, life: BufferLife) -> Iterator[tuple[int, int, str]]:
    """Yield (launches before, rank among equals, text) of everything that happens to it."""
    for birth in life.births:
        extents = f" [{', '.join(birth.shape)}]" if birth.shape is not None else ""
        if birth.alias_of is None:
            what = "begins"
        elif birth.view:
            what = f"looks into {birth.alias_of}" + (f" from element {birth.offset}" if birth.offset else "")
        elif birth.reuse:
            what = f"takes over the memory of {birth.alias_of}"
        else:
            what = f"is {birth.alias_of}"
        yield birth.at, 0, f"line {birth.line}: {what}{extents}"
    for use in life.uses:
        yield use.launch, 1, f"line {use.line}: {_use(life, use)}"
    for release in life.releases:
        yield release.at, 2, f"line {release.line}: ends"
    end = len(view.wrapper.calls)
    if life.reused_by:
        yield end, 3, f"its memory goes on as {', '.join(life.reused_by)}"
    for index in life.returned_as:
        yield end, 4, f"returned as output {index}"


def _use(life: BufferLife, use: BufferUse) -> str:
    words = []
    for done, does in ((use.read, "read"), (use.write, "written")):
        if done is not False:
            words.append(does if done else f"perhaps {does}")
    part = " in part" if use.write and use.all is False else ""
    under = f" as {use.name}" if use.name != life.name else ""
    param = f" ({use.param})" if use.param else ""
    perhaps = "" if use.certain else ", not in every run"
    return f"{' and '.join(words) or 'given to'}{part}{under} by launch {use.launch} {use.kernel}{param}{perhaps}"


def _reached(view: ModelView, name: str) -> Iterator[str]:
    found = view.inputs_reaching(name)
    values = [view.named(n).shown for n in found.values]
    indices = [view.named(n).shown for n in found.indices]
    if values or indices:
        yield ""
    if values:
        yield f"made from the values of: {', '.join(values)}"
    if indices:
        yield f"indexed by: {', '.join(indices)}"
    if not found.complete:
        yield f"more may reach it: {'; '.join(found.unknown) or 'not everything could be followed'}"


def size_screen(view: ModelView, symbol: str) -> list[str]:
    """Return the lines of a size symbol's screen: where its value comes from, its limits, who tests them."""
    facts = view.symbol(symbol)
    called = f" ({facts.user_name})" if facts.user_name else ""
    lines = [f"size {symbol}{called}"]
    for size in view.size_chain(symbol):
        place = view.wrapper.source.place(size.line)
        lines.append(f"  {place.source}:{place.line}: {' '.join(size.text.split())}")
    return [*lines, *_limits(facts)]


def _limits(facts: SymbolFacts) -> Iterator[str]:
    if facts.hint is not None:
        yield f"  example: {facts.hint.value}"
    for limit in facts.limits:
        ends = f"[{_end(limit.lower)}, {_end(limit.upper)}]"
        tested = _TESTED.get(str(limit.enforced), str(limit.enforced))
        yield f"  {limit.extent} in {ends}: {limit.told_by} ({limit.place.source}:{limit.place.line}); {tested}"
    for dim in facts.unmeasured:
        compared = "compared with it" if dim.compared is not None else "never compared with it"
        yield f"  dim {dim.dim} of {dim.input.name} is taken to be {dim.extent}; {compared}"
    for contradiction in facts.contradictions:
        yield f"  contradiction: {contradiction}"


def _end(value: int | None) -> str:
    return "?" if value is None else str(value)

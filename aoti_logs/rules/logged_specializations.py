"""Sizes that became constants, as a log tells it: `set_replacement s77 = 8`, with the guard that stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.sizes.logged_replacements import replacements_in
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.parse.sizes.shape_log import Decision, Where, shapes_in
from aoti_logs.parse.sizes.shape_symbols import symbols_in
from aoti_logs.rules.shape_words import source_words, user_facts, where_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.sizes.logged_replacements import LoggedReplacement
    from aoti_logs.parse.sizes.shape_log import ShapeLine
    from aoti_logs.sources.source import Place, Source

_MOST = 20
_NEAR = 3  # lines about sizes between a guard and the replacement that it caused


@dataclass(frozen=True)
class Specialized:
    """One size that became a constant, and the guard that made it one, where that stands beside it."""

    told: LoggedReplacement
    guard: ShapeLine | None

    @property
    def place(self) -> Place:
        """Where the replacement stands."""
        return self.told.message.span.source.place(self.told.line)

    @property
    def where(self) -> Where:
        """Where the guard comes from."""
        said = self.guard.said if self.guard is not None else None
        return said.where if isinstance(said, Decision) else Where()

    @property
    def expression(self) -> str | None:
        """The guard."""
        said = self.guard.said if self.guard is not None else None
        return said.expression if isinstance(said, Decision) else None

    @property
    def exported(self) -> bool:
        """Whether it belongs to no compile of torch.compile, as far as the log's prefix can tell."""
        return bool(self.told.message.time) and self.told.message.compile_id is None

    def guard_link(self) -> Link | None:
        """Quote the guard."""
        if self.guard is None:
            return None
        where = where_words(self.where)
        place = self.guard.message.span.source.place(self.guard.line)
        return Link("guard", self.expression or "", place, details=(where,) if where else ())


def specialized_in(events: LogEvents) -> list[Specialized]:
    """Return the sizes that a log says became constants."""
    messages = [m for m in events.messages if "symbolic_shapes" in m.module]
    found = [
        told
        for told in replacements_in(messages)
        if told.said.skipped is None and told.said.value.removeprefix("-").isdigit()
    ]
    if not found:
        return []
    lines = shapes_in(messages)
    return [Specialized(told, _guard(lines, told)) for told in found]


def _guard(lines: list[ShapeLine], told: LoggedReplacement) -> ShapeLine | None:
    """Return the guard on the symbol that stands right beside: before it in newer versions of torch, else behind."""
    symbol = told.said.symbol
    at = next((n for n, line in enumerate(lines) if line.line >= told.line), len(lines))
    near = [*reversed(lines[max(0, at - _NEAR) : at]), *lines[at : at + _NEAR]]
    for line in near:
        said = line.said
        same = (line.message.process, line.message.compile_id) == (
            told.message.process,
            told.message.compile_id,
        )
        if (
            same
            and isinstance(said, Decision)
            and said.entry == "guard_added"
            and symbol in symbols_in(said.expression or "")
        ):
            return line
    return None


def logged_specializations(events: LogEvents, source: Source, explained: set[str]) -> Iterator[Finding]:
    """Yield a note for each size that became a constant, but for those whose failure is told already.

    Args:
        events: the log's events.
        source: the log.
        explained: places (`FILE:LINE`) of the replacements that another finding quotes.
    """
    seen: set[tuple[Any, ...]] = set()
    for one in specialized_in(events):
        told = one.told
        key = (told.message.compile_id, told.said.symbol, told.said.value, told.sources, told.message.rank)
        if key in seen or str(one.place) in explained:
            continue
        seen.add(key)
        yield _finding(one, source)
        if len(seen) == _MOST:
            return


def specialization_facts(one: Specialized) -> dict[str, Any]:
    """Return it as plain values, under the keys that a trace's has."""
    told = one.told
    sources = list(told.sources)
    origin = input_of(sources[0]) if sources else None
    value = told.said.value
    return {
        "symbol": told.said.symbol,
        "value": int(value) if len(value) < 18 else value,
        "reason": told.said.reason,
        "sources": sources,
        "source": sources[0] if sources else None,
        "guard": one.expression,
        "input": origin.name if origin else None,
        "dim": origin.dim if origin else None,
        "user_frame": user_facts(one.where),
        "framework": one.where.framework,
    }


def _finding(one: Specialized, source: Source) -> Finding:
    told = one.told
    facts = specialization_facts(one)
    named = source_words(told.said.symbol, told.sources)
    if facts["input"] is not None and facts["dim"] is not None:
        named = f"dim {facts['dim']} of `{facts['input']}`"
    compile_id = told.message.compile_id
    missing: tuple[Missing, ...] = ()
    if compile_id is not None:
        title = f"{named} became {told.said.value} in compile {compile_id}: another size compiles again"
    elif one.exported:
        title = f"{named} became {told.said.value} outside of torch.compile, as in an export: if it was declared dynamic, that fails"
        missing = (
            Missing("whether the export failed", "the exception of the export, which this log does not have"),
        )
    else:
        title = f"{named} became {told.said.value} while tracing"
    reason = f" ({told.said.reason})" if told.said.reason else ""
    measured = (
        f"{told.said.symbol} = {', '.join(told.sources) or '?'}" if told.said.symbol else told.sources[0]
    )
    links = [Link("constant", f"{measured} becomes {told.said.value}{reason}", one.place)]
    guard = one.guard_link()
    if guard is not None:
        links.append(guard)
    return Finding(
        rule="AL504",
        kind="specialization",
        role="note",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts={**facts, "compile_id": compile_id, "process": told.message.process or None},
        rank=told.message.rank if told.message.rank is not None else source.rank,
        log=source.name,
        chain=tuple(links),
        missing=missing,
        verdicts=(Verdict("AL504", title, Confidence.PROVEN),),
    )

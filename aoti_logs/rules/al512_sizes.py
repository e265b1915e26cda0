"""What tracing decided over sizes.

## What it says
TORCH_LOGS=dynamic prints each symbol for a size, each guard on sizes with the line that asked for it, and what
became of a symbol. The note counts them, names the sizes that became constants, and the guards that torch
ignored. The rows are in the tables `symbols`, `expressions`, `replacements` and `ranges`.

## Why it matters
A guard on a size is a border at which the code is compiled again, or an exported model refuses its input. A
guard that was ignored ("this could result in accuracy problems") is a border that nobody checks.

## Example
`eval Eq(2, s1) [guard added]` in `conv` made `s1` the constant 2.

## Evidence it needs
TORCH_LOGS=dynamic; with `+dynamic` also what needed no guard.

## What to do
Read the guards on the size that should be dynamic: the line behind each is what compared it with something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.sizes.logged_replacements import replacements_in
from aoti_logs.parse.sizes.shape_log import Decision, shapes_in
from aoti_logs.parse.sizes.symbol import symbols_in_messages
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.shape_words import guard_facts, source_words, where_words
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.facts import Symbol
    from aoti_logs.parse.sizes.logged_replacements import LoggedReplacement
    from aoti_logs.parse.sizes.shape_log import ShapeLine
    from aoti_logs.rules.log_notes import LogCase
    from aoti_logs.sources.source import Source

_SHOWN = 6
_NAMED = 4
_KEPT = 200


@dataclass
class _Told:
    symbols: list[Symbol] = field(default_factory=list)
    replaced: list[LoggedReplacement] = field(default_factory=list)
    decided: list[tuple[ShapeLine, Decision]] = field(default_factory=list)

    def of(self, entry: str) -> list[tuple[ShapeLine, Decision]]:
        return [(line, said) for line, said in self.decided if said.entry == entry]

    @property
    def specialized(self) -> list[LoggedReplacement]:
        return [r for r in self.replaced if r.said.skipped is None and r.said.value.lstrip("-").isdigit()]


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for what each rank's messages say; beside a failure only what torch itself warns of."""
    failed = any(f.role == "cause" for f in case.told)
    told: dict[int | None, _Told] = {}

    def of(rank: int | None) -> _Told:
        return told.setdefault(rank if rank is not None else case.source.rank, _Told())

    messages = [m for m in case.events.messages if "symbolic_shapes" in m.module]
    for message in messages:
        if symbols := symbols_in_messages([message]):
            of(message.rank).symbols += symbols
    for line in shapes_in(messages):
        if isinstance(line.said, Decision):
            of(line.message.rank).decided.append((line, line.said))
    for replacement in replacements_in(messages):
        of(replacement.message.rank).replaced.append(replacement)
    for rank, found in told.items():
        told_of = found.symbols or found.replaced or found.of("guard_added")
        if found.of("ignored_guard") or (told_of and not failed):
            yield _finding(found, rank, case.source)


def _finding(told: _Told, rank: int | None, source: Source) -> Finding:
    guards = [(line, said) for line, said in told.decided if said.is_checked]
    ignored, constants = told.of("ignored_guard"), told.specialized
    parts = [several(len(told.symbols), "symbol"), several(len(guards), "guard")]
    title = f"tracing made {parts[0]} for sizes and added {parts[1]} on them"
    if constants:
        shown = [f"{source_words(r.said.symbol, r.sources)} became {r.said.value}" for r in constants[:2]]
        title += f"; {', '.join(shown)}" + (" and more" if len(constants) > len(shown) else "")
    if ignored:
        title += f"; {several(len(ignored), 'guard')} ignored, which torch says may make results wrong"
    links = [
        *(_symbol_link(s) for s in told.symbols[:_NAMED]),
        *(_constant_link(r) for r in constants[:_SHOWN]),
        *(_guard_link(line, said) for line, said in guards[:_SHOWN]),
        *(
            Link("ignored", f"{said.expression} is {said.result}", _place(line))
            for line, said in ignored[:_SHOWN]
        ),
    ]
    return Finding(
        rule="AL512",
        kind="dynamic_log",
        role="note",
        severity="warning" if ignored else "note",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "n_symbols": len(told.symbols),
            "n_guards_added": len(guards),
            "n_guards_suppressed": len(told.of("guard_added")) - len(guards),
            "n_assumed": len(told.of("assumed")),
            "symbols": [_symbol(s) for s in told.symbols[:_KEPT]],
            "guards": [
                {**guard_facts(said), "compile_id": line.message.compile_id} for line, said in guards[:_KEPT]
            ],
            "replacements": [_replacement(r) for r in told.replaced[:_KEPT]],
            "specialized": [r.said.symbol for r in constants if r.said.symbol][:_KEPT],
            "ignored_guards": [said.expression for _, said in ignored[:_KEPT]],
        },
        rank=rank,
        log=source.name,
        chain=tuple(links),
        verdicts=(Verdict("AL512", title, Confidence.PROVEN),),
    )


def _place(line: ShapeLine) -> Any:
    return line.message.span.source.place(line.line)


def _symbol_link(symbol: Symbol) -> Link:
    measured = f"{symbol.symbol} = {symbol.origin}" if symbol.origin else symbol.symbol
    limits = f" in [{', '.join(symbol.range)}]" if symbol.range else ""
    details = (symbol.user_frame,) if symbol.user_frame else ()
    return Link("symbol", f"{measured}{limits}", symbol.place, details=details)


def _constant_link(told: LoggedReplacement) -> Link:
    said = told.said
    reason = f" ({said.reason})" if said.reason else ""
    text = f"{said.symbol or said.source} = {said.value}{reason}"
    details = (f"{said.symbol} measures {', '.join(told.sources)}",) if said.symbol and told.sources else ()
    return Link("constant", text, told.message.span.source.place(told.line), details=details)


def _guard_link(line: ShapeLine, said: Decision) -> Link:
    where = where_words(said.where)
    text = f"{said.prefix} {said.expression}" if said.prefix == "runtime_assert" else f"{said.expression}"
    return Link("guard", text, _place(line), details=(where,) if where else ())


def _symbol(symbol: Symbol) -> dict[str, Any]:
    return {
        "name": symbol.symbol,
        "hint": symbol.hint,
        "source": symbol.origin or None,
        "range": list(symbol.range),
        "compile_id": symbol.compile_id,
    }


def _replacement(told: LoggedReplacement) -> dict[str, Any]:
    said = told.said
    return {
        "symbol": said.symbol,
        "value": said.value,
        "reason": said.reason,
        "sources": list(told.sources),
        "skipped": said.skipped,
    }


RULE = Rule("AL512", "sizes", __doc__ or "")

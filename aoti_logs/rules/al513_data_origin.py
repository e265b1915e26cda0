"""Where a value that only data knows was made.

## What it says
Right before torch gives up on a condition on data (AL506) it prints, at DEBUG, the stack at which each value in
that condition was made. The note names the value and the user's line there. A graph that is printed below it (stdout in
the same log) ends at the condition, and shows the line that asks. Where the log has the exception
too, its finding quotes the line, and there is no note.

## Why it matters
`u0` says nothing to whoever wrote the model; `n = k.item()` does.

## Example
`Data dependent variable 'u0' allocated at:`, and the innermost line of the user's below it is `n = k.item()`. Under
torch.compile the user's function is traced and does not run: that line is then the call of the compiled function.

## Evidence it needs
TORCH_LOGS=+dynamic, or +dynamo, in a log.

## What to do
See AL506: `torch._check` before the line that asks, or `torch.cond`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.python.stack_text import StackLine, user_frame
from aoti_logs.parse.sizes.shape_log import Origin, shapes_in
from aoti_logs.parse.sizes.symbol import symbols_in_messages
from aoti_logs.rules.printed_condition import printed_condition
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.facts import Symbol
    from aoti_logs.parse.sizes.shape_log import ShapeLine
    from aoti_logs.rules.log_notes import LogCase

_MOST = 20


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield a note for each value whose making no other finding quotes."""
    quoted = {
        (link.place.source, link.place.line)
        for f in case.told
        for link in f.chain
        if link.step == "origin" and link.place
    }
    seen: set[tuple[Any, ...]] = set()
    for line, origin in _origins(case.events):
        place = line.message.span.source.place(line.line)
        frame = _own_frame(origin)
        key = (origin.symbol, frame, line.message.rank, line.message.compile_id)
        if key in seen or (place.source, place.line) in quoted:
            continue
        seen.add(key)
        yield _finding(line, origin, case)
        if len(seen) == _MOST:
            return


def with_origins(findings: Sequence[Finding], events: LogEvents) -> list[Finding]:
    """Let each finding of a condition on data quote where its values were made."""
    if not any(f.rule == "AL506" for f in findings):
        return list(findings)
    made = _origins(events)
    created = [s for s in symbols_in_messages(events.messages) if s.unbacked and s.user_frame]
    return [_with_origin(f, made, created) if f.rule == "AL506" else f for f in findings]


def _with_origin(
    finding: Finding, made: list[tuple[ShapeLine, Origin]], created: Sequence[Symbol]
) -> Finding:
    symbols = finding.facts.get("unbacked_symbols") or ()
    first = finding.chain[0].place.line if finding.chain and finding.chain[0].place else None
    links, facts = [], []
    for symbol in symbols:
        # The values are told before the exception is raised: the last ones above it.
        own = [
            (line, origin)
            for line, origin in made
            if origin.symbol == symbol
            and (first is None or line.line <= first)
            and line.message.rank in {None, finding.rank}
        ]
        lines = [s for s in created if s.symbol == symbol and (first is None or s.place.line <= first)]
        if lines:
            links.append(Link("origin", f"{symbol} is made at {lines[-1].user_frame}", lines[-1].place))
        if own:
            links.append(_link(*own[-1]))
            facts.append(_facts(own[-1][1]))
    if not links:
        return finding
    return replace(finding, chain=(*finding.chain, *links), facts={**finding.facts, "allocated_at": facts})


def _origins(events: LogEvents) -> list[tuple[ShapeLine, Origin]]:
    return [(line, line.said) for line in shapes_in(events.messages) if isinstance(line.said, Origin)]


def _link(line: ShapeLine, origin: Origin) -> Link:
    frame = _own_frame(origin)
    where = f"{frame[0]}:{frame[1]} in {frame[2]}" + (f": {frame[3]}" if frame[3] else "") if frame else ""
    # What Dynamo traces does not run: then the innermost line of the user's is the call of the compiled function.
    text = f"{origin.symbol} is made in what {where} runs" if where else f"{origin.symbol} is made in torch"
    return Link("origin", text, line.message.span.source.place(line.line))


def _own_frame(origin: Origin) -> StackLine | None:
    """Return the innermost frame of the user's; code that was typed in has no file."""
    typed = next((f for f in reversed(origin.frames) if f[0].startswith(("<stdin>", "<ipython"))), None)
    return user_frame(origin.frames) or typed


def _facts(origin: Origin) -> dict[str, Any]:
    frame = _own_frame(origin)
    user = None
    if frame is not None:
        user = {"file": frame[0], "line": frame[1], "function": frame[2], "code": frame[3]}
    return {"symbol": origin.symbol, "n_frames": len(origin.frames), "user_frame": user}


def _finding(line: ShapeLine, origin: Origin, case: LogCase) -> Finding:
    message = line.message
    link = _link(line, origin)
    asked = printed_condition(line, origin.symbol)
    title = f"tracing met a condition on a value that only data knows; {_made(origin)}"
    chain = [link]
    facts = {**_facts(origin), "compile_id": message.compile_id, "timestamp": message.time or None}
    what = "the condition, and whether the program caught the exception"
    if asked is not None:
        title += f"; the graph so far ends at `{asked.expression}`"
        text = f"{asked.expression}" + (f", asked at {asked.asked_at}" if asked.asked_at else "")
        chain.append(Link("condition", text, asked.place, Confidence.LIKELY))
        facts["expression"] = asked.expression
        what = "the exception, and whether the program caught it"
    return Finding(
        rule="AL513",
        kind="data_dependent_origin",
        role="note",
        severity="warning",
        confidence=Confidence.PROVEN,
        title=title,
        facts=facts,
        rank=message.rank if message.rank is not None else case.source.rank,
        log=case.source.name,
        chain=tuple(chain),
        missing=(
            Missing(
                what,
                "the exception that torch raises right after this message, on stderr of the same run",
            ),
        ),
        verdicts=(Verdict("AL513", title, Confidence.PROVEN),),
    )


def _made(origin: Origin) -> str:
    frame = _own_frame(origin)
    if frame is None:
        return f"{origin.symbol} is made in torch"
    file = frame[0].replace("\\", "/").rpartition("/")[2]
    code = f"`{frame[3]}` ({file}:{frame[1]})" if frame[3] else f"{file}:{frame[1]}"
    return f"{origin.symbol} is made in what {code} runs"


RULE = Rule("AL513", "data-origin", __doc__ or "")

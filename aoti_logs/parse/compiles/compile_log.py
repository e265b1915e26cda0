"""The course of compiles as torch's loggers tell it: steps, traced lines, fusions.

Format: `grammars/compile_log.lark`, one line a message; below a traced line stands its code.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine
    from aoti_logs.parse.shape import Fields

_STEPS = {
    "START_TRACING": "start tracing",
    "DONE_TRACING": "done tracing",
    "CALLING": "call compiler",
    "DONE": "done compiler",
    "COMPILING": "start compiling graph",
    "DONE_COMPILING": "done compiling graph",
    "START_COMPILING": "start",
    "RESTARTING": "restart",
    "COMPILING_GRAPH": "end of graph",
    "TOOK": "done generating code",
}
_STEP_STARTS = (
    "Step ",
    "torchdynamo start compiling ",
    "Restarting analysis due to ",
    "COMPILING GRAPH due to ",
    "FX codegen and compilation took ",
)
_TRACED = {"STARTS_LINE": "line", "INLINED": "inlined call", "FX_CALL": "graph node"}
_FUSION_STARTS = (
    "fusing ",
    "cannot fuse ",
    "can fuse ",
    "===== attempting fusion ",
    "completed fusion round ",
)
_LONGEST = 1 << 14
_COLOUR = re.compile(r"\x1b\[\d{1,3}m")
_FACTOR = re.compile(r"\d{1,20}(?:\.\d{1,20})?")


@dataclass(frozen=True)
class Step:
    """A step of a compile.

    Attributes:
        message: the message that tells it.
        step: what begins or ends, as `_STEPS` names it.
        number: 1 to 3 for those that torch numbers.
        function: function that is compiled; of a restart, torch's own that set it off.
        file: its file.
        line: its first line, or the user's line where a graph ends.
        compiler: name of the compiler that is called.
        graph: number of the graph.
        direction: `FORWARDS` or `BACKWARDS`.
        reason: why the graph ends or analysis restarts (then torch's own place, `FILE:LINE`).
        graph_break: whether a graph ends for a graph break.
        seconds: what it took, where it says.
    """

    message: LogLine
    step: str
    number: int | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    compiler: str | None = None
    graph: int | None = None
    direction: str | None = None
    reason: str | None = None
    graph_break: bool | None = None
    seconds: float | None = None


def steps(messages: Iterable[LogLine]) -> Iterator[Step]:
    """Yield the steps in the order of the log."""
    for message in messages:
        if message.artifact is None and message.text.startswith(_STEP_STARTS):
            found = _fields("step", message.text)
            if found is not None:
                yield _step(message, found)


def _step(message: LogLine, found: Fields) -> Step:
    kind = next(k for k in _STEPS if k in found)
    numbers = found.get("NUMBER", [])
    file, line = first(found, "FILE"), first(found, "LINE")
    function, reason = first(found, "FUNCTION"), first(found, "WORD")
    if kind == "RESTARTING":
        reason = f"{file}:{line}" if file else first(found, "TEXT")
        file = line = None
    elif kind == "COMPILING_GRAPH":
        reason = _literal(found["STRING"][0])
        file = found.get("FRAME_FILE", [None])[-1]
        line = found["LINE"][-1] if file else None
        function = found.get("FRAME_FUNCTION", [None])[-1]
    seconds = first(found, "SECONDS")
    return Step(
        message=message,
        step=_STEPS[kind],
        number=_integer(numbers[0]) if numbers and "START_COMPILING" not in found else None,
        function=function,
        file=file,
        line=_integer(line),
        compiler=first(found, "COMPILER"),
        graph=_integer(numbers[-1]) if kind in {"COMPILING", "DONE_COMPILING"} else None,
        direction=first(found, "DIRECTION"),
        reason=reason,
        graph_break=found["TRUTH"][0] == "True" if "TRUTH" in found else None,
        seconds=None if seconds is None else float(seconds[:20]),
    )


@dataclass(frozen=True)
class TracedLine:
    """A line that Dynamo traced (`line`), a call in it that it went into, or that became a node of the graph.

    `callee` is the function or node; `qualname` the function's name with its class; `depth` counts inlined calls.
    """

    message: LogLine
    what: str
    callee: str | None
    file: str
    line: int
    function: str
    qualname: str | None
    depth: int
    code: str | None


def traced_lines(messages: Iterable[LogLine]) -> Iterator[TracedLine]:
    """Yield what TORCH_LOGS=trace_source,trace_call printed."""
    for message in messages:
        if not message.text.startswith(("TRACE starts_line ", "TRACE inlined call ", "TRACE FX call ")):
            continue
        found = _fields("traced", message.text)
        if found is None:
            continue
        rows = message.text.split("\n")
        yield TracedLine(
            message=message,
            what=next(what for kind, what in _TRACED.items() if kind in found),
            callee=first(found, "CALLEE"),
            file=found["FILE"][0],
            line=_integer(found["LINE"][0]) or 0,
            function=found["FUNCTION"][0],
            qualname=first(found, "QUALNAME"),
            depth=_integer(first(found, "NUMBER")) or 0,
            code=rows[1].strip() if len(rows) > 1 else None,
        )


@dataclass(frozen=True)
class Fusion:
    """What Inductor decided about two nodes: `fused`, `refused`, `faster` or `slower` (measured); or `round`: a round of
    fusion ended.
    """

    message: LogLine
    decision: str
    round: int | None
    first: str | None = None
    second: str | None = None
    reason: str | None = None
    factor: float | None = None
    n_before: int | None = None
    n_after: int | None = None


def fusions(messages: Iterable[LogLine]) -> Iterator[Fusion]:
    """Yield what TORCH_LOGS=fusion printed, each with its round (outside of rounds None)."""
    rounds: dict[tuple[object, ...], int | None] = {}
    for message in messages:
        if message.artifact != "fusion":
            continue
        key = (message.rank, message.process, message.compile_id)
        if message.text.startswith("===== fusion complete"):
            rounds[key] = None
        if not message.text.startswith(_FUSION_STARTS):
            continue
        found = _fields("fusion", message.text)
        if found is None:
            continue
        numbers = [_integer(n) for n in found.get("NUMBER", [])]
        if "ATTEMPTING" in found:
            rounds[key] = numbers[0]
        elif "COMPLETED" in found:
            yield Fusion(message, "round", numbers[0], n_before=numbers[2], n_after=numbers[3])
        else:
            yield _decided(message, found, rounds.get(key))


def _decided(message: LogLine, found: Fields, number: int | None) -> Fusion:
    one, other = found["NODES"][:2]
    if "FACTOR" in found:
        said = _COLOUR.sub("", found["FACTOR"][0])
        factor = _FACTOR.match(said)
        decision = "faster" if "CAN_BENCHMARK" in found else "slower"
        return Fusion(message, decision, number, one, other, said, float(factor[0]) if factor else None)
    decision = "fused" if "FUSING" in found else "refused"
    return Fusion(message, decision, number, one, other, first(found, "TEXT"))


def _fields(start: str, text: str) -> Fields | None:
    line = text.partition("\n")[0].rstrip()
    return fields("compile_log", start, line) if len(line) <= _LONGEST else None


def _integer(text: str | None) -> int | None:
    return None if text is None else int(text[:18])


def _literal(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text[1:-1]

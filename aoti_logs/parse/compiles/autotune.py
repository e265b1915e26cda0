"""What Inductor measured: algorithms for an operator (`AUTOTUNE mm(64x128, 128x256)`), configurations for a kernel.

Format: `grammars/autotune.lark`. The first is written to stderr as it is, a block of lines; the second is messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields
    from aoti_logs.sources.source import Span

_STATS = "Autotune Choices Stats:"
_MOST = 5000  # choices of one block
_OPTION = re.compile(r"(\w+)=('[^']*'|\([^)]*\)|\[[^\]]*\]|[^,\s]+)")
_SPLIT = re.compile(r", (?![^\[(]*[\])])")


@dataclass(frozen=True)
class Choice:
    """An algorithm or configuration and what it took; `options` are its settings in order."""

    name: str
    ms: float | None
    line: int
    speed: float | None = None
    """Time of the best one divided by its own."""
    options: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    """What is said about it, as printed."""


@dataclass(frozen=True)
class Autotuning:
    """One measurement: of an operator (`op`) with its inputs, or of a Triton kernel (`kernel`)."""

    span: Span
    rank: int | None
    op: str | None = None
    kernel: str | None = None
    shapes: tuple[str, ...] = ()
    strides: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    benchmark_s: float | None = None
    precompile_s: float | None = None
    message: LogLine | None = None
    """Message that tells of it; None for what stands in the log without a prefix."""


def read_autotune(log: Log, line: Line) -> bool:
    """Claim a block that begins on this line, or what is left of one that was cut off above."""
    said = line.text.strip()
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    if said == _STATS:  # torch 2.7 to 2.9 sum a block up before it, in a line of JSON
        below = log.after(line)
        log.claim("autotuning", [line, below] if below and below.text.strip().startswith("{") else [line])
        return True
    head = fields("autotune", "head", said) if said.startswith("AUTOTUNE ") else None
    if head is None:
        summary = fields("autotune", "summary", said) if " AUTOTUNE " in said else None
        if summary is not None:
            log.claim("autotuning", [line])
        return summary is not None
    lines, choices = [line], list[Choice]()
    told: dict[str, Fields] = {}
    number = log.span(line.start, line.end).line
    last = line.start
    for now in _below(log, line):
        text = now.text.rstrip().removeprefix(indent)
        number += bytes(log.data[last : now.start]).count(b"\n")
        last = now.start
        kind = _kind_of(text)
        found = fields("autotune", kind, text) if kind else None
        if kind is None or found is None:
            break
        lines.append(now)
        if kind == "choice":
            choices.append(_choice(found, number))
        else:
            told[kind] = found
        if kind == "summary":
            break
    seconds = [float(s) for s in told.get("summary", {}).get("SECONDS", [])]
    log.autotunings.append(
        Autotuning(
            span=log.claim("autotuning", lines),
            rank=line.rank,
            op=head["OP"][0],
            shapes=_split(first(head, "SIZES")),
            strides=_split(first(told.get("strides", {}), "REST")),
            dtypes=_split(first(told.get("dtypes", {}), "REST")),
            choices=tuple(choices),
            benchmark_s=seconds[0] if seconds else None,
            precompile_s=seconds[1] if len(seconds) > 1 else None,
        )
    )
    return True


def _below(log: Log, line: Line) -> Iterator[Line]:
    now = log.after(line)
    for _ in range(_MOST):
        if now is None:
            return
        yield now
        now = log.after(now)


def _kind_of(text: str) -> str | None:
    if text.startswith("  "):
        return "choice"
    if text.startswith("strides: "):
        return "strides"
    if text.startswith("dtypes: "):
        return "dtypes"
    return "summary" if " AUTOTUNE " in text else None


def _choice(found: Fields, line: int) -> Choice:
    speed, text = first(found, "SPEED"), first(found, "REST")
    ms = float(found["MS"][0])
    return Choice(
        name=found["NAME"][0],
        ms=ms,
        line=line,
        speed=float(speed.rstrip("%")) / 100 if speed else None,
        options=tuple(_OPTION.findall(text or "")),
        text=text,
    )


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(_SPLIT.split(text)) if text else ()


@dataclass
class _Measured:
    message: LogLine
    kernel: str
    choices: list[Choice] = field(default_factory=list)


def tuned_kernels(messages: Iterable[LogLine]) -> Iterator[Autotuning]:
    """Yield what `TORCH_LOGS=+inductor` tells of configurations of Triton kernels that were measured."""
    now: dict[tuple[object, ...], _Measured] = {}
    for message in messages:
        if message.artifact is not None:
            continue
        key = (message.rank, message.process)
        if message.text.startswith("Benchmark all input configs for "):
            if key in now:
                yield _tuned(now.pop(key))
            found = fields("autotune", "measured", message.text.partition("\n")[0].rstrip())
            if found is not None:
                now[key] = _Measured(message, found["NAME"][0])
        elif key in now:
            found_any = False
            for row, text in enumerate(message.text.split("\n")):
                found = fields("autotune", "config", text.rstrip()) if ", nreg " in text else None
                if found is not None:
                    found_any = True
                    now[key].choices.append(
                        _config(found, text, message.lines[min(row, len(message.lines) - 1)])
                    )
            if not found_any:
                yield _tuned(now.pop(key))
    for measured in now.values():
        yield _tuned(measured)


def _tuned(measured: _Measured) -> Autotuning:
    choices = sorted(measured.choices, key=lambda c: (c.ms is None, c.ms))
    best = choices[0].ms if choices else None
    ranked = tuple(
        Choice(c.name, c.ms, c.line, best / c.ms if best is not None and c.ms else None, c.options, c.text)
        for c in choices
    )
    message = measured.message
    return Autotuning(message.span, message.rank, kernel=measured.kernel, choices=ranked, message=message)


def _config(found: Fields, text: str, line: int) -> Choice:
    options = tuple(zip(found["SETTING"], found["VALUE"], strict=False))
    return Choice(text.rpartition(": ")[0].strip(), float(found["MS"][0]), line, None, options, text.strip())

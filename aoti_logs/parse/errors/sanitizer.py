"""Reports of compute-sanitizer and of cuda-memcheck: every line of theirs begins with nine `=` and a blank.

Format: `grammars/sanitizer.lark`. What the program itself prints stands between and even within the reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm, ErrorText, Note
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_LINE = re.compile(r"={9}(?P<rest>$| .*)", re.DOTALL)
_SUMMARY = re.compile(r"(?P<tool>[A-Z]+) SUMMARY: ")
_TOOL = re.compile(r"COMPUTE-SANITIZER|CUDA-MEMCHECK|(?:Error|Warning|Internal|This|Target|Device|Program)\b")
_OWN = re.compile(
    r"(?:Error|Warning|Internal|Device)\b(?!: process didn't terminate successfully|: Target application returned)"
)
_REPORT = re.compile(r"Program hit |Error: (?:Race|Potential)|Warning: (?:Race|Potential)")
_MOST = 2000  # lines of one report
_FOREIGN = 64  # lines of the program that may stand within one


@dataclass(frozen=True)
class SanitizerFrame:
    """A frame of the host's backtrace or of the device's call stack; every part may be unknown."""

    symbol: str | None
    library: str | None = None
    address: str | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class SanitizerReport:
    """One report. `what` is `access`, `uninitialized`, `leak`, `api`, `race` or `other`; `text` its first line.

    `access` is `read`, `write` or `atomic`, `space` `global`, `shared`, `local`; sizes and distances are bytes.
    `pc` is the address of the instruction (old form), `pc_offset` its distance from the start of the kernel (new form).
    `relation` places the address `before`, `after` or `inside` the nearest allocation. `races` are the accesses of a
    race after the one that `kernel`, `file` and `line` name. `further` are lines of its own that no field holds.
    """

    what: str
    text: str
    access: str | None = None
    space: str | None = None
    size: int | None = None
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    pc: str | None = None
    pc_offset: str | None = None
    thread: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    address: str | None = None
    reason: str | None = None
    relation: str | None = None
    distance: int | None = None
    allocation: str | None = None
    allocation_size: int | None = None
    api: str | None = None
    api_error: str | None = None
    host_frames: tuple[SanitizerFrame, ...] = ()
    device_frames: tuple[SanitizerFrame, ...] = ()
    races: tuple[SanitizerFrame, ...] = ()
    further: tuple[str, ...] = ()


@dataclass
class _Parts:
    """A report while its lines are read."""

    facts: dict[str, object]
    host: list[SanitizerFrame] = field(default_factory=list)
    device: list[SanitizerFrame] = field(default_factory=list)
    races: list[SanitizerFrame] = field(default_factory=list)
    further: list[str] = field(default_factory=list)

    def report(self) -> SanitizerReport:
        """Return it."""
        facts = dict(self.facts)
        return SanitizerReport(
            **facts,  # type: ignore[arg-type]  # the keys are names of its fields
            host_frames=tuple(self.host),
            device_frames=tuple(self.device),
            races=tuple(self.races),
            further=tuple(self.further),
        )


def _rest(line: Line) -> str | None:
    """Return what a line of the tool says, with its indent; None for any other line."""
    found = _LINE.match(line.text)
    return None if found is None else found["rest"][1:].rstrip()


def read_sanitizer(log: Log, line: Line) -> bool:
    """Claim a report, or a line that the tool prints about itself."""
    said = _rest(line)
    if said is None:
        return False
    summary = _SUMMARY.match(said)
    if summary is not None:
        _summary(log, line, said)
        return True
    if not said or said[0].isspace() or (_TOOL.match(said) and not _REPORT.match(said)):
        span = log.claim("sanitizer", [line])  # an indented line here has lost the first line of its report
        if _OWN.match(said):
            log.notes.append(Note("sanitizer", span, (("text", said),)))
        return True
    lines, parts = _read(log, line, said)
    span = log.claim("sanitizer", lines)
    report = parts.report()
    where = f" at {report.kernel}" if report.kernel else ""
    log.errors.append(
        ErrorText(
            ErrorForm.SANITIZER,
            report.text,
            span,
            rank=line.rank,
            text=f"{report.text}{where}",
            detail=report,
        )
    )
    return True


def _read(log: Log, line: Line, said: str) -> tuple[list[Line], _Parts]:
    parts = _Parts(_head(said))
    lines = [line]
    now = log.after(line)
    foreign = 0
    while now is not None and len(lines) < _MOST:
        rest = _rest(now)
        if rest is None:
            foreign += 1
            if foreign > _FOREIGN:
                break
        elif not rest or not rest[0].isspace():
            if not rest:
                lines.append(now)  # the empty line that ends a report
            break
        else:
            foreign = 0
            lines.append(now)
            _detail(parts, rest.strip())
        now = log.after(now)
    return lines, parts


def _head(said: str) -> dict[str, object]:
    found = fields("sanitizer", "head", said)
    if found is None:
        return {"what": "other", "text": said}
    what = "access"
    if "UNINITIALIZED" in found:
        what = "uninitialized"
    elif "LEAKED" in found:
        what = "leak"
    elif "API" in found:
        what = "api"
    elif "SEVERITY" in found:
        what = "race"
    error = first(found, "ERROR") or (f"error {found['CODE'][0]}" if "API" in found else None)
    offset = first(found, "OFFSET")
    return {
        "what": what,
        "text": said,
        "kernel": first(found, "KERNEL"),
        "file": first(found, "FILE"),
        "line": _number(found, "LINE"),
        "pc_offset": offset[1:] if offset else None,
        "block": _triple(found["TRIPLE"][0]) if "TRIPLE" in found else None,
        "access": first(found, "ACCESS"),
        "space": (first(found, "SPACE") or "").replace("__", "") or None,
        "size": _number(found, "SIZE"),
        "address": first(found, "ADDRESS"),
        "api": (first(found, "API") or "").rstrip(".") or None,
        "api_error": error,
    }


def _detail(parts: _Parts, said: str) -> None:
    """Read an indented line of a report into it."""
    if said.startswith("Host Frame:"):
        found = fields("sanitizer", "host", said)
        parts.host.append(SanitizerFrame(said) if found is None else _frame(found))
    elif said.startswith("Device Frame:"):
        found = fields("sanitizer", "device", said)
        parts.device.append(SanitizerFrame(said) if found is None else _frame(found))
    elif said.startswith("in ") and parts.host and parts.host[-1].library is None:
        last = parts.host[-1]
        parts.host[-1] = SanitizerFrame(last.symbol, said[3:], last.address, last.file, last.line)
    elif said.startswith("Saved host backtrace"):
        return
    elif parts.facts["what"] == "race" and (race := fields("sanitizer", "race", said)) is not None:
        where = _frame(race)
        if parts.facts.get("kernel") is None:
            parts.facts |= {"kernel": where.symbol, "file": where.file, "line": where.line}
        else:
            parts.races.append(where)
    elif not _located(parts.facts, said):
        parts.further.append(said)


def _located(facts: dict[str, object], said: str) -> bool:
    """Read where, by whom and to what an access was; False for any other line, and for a second one of its kind."""
    word = said.split(" ", 1)[0]
    rule = {
        "at": "at",
        "by": "thread",
        "Address": "address",
        "Access": "address",
        "and": "nearest",
    }.get(word)
    found = fields("sanitizer", rule, said) if rule else None
    if found is None:
        return False
    new: dict[str, object] = {}
    if rule == "at":
        kernel = first(found, "KERNEL") or first(found, "OLD_KERNEL") or first(found, "BARE_KERNEL")
        offset = first(found, "OFFSET")
        new = {
            "kernel": kernel,
            "file": first(found, "FILE") or first(found, "OLD_FILE"),
            "line": _number(found, "LINE"),
            "pc": first(found, "PC"),
            "pc_offset": offset[1:] if offset else None,
        }
    elif rule == "thread":
        thread, block = (_triple(t) for t in found["TRIPLE"][:2])
        new = {"thread": thread, "block": block}
    elif rule == "address":
        new = {"address": found["ADDRESS"][0], "reason": first(found, "REASON")}
    else:
        new = {
            "relation": first(found, "RELATION") or first(found, "INSIDE"),
            "distance": _number(found, "SIZE"),
            "allocation": first(found, "ADDRESS"),
            "allocation_size": _number(found, "ALLOCATION"),
        }
    if any(facts.get(key) is not None and value is not None for key, value in new.items()):
        return False
    facts.update({key: value for key, value in new.items() if value is not None})
    return True


def _frame(found: Fields) -> SanitizerFrame:
    names = ("SYMBOL", "PYTHON", "OLD_SYMBOL", "KERNEL", "FUNCTION", "OLD_FUNCTION")
    return SanitizerFrame(
        next((found[name][0] for name in names if name in found), None),
        first(found, "LIBRARY") or first(found, "OLD_LIBRARY"),
        first(found, "ADDRESS") or (first(found, "OFFSET") or "")[1:] or None,
        first(found, "FILE") or first(found, "OLD_FILE") or first(found, "RACE_FILE"),
        _number(found, "LINE"),
    )


def _summary(log: Log, line: Line, said: str) -> None:
    found = fields("sanitizer", "summary", said)
    facts: list[tuple[str, str]] = [("text", said)]
    if found is not None:
        facts.append(("tool", found["TOOL"][0]))
        facts.append(("count", re.sub(r"\D", "", found["COUNT"][0])))
    log.notes.append(Note("sanitizer", log.claim("sanitizer", [line]), tuple(facts)))


def _number(found: Fields, name: str) -> int | None:
    digits = re.sub(r"\D", "", first(found, name) or "")
    return int(digits[:18]) if digits else None


def _triple(text: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in text.strip("()").split(","))

"""Reports of AddressSanitizer and its relatives.

Format: `grammars/memory_report.lark`, frames `grammars/native_frame.lark`. A report is read from any of its parts on, for
what people paste often begins in the middle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.stacks.stack import read_stack
from aoti_logs.parse.stacks.stack_form import form_of

if TYPE_CHECKING:
    from aoti_logs.parse.events import Stack
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_START = re.compile(
    r"(?:==\d+==)?(?:ERROR|WARNING): \w+Sanitizer: |0x[0-9a-f]+ is located \d+ bytes? |Address 0x[0-9a-f]+ is located in stack|"
    r"(?:previously )?(?:allocated|freed) by thread T\d+.* here:$|(?:Direct|Indirect) leak of \d+ byte|SUMMARY: \w+Sanitizer: "
)
_RUNTIME = re.compile(r"\S.*:\d+(?::\d+)?: runtime error: ")
_ROLES = (
    (re.compile(r"freed by (?:thread )?(?P<thread>T\d+|main thread)"), "freed"),
    (re.compile(r"(?:previously )?allocated by (?:thread )?(?P<thread>T\d+|main thread)"), "allocated"),
    (
        re.compile(r"Location is heap block .* allocated by (?:thread )?(?P<thread>T\d+|main thread)"),
        "allocated",
    ),
    (re.compile(r"Thread (?P<thread>T\d+)\b.* created by"), "created"),
    (re.compile(r"(?:Direct|Indirect) leak of"), "leaked"),
    (re.compile(r"\s*Uninitialized value was (?:created|stored)"), "origin"),
    (re.compile(r"Address 0x[0-9a-f]+ is located in stack of thread (?P<thread>T\d+)"), "variable"),
    (re.compile(r"\s*Mutex M\d+ .* (?:created|acquired|previously acquired)"), "mutex"),
    (re.compile(r"\s*As if synchronized via sleep"), "sleep"),
)
_ACCESS = re.compile(
    r"(?:[Pp]revious )?(?:[Aa]tomic |read-only |modifying )?(?:[Rr]ead|[Ww]rite|READ|WRITE) of size \d+ at 0x"
)
_FACT = re.compile(
    r"==\d+==(?:The signal is caused by a (?P<access>READ|WRITE) memory access|Hint: (?P<hint>.*))"
)
_REST = re.compile(
    r"=+$|=>?0x[0-9a-f]+:|\s*=?>?\s*0x[0-9a-f]{4,}: ?(?:[0-9a-f\[\] ]|$)|==\d+==|Shadow byte|\w*Sanitizer(?::DEADLYSIGNAL| can not|:? )|"
    r"HINT: |\s{2,}[A-Z][\w ()/-]+:\s+[0-9a-f]{2}\b|\s+This frame has|\s+\[\d+, \d+\) |\s+\(longjmp|Register values:|"
    r"\s*r?\w{1,3} = 0x|\s*Location is |NOTE: |Objects leaked above|0x[0-9a-f]+ \(\d+ bytes\)|Suppressions used|-+$|"
    r"\s*'[^']*' is ascii|\s*registered at:|\s*Memory tags|Stats: |\s*\S*:\d+:\d+: note: "
)
_RULE = re.compile(r"={18,}$|\w+Sanitizer:DEADLYSIGNAL$")
_LONGEST = 5000  # lines of a report
_TOOLS = {
    "AddressSanitizer": "asan", "HWAddressSanitizer": "hwasan", "LeakSanitizer": "lsan", "MemorySanitizer": "msan",
    "ThreadSanitizer": "tsan", "UndefinedBehaviorSanitizer": "ubsan",
}  # fmt: skip


@dataclass(frozen=True)
class Region:
    """Memory that an address was compared with. `position` as printed, `4 bytes to the right of`; size in bytes."""

    position: str
    size: int | None
    start: str | None
    end: str | None
    variable: str | None = None
    """Name of the global variable, or None where the region is heap memory."""


@dataclass(frozen=True)
class MemoryReport:
    """One report; addresses as printed. `tool`: `asan`, `hwasan`, `lsan`, `msan`, `tsan`, `ubsan`."""

    tool: str
    error: str | None
    """`heap-buffer-overflow`, `data race`, `SEGV`."""
    stacks: tuple[Stack, ...] = ()
    pid: int | None = None
    access: str | None = None
    access_size: int | None = None
    access_address: str | None = None
    thread: str | None = None
    region: Region | None = None
    allocated_by: str | None = None
    freed_by: str | None = None
    leaked: int | None = None
    """Bytes that leaked in all, of the leaks that are printed."""
    hint: str | None = None
    summary: str | None = None
    whole: bool = True
    """False where the report's first line is not in the log."""


@dataclass
class _Reading:
    facts: Fields = field(default_factory=dict)
    tool: str = "asan"
    whole: bool = False
    stacks: list[Stack] = field(default_factory=list)
    bad: list[Line] = field(default_factory=list)
    access: Fields | None = None
    signal_access: str | None = None
    region: Region | None = None
    address: str | None = None
    by: dict[str, str] = field(default_factory=dict)
    leaked: int | None = None
    hint: str | None = None
    summary: str | None = None
    role: str = "access"
    thread: str | None = None


def read_memory_report(log: Log, line: Line) -> bool:
    """Claim a report that begins on this line."""
    text = line.text.strip()
    if _RUNTIME.match(text):
        return _undefined(log, line, text)
    if line.start < log.barren or not (_START.match(text) or _ACCESS.match(text) or _is_frame(line)):
        return False
    reading = _Reading()
    lines = _lines(log, line, reading)
    if not lines or not (reading.whole or reading.region or reading.summary or reading.access or reading.by):
        if lines:
            log.barren = lines[-1].end  # what begins within these lines says no more than they do
        return False
    for wrong in reading.bad:
        log.unreadable(wrong.start, wrong.end, "stack frame")
    report = _report(reading)
    log.claim("memory_report", [*_above(log, line), *lines])
    span = log.span(line.start, lines[-1].end)
    log.stacks += report.stacks
    form = ErrorForm.WARNING if report.tool == "tsan" else ErrorForm.MEMORY_REPORT
    said = text if reading.whole else f"{report.error or 'a report'} (its first line is not in this log)"
    log.errors.append(
        ErrorText(form, said, span, rank=line.rank, text=reading.summary or said, detail=report)
    )
    return True


def _lines(log: Log, line: Line, reading: _Reading) -> list[Line]:
    lines: list[Line] = []
    blanks: list[Line] = []
    now: Line | None = line
    while now is not None and len(lines) < _LONGEST:
        text = now.text.strip()
        own = [now]
        if not text:
            blanks.append(now)
            if len(blanks) > 2:
                break
            now = log.after(now)
            continue
        if _is_frame(now):
            found = read_stack(log, now)
            if found is None:
                break
            stack, own, bad = found
            reading.bad += bad
            reading.stacks.append(replace(stack, role=reading.role, thread=reading.thread))
        else:
            header = _header(text, reading)
            if header is None or not (header or _known(text, reading) or _REST.match(now.text)):
                break  # the next report, or other text
        lines += [*blanks, *own]
        blanks = []
        now = log.after(lines[-1])
    return lines


def _above(log: Log, line: Line) -> list[Line]:
    """Return the rule and the announcement that stand above a report's first line."""
    lines: list[Line] = []
    now = log.before(line)
    while now is not None and len(lines) < 2 and _RULE.match(now.text):
        lines.insert(0, now)
        now = log.before(now)
    return lines


def _is_frame(line: Line) -> bool:
    form = form_of(line.text)
    return form is not None and form.name == "sanitizer"


def _header(text: str, reading: _Reading) -> bool | None:
    """Take the first line of a report; None where it begins another one."""
    if "Sanitizer: " not in text or text.startswith("SUMMARY: "):
        return False
    found = fields("memory_report", "header", text)
    if found is None:
        return False
    if reading.whole or reading.stacks:
        return None
    reading.facts, reading.whole = found, True
    reading.tool = _TOOLS.get(found["TOOL"][0], "asan")
    address = first(found, "ADDRESS")
    reading.address = address or reading.address
    thread = re.search(r"\bT\d+\b", first(found, "AFTER") or "")
    reading.thread = thread[0] if thread else None
    return True


def _known(text: str, reading: _Reading) -> bool:
    """Take a line that holds a fact; False where it holds none."""
    if _ACCESS.match(text):
        found = fields("memory_report", "access", text)
        if found is None:
            return False
        by = (first(found, "BY") or "").removeprefix("by ").removeprefix("thread ") or None
        reading.role = "previous" if text.lower().startswith("previous") else "access"
        reading.thread = by
        if reading.access is None:
            reading.access = found
        return True
    if " is located " in text and _region(text, reading):
        return True
    if text.startswith("SUMMARY: "):
        found = fields("memory_report", "summary", text)
        if found is not None:
            reading.summary = found["TEXT"][0]
            if not reading.whole:
                reading.tool = _TOOLS.get(found["TOOL"][0], "asan")
        return found is not None
    fact = _FACT.match(text)
    if fact is not None:
        reading.signal_access = fact["access"] or reading.signal_access
        reading.hint = fact["hint"] or reading.hint
        return True
    for pattern, role in _ROLES:
        role_of = pattern.match(text)
        if role_of is not None:
            reading.role, reading.thread = role, role_of.groupdict().get("thread")
            if reading.thread is not None:
                reading.by.setdefault(role, reading.thread)
            leak = fields("memory_report", "leak", text) if role == "leaked" else None
            if leak is not None:
                reading.tool = "lsan"
                reading.leaked = (reading.leaked or 0) + int(leak["SIZE"][0][:18])
            return True
    return False


def _region(text: str, reading: _Reading) -> bool:
    found = fields("memory_report", "region", text)
    start: str | None
    if found is not None:
        address, start, end = found["ADDRESS"]
        region = Region(found["POSITION"][0], int(found["SIZE"][0][:18]), start, end)
    else:
        found = fields("memory_report", "variable", text)
        if found is None:
            return False
        address = found["ADDRESS"][0]
        begin = found["ADDRESS"][1] if len(found["ADDRESS"]) > 1 else None
        name = found["NAME"][0].strip("'")
        region = Region(found["POSITION"][0], int(found["SIZE"][0][:18]), begin, None, name)
    reading.region = reading.region or region
    reading.address = reading.address or address
    return True


def _report(reading: _Reading) -> MemoryReport:
    facts, access = reading.facts, reading.access or {}
    pid = first(facts, "PID")
    if pid is None:
        named = re.search(r"\(pid=(\d{1,9})\)", first(facts, "AFTER") or "")
        pid = named[1] if named else None
    size = first(access, "SIZE")
    error = first(facts, "KIND")
    if (
        reading.summary
        and reading.tool in {"asan", "hwasan", "msan"}
        and (error is None or error.startswith("attempting"))
    ):
        error = reading.summary.split(" ", 1)[
            0
        ]  # the first line says `attempting free on address which was not ...`
    said = first(access, "ACCESS") or reading.signal_access
    by = (first(access, "BY") or "").removeprefix("by ").removeprefix("thread ")
    header_thread = re.search(r"\bT\d+\b", first(facts, "AFTER") or "")
    return MemoryReport(
        tool=reading.tool,
        error=error,
        stacks=tuple(reading.stacks),
        pid=int(pid[:9]) if pid else None,
        access=said,
        access_size=int(size[:18]) if size else None,
        access_address=first(access, "ADDRESS") or reading.address,
        thread=by or (header_thread[0] if header_thread else None),
        region=reading.region,
        allocated_by=reading.by.get("allocated"),
        freed_by=reading.by.get("freed"),
        leaked=reading.leaked,
        hint=reading.hint,
        summary=reading.summary,
        whole=reading.whole,
    )


def _undefined(log: Log, line: Line, text: str) -> bool:
    """Read `FILE:LINE:COLUMN: runtime error: TEXT` of UndefinedBehaviorSanitizer, which goes on after it."""
    found = fields("memory_report", "runtime_error", text)
    if found is None:
        return False
    lines, stacks = [line], []
    below = log.after(line)
    read = read_stack(log, below) if below is not None and _is_frame(below) else None
    if read is not None:
        stack, own, bad = read
        for wrong in bad:
            log.unreadable(wrong.start, wrong.end, "stack frame")
        stacks.append(replace(stack, role="access"))
        lines += own
    summary = log.after(lines[-1])
    if summary is not None and summary.text.startswith("SUMMARY: UndefinedBehaviorSanitizer: "):
        lines.append(summary)
    span = log.claim("memory_report", lines)
    log.stacks += stacks
    report = MemoryReport("ubsan", found["TEXT"][0], tuple(stacks))
    log.errors.append(ErrorText(ErrorForm.WARNING, text, span, rank=line.rank, text=text, detail=report))
    return True

"""What process groups, their watchdogs and their stores say: timeouts, states, errors of NCCL.

Format: `grammars/collective.lark`; the lines have c10's prefix (`[E1129 12:00:00.000000000 ProcessGroupNCCL.cpp:689]`, before torch
2.4 without time). What stands below such a line (hints, `Exception raised from`, a stack, the Python stack of the
collective) belongs to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.device_errors import error_name
from aoti_logs.parse.errors.message import Further, finish, read_message
from aoti_logs.parse.events import ErrorForm, ErrorText, Note
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.stacks.stack import read_stack

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_PREFIX = re.compile(
    r"\[(?P<level>[EF])(?:\d{3,4} \d\d:\d\d:\d\d\.\d+)? (?P<file>ProcessGroup\w*\.cpp):\d+\] ?(?P<text>.*)"
)
_TOLD = re.compile(
    r"(?:\[[^\]]{1,90}\] {0,2})?(?:Received a dump signal|First PG on this rank|Observed flight recorder dump|ProcessGroupNCCL preparing to dump|"
    r"Could not acquire GIL|Flight recorder|Broadcasting flight-recorder|Finished writing|Storing )"
)
_LIBRARY = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] )?(?P<host>[\w.-]+):(?P<pid>\d+):\d+ \[\d+\] (?:(?P<where>\S+:\d+) )?"
    r"NCCL (?P<level>WARN|INFO|TRACE|ABORT) (?P<text>.*)"
)
_STACK = "Stack trace of the failed collective:"
_TIMEOUT = re.compile(
    r"(?:\[[^\]]{0,80}\] )?[^\n]{0,200}?Watchdog caught collective operation timeout: [^\n]*"
)
_STATUS = re.compile(
    r"\[(?:PG [^\]]{1,80} )?Rank \d+\] +(?:failure detected by watchdog|Exception \(either an error|Timeout at NCCL work|"
    r"Received a dump signal)[^\n]*"
)
_ENDED = re.compile(
    r"\[(?:PG [^\]]{1,80} )?Rank \d+\] +(?:NCCL|Process group) watchdog thread terminated with exception: [^\n]*"
)
_NCCL = re.compile(r"NCCL error in: [^\n]*")
_PRINT = re.compile(r"Rank \d+ is running collective: CollectiveFingerPrint\([^\n]*")
_LAST = re.compile(r"^Last error:\n(?P<said>[^\n]*(?:\n[^\n]+)?)", re.MULTILINE)
_NAMED = re.compile(r"^(?P<name>nccl[A-Z]\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Group:
    """A process group as its prefix names it: `[PG ID 0 PG GUID 0(default_pg) Rank 1]`, `[PG 1 Rank 1]`, `[Rank 1]`."""

    rank: int
    number: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class CollectiveTimeout:
    """A collective that did not end in time. Times are milliseconds; `fields` are those of the work, as printed."""

    group: Group | None
    operation: str | None
    sequence: int | None
    timeout: int | None
    elapsed: int
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GroupStatus:
    """How far a rank's process group had come: the sequence numbers of its collectives, -1 for none.

    `failed` is the one that did not end; None in the text that a dump signal prints.
    """

    group: Group
    failed: int | None
    enqueued: int
    completed: int


@dataclass(frozen=True)
class WatchdogEnd:
    """The watchdog thread of a process group ended by an exception, whose text is `said`."""

    group: Group
    said: str


@dataclass(frozen=True)
class NcclError:
    """An error of NCCL. `result` is its code's name (`ncclUnhandledCudaError`), `last` what `Last error:` says."""

    what: str
    version: str | None
    result: str | None
    last: str | None
    file: str
    line: int


@dataclass(frozen=True)
class Fingerprint:
    """What a rank was running when collectives did not match: its fields as printed."""

    rank: int
    fields: tuple[tuple[str, str], ...]


def read_collective(log: Log, line: Line) -> bool:
    """Claim an error line of a process group with what stands below it, or a line of NCCL's own log."""
    text = line.text.strip()
    found = _PREFIX.match(text)
    if found is None:
        return _alone(log, line, text) or _library(log, line, text)
    said = found["text"].strip()
    if _TOLD.match(said):
        log.notes.append(Note("collective", log.claim("collective", [line]), (("text", said),)))
        return True
    head = _as_those_below(log, line)
    message = read_message(log, head, said, Further.KNOWN)
    if said.startswith(_STACK):
        below = log.after(message.lines[-1])
        read = read_stack(log, below) if below is not None else None
        if read is not None:
            message.stack, own, message.unread = read
            message.lines.extend(own)
    finish(log, "error", message)
    named = re.search(r"\bRank (\d{1,7})\]", said)
    log.errors.append(
        ErrorText(
            ErrorForm.COLLECTIVE,
            said,
            log.span(message.lines[0].start, message.lines[-1].end),
            raised_from=message.raised,
            stack=message.stack,
            text=message.text,
            cuda_error=error_name(message.text),
            rank=line.rank if line.rank is not None or named is None else int(named[1]),
        )
    )
    return True


def _alone(log: Log, line: Line, text: str) -> bool:
    """Read `NCCL error in: ...` where its exception's name is not on the line: processes wrote over each other."""
    at = (
        text.find("NCCL error in: ")
        if text.startswith(("NCCL error in: ", "torch.distributedtorch."))
        else -1
    )
    if at < 0:
        return False
    message = read_message(log, line, text[at:], Further.KNOWN)
    finish(log, "error", message)
    span = log.span(message.lines[0].start, message.lines[-1].end)
    log.errors.append(ErrorText(ErrorForm.COLLECTIVE, text[at:], span, text=message.text, rank=line.rank))
    return True


def _library(log: Log, line: Line, text: str) -> bool:
    found = _LIBRARY.match(text) if " NCCL " in text[:400] else None
    if found is None:
        return False
    span = log.claim("collective", [line])
    if found["level"] in {"WARN", "ABORT"}:
        facts = (("text", found["text"].strip()), ("pid", found["pid"]), ("host", found["host"]))
        log.notes.append(Note("nccl", span, facts))
    return True


def _as_those_below(log: Log, line: Line) -> Line:
    """Return the line without its rank where the next one has none: c10 writes `[rank0]:` before the first line only."""
    at = log.claims.skip(line.end)
    if line.rank is None or at >= log.size or log.line(at).rank is not None:
        return line
    return replace(line, rank=None)


def _group(read: Fields, which: int = -1) -> Group:
    numbers = read.get("PG_ID", [])
    name = first(read, "GUID")
    bracket = re.search(r"\((.*)\)", name) if name else None
    return Group(
        int(read["RANK"][which][:9]),
        int(numbers[0][:9]) if numbers else None,
        bracket[1] if bracket else name,
    )


def _pairs(read: Fields) -> tuple[tuple[str, str], ...]:
    return tuple(zip(read.get("KEY", ()), (v.strip() for v in read.get("VALUE", ())), strict=False))


def _int(text: str | None) -> int | None:
    return int(text[:18]) if text and re.fullmatch(r"-?\d+", text) else None


@lru_cache(maxsize=1024)
def collective_timeout(text: str) -> CollectiveTimeout | None:
    """Return the timeout that a text tells."""
    found = _TIMEOUT.search(text) if "Watchdog caught collective" in text else None
    read = fields("collective", "timeout", found[0].rstrip()) if found else None
    if read is None:
        return None
    pairs = _pairs(read)
    known = dict(pairs)
    return CollectiveTimeout(
        _group(read) if "RANK" in read else None,
        known.get("OpType"),
        _int(known.get("SeqNum")),
        _int(known.get("Timeout(ms)")),
        int(read["ELAPSED"][0][:18]),
        pairs,
    )


@lru_cache(maxsize=1024)
def group_status(text: str) -> GroupStatus | None:
    """Return how far a rank had come, where a text tells."""
    found = _STATUS.search(text)
    read = fields("collective", "status", found[0].rstrip()) if found else None
    if read is None:
        return None
    return GroupStatus(
        _group(read, 0),
        _int(first(read, "SEQUENCE")),
        int(read["ENQUEUED"][0][:18]),
        int(read["COMPLETED"][0][:18]),
    )


@lru_cache(maxsize=1024)
def watchdog_end(text: str) -> WatchdogEnd | None:
    """Return what ended the watchdog of a process group."""
    found = _ENDED.search(text)
    read = fields("collective", "ended", found[0].rstrip()) if found else None
    return WatchdogEnd(_group(read, 0), read["SAID"][0]) if read is not None else None


@lru_cache(maxsize=1024)
def nccl_error(text: str) -> NcclError | None:
    """Return the error of NCCL that a text tells."""
    found = _NCCL.search(text)
    read = fields("collective", "nccl", found[0].rstrip()) if found else None
    if read is None:
        return None
    last, named = _LAST.search(text), _NAMED.search(text)
    return NcclError(
        read["WHAT"][0].strip(),
        first(read, "VERSION"),
        named["name"] if named else None,
        last["said"].strip() or None if last else None,
        read["FILE"][0],
        int(read["LINE"][0][:9]),
    )


@lru_cache(maxsize=1024)
def fingerprints(text: str) -> tuple[Fingerprint, ...]:
    """Return what the ranks were running, where their collectives did not match."""
    if "CollectiveFingerPrint(" not in text:
        return ()
    found: list[Fingerprint] = []
    for part in re.split(r"(?=\bRank \d+ is running collective: )", text):
        said = _PRINT.search(part.replace(", but ", "\n").split("\n", 1)[0])
        read = fields("collective", "print", said[0].rstrip().rstrip(".")) if said else None
        if read is not None:
            found.append(Fingerprint(int(read["NUMBER"][0][:9]), _pairs(read)))
    return tuple(found)

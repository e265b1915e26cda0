"""The table of failed workers in torchrun's `ChildFailedError`.

Format: `grammars/elastic.lark`. torchrun takes the worker with the earliest time for the root cause; all workers that it
stopped itself (SIGTERM) are listed, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields
    from aoti_logs.sources.source import Span

NAME = "ChildFailedError"
_BORDER = re.compile(r"[=-]{4,}$")
_KEY = re.compile(r"(?:time|host|rank|exitcode|error_file|traceback) *: ")
_NUMBER = re.compile(r"\[\d{1,7}\]:$")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failed)\b(?:: .*)?$")
_WITHOUT_INDENT = re.compile(r"[=-]{4,}$|\[\d{1,7}\]:$|Root Cause|(?:Other )?Failures")
_LONGEST = 20_000  # lines of one table
_HEAD = 40  # lines above its first worker


@dataclass(frozen=True)
class WorkerFailure:
    """One worker that ended. `exit_code` is negative for a signal; `message` is what the worker left in its error file, else
    what torchrun says; `exception` its last line, where that is an exception.
    """

    rank: int
    local_rank: int
    exit_code: int | None
    pid: int | None
    signal: str | None
    time: str | None
    host: str | None
    error_file: str | None
    message: str
    exception: str | None
    root: bool
    span: Span


@dataclass(frozen=True)
class WorkerFailures:
    """What torchrun says of the run of `name`: the worker that ended first, and the others."""

    name: str
    rows: tuple[WorkerFailure, ...]

    @property
    def first(self) -> WorkerFailure | None:
        """The worker with the earliest time."""
        return next((row for row in self.rows if row.root), None)


def read_workers(log: Log, above: Line) -> tuple[WorkerFailures, list[Line]] | None:
    """Read the table below the line of the exception; None when there is none."""
    lines: list[Line] = []
    reading = _Reading(log)
    now = log.after(above)
    while now is not None and len(lines) < _LONGEST:
        text = now.text.rstrip()
        if not lines and not (text == "" or _BORDER.match(text)):
            return None
        if len(lines) > _HEAD and not reading.begun:
            return None
        if reading.begun and text[:1].strip() and not _WITHOUT_INDENT.match(text):
            break  # its end is cut off: a worker's rows, and what it said, are indented
        lines.append(now)
        if _BORDER.match(text):
            reading.borders += 1
            if text[0] == "=" and reading.rows_of_root:
                break
        else:
            reading.add(text, now)
        now = log.after(now)
    rows = reading.finish()
    if not rows:
        return None
    while lines and not lines[-1].text.strip():
        lines.pop()
    return WorkerFailures(reading.name.removesuffix(" FAILED"), tuple(rows)), lines


class _Reading:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.name = ""
        self.borders = 0
        self.rows_of_root = False
        self.begun = False
        self._root = False
        self._rows: list[WorkerFailure] = []
        self._found: dict[str, Fields] = {}
        self._texts: list[str] = []
        self._lines: list[Line] = []

    def add(self, text: str, line: Line) -> None:
        body = text.strip()
        if self.borders == 1 and body and not self.name:
            self.name = body
        elif body.startswith("Root Cause"):
            self._close()
            self._root = True
        elif _NUMBER.match(body):
            self._close()
            self.begun = True
            self._lines = [line]
        elif self._lines:
            self._lines.append(line)
            self._row(body, text)

    def _row(self, body: str, text: str) -> None:
        key = body.partition(":")[0].strip()
        if key in self._found or "traceback" in self._found or not _KEY.match(body):
            if "traceback" in self._found and body:
                self._texts.append(text.removeprefix("  "))
            return
        found = fields("elastic", "start", body)
        if found is None and key != "traceback":
            return
        self._found[key] = found or {}
        if key == "traceback":
            self._texts = [body.partition(": ")[2]]
        self.rows_of_root = self.rows_of_root or (self._root and key == "rank")

    def _close(self) -> None:
        found, lines = self._found, self._lines
        rank = first(found.get("rank", {}), "RANK")
        if rank is not None:
            code = found.get("exitcode", {})
            message = "\n".join(self._texts)
            last = self._texts[-1].strip() if self._texts else ""
            file = first(found.get("error_file", {}), "FILE")
            self._rows.append(
                WorkerFailure(
                    rank=int(rank[:9]),
                    local_rank=int(found["rank"]["LOCAL"][0][:9]),
                    exit_code=_int(first(code, "CODE")),
                    pid=_int(first(code, "PID")),
                    signal=first(code, "SIGNAL"),
                    time=first(found.get("time", {}), "TIME"),
                    host=first(found.get("host", {}), "HOST"),
                    error_file=None if file == "<N/A>" else file,
                    message=message,
                    exception=last if len(self._texts) > 1 and _EXCEPTION.match(last) else None,
                    root=self._root,
                    span=self.log.span(lines[0].start, lines[-1].end),
                )
            )
        self._found, self._texts, self._lines = {}, [], []

    def finish(self) -> list[WorkerFailure]:
        self._close()
        return self._rows


def _int(text: str | None) -> int | None:
    return int(text[:10]) if text else None

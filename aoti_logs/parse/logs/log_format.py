"""A %-format of a user's own (`TORCH_LOGS_FORMAT`, `logging.basicConfig(format=...)`), told from the log.

Format: torch/_logging/_internal.py gives TORCH_LOGS_FORMAT to Python's `logging.Formatter`; only the first line of a
message has what the format puts in front. The log does not name its format, so it is taken from lines that name one
of torch's loggers and a level or a time, where two of them agree.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.log_prefix import Prefix

if TYPE_CHECKING:
    import mmap

_LOOKED_AT = 1 << 20
_AGREE = 2
_LEVEL = r"DEBUG|INFO|WARNING|ERROR|CRITICAL"
# Attributes of a record that a format can name, and how each prints; the first that fits is taken.
_FIELDS: tuple[tuple[str, str], ...] = (
    ("asctime", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[,.]\d{1,6})?"),
    ("asctime", r"\d\d:\d\d:\d\d(?:[,.]\d{1,6})?"),
    ("name", r"torch\.(?:_\w+|(?:fx|export|distributed|utils|nn|onnx)\.\w+)(?:\.\w+)*(?![\w./(\[])"),
    ("levelname", rf"(?:{_LEVEL})\b"),
    ("created", r"\d{10}\.\d{3,9}"),
    ("processName", r"(?:MainProcess|(?:Spawn|Fork)?Process-\d{1,9}(?::\d{1,9})?)\b"),
    ("threadName", r"(?:MainThread|Thread-\d{1,9}(?: \(\w{1,80}\))?|ThreadPoolExecutor-\d{1,9}_\d{1,9})"),
    ("pathname", r"(?:[A-Za-z]:)?[\\/][^\s:]{1,300}\.py\b"),
    ("filename", r"\w{1,100}\.py\b"),
    ("msecs", r"(?<=[,.])\d{3}(?![\d.:])"),
    ("lineno", r"(?<=[:( ])\d{1,6}(?![\d.:])"),
    ("process", r"\d{1,7}(?![\d.:])"),
    ("thread", r"\d{12,20}(?![\d.:])"),
)
_FIELD = [(name, re.compile(pattern)) for name, pattern in _FIELDS]
_BETWEEN = re.compile(r"[ \t\-|:;,\[\](){}<>/=#*~+]{1,12}|(?:rank|pid|tid|line|level|process|thread)\b", re.I)
_NAMES_TORCH = re.compile(rb"^[^\n]{0,200}?\btorch\.[\w.]+[^\n]*", re.M)
_NEEDED = {"levelname", "asctime", "created"}
_CERTAIN = {*_NEEDED, "filename", "pathname", "lineno", "processName", "threadName"}
_MOST_PARTS = 24
_ANY_LOGGER = r"[A-Za-z_][\w.]{0,300}?"


@dataclass(frozen=True)
class LogFormat:
    """A format: `text` as one would write it (`%(asctime)s %(name)s %(message)s`), and the pattern of its prefix."""

    text: str
    pattern: re.Pattern[str]
    names: tuple[str, ...]
    words: tuple[bytes, ...]
    """Literals of which one stands in every line of the format that names a logger of torch."""

    def prefix(self, line: str) -> Prefix | None:
        """Read the prefix at the beginning of a line."""
        found = self.pattern.match(line)
        if found is None:
            return None
        parts = dict(zip(self.names, found.groups(), strict=True))
        logger = parts.get("name") or ""
        return Prefix(
            style=self.text,
            text=found[0],
            level=parts.get("levelname") or "",
            time=parts.get("asctime") or parts.get("created") or "",
            process=int((parts.get("process") or "0")[:18]),
            module=logger.partition(".__")[0],
            module_line=int((parts.get("lineno") or "0")[:9]),
            artifact=logger.partition(".__")[2] or None,
        )


def log_format(data: bytes | mmap.mmap) -> LogFormat | None:
    """Return the format that lines of a log agree on, None where none is certain.

    Args:
        data: the log; its first megabyte is looked at.
    """
    head = bytes(data[:_LOOKED_AT])
    if b"torch." not in head:
        return None
    counts: Counter[tuple[tuple[str, str], ...]] = Counter()
    for found in _NAMES_TORCH.finditer(head):
        parts = _parts(found[0][:400].decode("utf-8", "replace"))
        if parts:
            counts[parts] += 1
    from logging import BASIC_FORMAT

    for parts, count in counts.most_common(1):
        found_format = _format(parts)
        if count >= _AGREE and found_format.text != BASIC_FORMAT:
            return found_format
    return None


def _parts(line: str) -> tuple[tuple[str, str], ...] | None:
    """Split the beginning of a line into fields, (name, ""), and what stands between them and behind, ("", text)."""
    parts: list[tuple[str, str]] = []
    at, names = 0, set[str]()
    while len(parts) < _MOST_PARTS:
        between = _BETWEEN.match(line, at)
        behind = between.end() if between else at
        name, end = _field(line, behind, names)
        complete = "name" in names and _NEEDED & names
        if between and (complete or name):
            parts.append(("", _folded(between[0], last=bool(complete and not name))))
        if name is None or (complete and name not in _CERTAIN):
            break
        parts.append((name, ""))
        names.add(name)
        at = end
    complete = "name" in names and _NEEDED & names
    return tuple(parts) if complete and parts[-1][1] and parts[0][1] != " " else None


def _field(line: str, at: int, known: set[str]) -> tuple[str | None, int]:
    for name, pattern in _FIELD:
        found = pattern.match(line, at) if name not in known else None
        if found is not None:
            return name, found.end()
    return None, at


def _folded(text: str, *, last: bool) -> str:
    """Return a separator with its blanks as one; those behind the last one may be the message's own."""
    folded = re.sub(r"[ \t]+", " ", text)
    return folded.rstrip() + " " if last and folded.strip() and folded.endswith(" ") else folded


def _format(parts: tuple[tuple[str, str], ...]) -> LogFormat:
    by_name = dict(reversed(_FIELDS))
    names = tuple(name for name, _ in parts if name)
    pattern, text = "", ""
    for name, between in parts:
        if not name:
            pattern += r"[ \t]{1,12}".join(map(re.escape, between.split(" ")))
            text += between
        elif name == "asctime":
            pattern += "(" + "|".join(p for n, p in _FIELDS if n == name) + ")"
        else:
            pattern += f"({_ANY_LOGGER if name == 'name' else by_name[name]})"
        text += f"%({name})s" if name else ""
    return LogFormat(text + "%(message)s", re.compile(pattern), names, (b"torch.",))

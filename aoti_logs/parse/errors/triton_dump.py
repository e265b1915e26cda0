"""What torch prints through its logger of a kernel that does not compile: name, source, metadata, traceback.

torch/_inductor/runtime/triton_heuristics.py, `_precompile_config`: `Triton compilation failed: NAME`, the source of the
kernel, `metadata: {...}` and the traceback, hundreds of lines with one prefix. An excerpt may have lost any of them.
The bounds checks in the source have not failed: they were never compiled.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.asserts.assertion import condition
from aoti_logs.parse.python.repr import plain, read_repr
from aoti_logs.parse.python.worker_text import root_text

if TYPE_CHECKING:
    from aoti_logs.parse.events import AssertionText, LogLine

_MODULE = re.compile(r"(?:^|[/\\.])triton_heuristics(?:\.py)?$")
_FAILED = "Triton compilation failed: "
_METADATA = "metadata: "
_TRACEBACK = "Traceback (most recent call last):"
_SOURCE = re.compile(
    r"^\s*(?:tl\.\w+\(|\w+ = (?:tl|libdevice|triton_helpers)\.|@triton\.|def triton_\w*\()", re.MULTILINE
)
_QUOTED = re.compile(r"[A-Z]\w*(?:Error|Exception)\(.*\)$")
_TEMPLATE_ARGUMENT = re.compile(r"arg_[A-Z]\w*$")
_MOST = 64


@dataclass(frozen=True)
class SourceCheck:
    """A `tl.device_assert` in the printed source."""

    text: AssertionText
    mask: str | None
    row: int


@dataclass(frozen=True)
class TritonDump:
    """A printed kernel. `row` numbers count lines of the message from 0.

    `error` is the exception's text from its type on, None where the message ends before it.
    """

    kernel: str | None
    metadata: dict[str, Any] | None
    checks: tuple[SourceCheck, ...]
    error: str | None
    error_row: int | None
    n_lines: int

    @property
    def template(self) -> bool | None:
        """Whether the kernel was made from a template, by the names of its arguments; None where not told."""
        signature = (self.metadata or {}).get("signature")
        if not isinstance(signature, dict):
            return self.kernel.startswith("triton_tem_") if self.kernel else None
        return any(_TEMPLATE_ARGUMENT.match(str(name)) for name in signature)


def read_dump(message: LogLine) -> TritonDump | None:
    """Read a message of TORCH_LOGS; None when it prints no kernel that failed."""
    if message.level != "ERROR" or _MODULE.search(message.module) is None:
        return None
    text = message.text
    named = text.startswith(_FAILED)
    if not named and _METADATA not in text and _SOURCE.search(text) is None:
        return None
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if line.startswith(_METADATA)), None)
    traced = next((n for n, line in enumerate(lines) if line == _TRACEBACK), None)
    end = next((n for n in (at, traced) if n is not None), len(lines))
    error_row = _raised(lines, traced)
    return TritonDump(
        kernel=lines[0].removeprefix(_FAILED).strip() or None if named else None,
        metadata=_metadata(lines[at]) if at is not None else None,
        checks=tuple(_checks(lines, 1 if named else 0, end)),
        error="\n".join(lines[error_row:]).rstrip() if error_row is not None else None,
        error_row=error_row,
        n_lines=len(lines),
    )


def _raised(lines: list[str], traced: int | None) -> int | None:
    """Return the line of the exception that counts, below the traceback."""
    if traced is None:
        return None
    told = root_text("\n".join(lines[traced:])).partition("\n")[0]
    if (
        told == lines[traced]
    ):  # nothing has the form of an exception; an excerpt may end in what Triton quotes
        return next((n for n in range(traced + 1, len(lines)) if _QUOTED.match(lines[n])), None)
    return lines.index(told, traced)


def _metadata(line: str) -> dict[str, Any] | None:
    found = plain(read_repr(line.removeprefix(_METADATA)))
    return found if isinstance(found, dict) else None


def _checks(lines: list[str], start: int, end: int) -> list[SourceCheck]:
    found: list[SourceCheck] = []
    for row in range(start, end):
        line = lines[row].strip()
        if line.startswith("tl.device_assert(") and len(found) < _MOST and len(line) < 65536:
            check = _check(line, row)
            if check is not None:
                found.append(check)
    return found


def _check(line: str, row: int) -> SourceCheck | None:
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(tree, ast.Call) or len(tree.args) < 2:
        return None
    told = tree.args[1]
    text = condition(told.value) if isinstance(told, ast.Constant) and isinstance(told.value, str) else None
    if text is None:
        return None
    tested, mask = tree.args[0], None
    if isinstance(tested, ast.BinOp) and isinstance(tested.op, ast.BitOr):
        mask = ast.get_source_segment(line, tested.right)
    return SourceCheck(text, mask, row)

"""The lines under a header of the value printer: printed elements, then a summary of `Key: value` lines.

A block is read to its end by its lines: other output may stand between them, and a process that dies leaves a
block without its last lines. Two processes that print into one file at once can mix their blocks; then no line
tells whose it is, and nothing is made of the numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.printer.elements import begins_python, is_element_line, is_python_line, is_type_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.logs.lines import Line, Log

SUMMARY = re.compile(
    r"(?P<key>Number of elements|Dtype|Mean value|Min value|Max value|Device|Size|Stride|Layout|Is contiguous|Requires grad"
    r"|Mean|Min|Max|Std|Value):"
)
_OTHER_KEY = re.compile(r"[A-Z][A-Za-z]+(?: [a-z]+){0,3}: \S")
_INFO = re.compile(r"\[INFO\] Aten built-in function")
CPP_KEYS = frozenset(
    ["Number of elements", "Dtype", "Device", "Size", "Stride", "Layout", "Is contiguous", "Requires grad"]
)
"""What every complete block of the C++ printer has."""
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)$|\([^()]{1,80}\)$")
_STATISTICS = frozenset(["Mean value", "Min value", "Max value"])
_END_OF_NESTED = re.compile(r"\]$|.*\baxis: \d+ \]$")
_BEYOND = 8  # lines of other output inside a block
_LONGEST = 4000  # lines of one block


@dataclass
class Block:
    """A block's lines and what they say. `mixed`: lines of another block stand among them."""

    lines: list[Line]
    keys: dict[str, str] = field(default_factory=dict)
    elements: list[str] = field(default_factory=list)
    """The lines of the printed tensor, without those of a second printing."""
    mixed: bool = False

    @property
    def empty(self) -> bool:
        """True where nothing stood under the header."""
        return len(self.lines) == 1


def offset_behind(log: Log, line: Line, text: str) -> int | None:
    """Return the byte offset behind the first characters of a line, or None when it cannot be told."""
    raw = bytes(log.data[line.start : min(line.end, line.start + (1 << 16))])
    at = raw.find(text.encode())
    return None if at < 0 else line.start + at + len(text.encode())


def _thrown(log: Log, line: Line, key: str) -> Line | None:
    """Return the part of a line that is the printer's where an exception ended it.

    The key is written before the number is computed: what reports the exception stands behind it on the line.
    """
    text = line.text[: line.text.find(key) + len(key) + 1]
    if line.text[len(text) :].startswith(" "):
        text += " "
    offset = offset_behind(log, line, text)
    return None if offset is None or offset >= line.end else replace(line, end=offset)


def read_cpp(log: Log, line: Line, is_header: Callable[[str], bool]) -> Block:
    """Read a block of `aoti_torch_print_tensor_handle`.

    Args:
        log: the log.
        line: the header's line.
        is_header: tells a line that begins another record.
    """
    block = Block([line])
    pending: list[Line] = []
    open_tensor, inside, nested, kept, foreign = True, False, False, True, 0
    now = log.after(line)
    while now is not None and len(block.lines) < _LONGEST:
        text = now.text.rstrip()
        summary = SUMMARY.match(text)
        if not text:
            if block.keys and not inside:
                if block.keys.keys() >= CPP_KEYS or not foreign:
                    block.lines.append(now)
                break
            pending.append(now)
            if len(pending) > 2:
                break
        elif summary is not None and summary["key"] not in block.keys:
            key, told = summary["key"], text[summary.end() :].strip()
            if key in _STATISTICS and told and not _NUMBER.match(told):
                own = _thrown(log, now, key)
                block.lines += [*pending, own] if own is not None else []
                break
            block.keys[key] = told
            block.lines += [*pending, now]
            pending, foreign, open_tensor, inside = [], 0, False, False
        elif open_tensor and is_element_line(text):
            if kept:
                block.elements += ["" for _ in pending] + [text]
            block.lines += [*pending, now]
            if nested:
                nested = not _END_OF_NESTED.match(text)
                inside = open_tensor = nested
            elif is_type_line(text) and not text.endswith(" ]"):
                inside = nested = True  # sparse, or quantized with more tensors in it
            else:
                inside = open_tensor = not is_type_line(text)
            pending = []
        elif _INFO.match(text) and not block.keys.keys() >= CPP_KEYS:
            block.lines += [*pending, now]
            pending, open_tensor, kept = [], True, not block.elements
        elif is_header(text):
            break
        elif summary is not None:
            block.mixed = not block.keys.keys() >= CPP_KEYS
            break
        elif block.keys and _OTHER_KEY.match(text) and not foreign:
            key, _, value = text.partition(": ")
            block.keys.setdefault(key, value)
            block.lines.append(now)
        else:
            foreign += 1
            if foreign > _BEYOND:
                break
        now = log.after(now)
    return block


def read_python(log: Log, line: Line, is_header: Callable[[str], bool]) -> Block:
    """Read a block of `_print_debugging_tensor_value_info`, which ends with `Std:` or is one `Value:` line."""
    block = Block([line])
    depth, foreign = 0, 0
    pending: list[Line] = []
    now = log.after(line)
    while now is not None and len(block.lines) < _LONGEST:
        text = now.text.rstrip()
        summary = SUMMARY.match(text) if depth <= 0 else None
        if is_header(text):
            break
        if not text and depth > 0:
            pending.append(now)  # between the matrices of a tensor
        elif summary is not None and summary["key"] not in block.keys:
            block.keys[summary["key"]] = text[summary.end() :].strip()
            block.lines += [*pending, now]
            pending = []
            if summary["key"] in {"Std", "Value"}:
                break
        elif summary is not None:
            block.mixed = True
            break
        elif not block.keys and (
            is_python_line(text)
            if depth > 0
            else begins_python(text) or (block.elements and is_python_line(text))
        ):
            depth += text.count("(") + text.count("[") - text.count(")") - text.count("]")
            block.elements.append(text)
            block.lines += [*pending, now]
            pending = []
        else:
            foreign += 1
            if not text or foreign > _BEYOND:
                break
        now = log.after(now)
    return block

"""A quick way for the usual block of the value printer: undisturbed, complete, without a launcher's prefix.

`parse/printer/block.py` walks line by line, because anything may stand between two lines. Where a block's summary
stands in the bytes as torch 2.6 and later print it, one expression reads it; a test compares both ways.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.printer.block import Block
from aoti_logs.parse.printer.elements import is_element_line, is_type_line

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)"
_LIST = rb"\[(?:\d{1,18}(?:, \d{1,18}){0,63})?\]"
_SUMMARY = re.compile(
    rb"Number of elements: (?P<number>\d{1,18})\nDtype: (?P<dtype>\w[^\n\r]{0,200}(?<! ))\n"
    rb"(?:Mean value: (?P<mean>" + _NUMBER + rb")\nMin value: (?P<min>" + _NUMBER + rb")\n"
    rb"Max value: (?P<max>" + _NUMBER + rb")\n)?Device: (?P<device>[\w:]+)\nSize: (?P<size>" + _LIST + rb")\n"
    rb"Stride: (?P<stride>" + _LIST + rb")\nLayout: (?P<layout>\w+)\nIs contiguous: (?P<contiguous>\d)\n"
    rb"Requires grad: (?P<grad>\d)\n\n"
)
_KEYS = {
    "number": "Number of elements", "dtype": "Dtype", "mean": "Mean value", "min": "Min value", "max": "Max value",
    "device": "Device", "size": "Size", "stride": "Stride", "layout": "Layout", "contiguous": "Is contiguous",
    "grad": "Requires grad",
}  # fmt: skip
_FARTHEST = 8192  # bytes of the elements of 64 numbers, twice over


def read_whole(log: Log, line: Line) -> Block | None:
    """Return the block under a header, or None where it has to be read line by line."""
    if line.rank is not None or line.end >= log.size or log.data[line.end - 1 : line.end] != b"\n":
        return None
    at = log.data.find(b"Number of elements: ", line.end, line.end + _FARTHEST)
    if at < 0 or log.data[at - 1 : at] != b"\n":
        return None
    found = _SUMMARY.match(log.data, at)
    if found is None or log.claims.next_start(line.start, log.size) < found.end():
        return None
    elements = bytes(log.data[line.end : at]).decode("utf-8", "replace").split("\n")[:-1]
    if elements and not (is_type_line(elements[-1]) and elements[-1].endswith(" ]")):
        return None
    if not all(is_element_line(e) and not is_type_line(e) if e else True for e in elements[:-1]):
        return None
    if any(not one and not other for one, other in itertools.pairwise(elements)):
        return None  # so many blank lines are not the printer's
    keys = {_KEYS[k]: v.decode("utf-8", "replace") for k, v in found.groupdict().items() if v is not None}
    rows = [e.rstrip() for e in elements]
    return Block([line, replace(line, start=line.end, end=found.end(), text="")], keys, rows)

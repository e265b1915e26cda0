"""The example that a Python wrapper carries with it: sizes of the inputs that it was compiled with.

Written by `PythonWrapperCodegen.benchmark_compiled_module` (`torch/_inductor/codegen/wrapper.py`) into
`get_args()`, before torch 2.10 into `benchmark_compiled_module()`. A size that only data knows has the number 42
there, which nobody gave.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import at_line_starts

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_START = re.compile(
    rb"^def (?:get_args\(\)|benchmark_compiled_module\(times=\d+, repeat=\d+\)):", re.MULTILINE
)
_END = re.compile(rb"^\S", re.MULTILINE)
_NUMBER = re.compile(rb"^ +(\w+) = (-?\d{1,18})[ \t\r]*$", re.MULTILINE)
_TENSOR = re.compile(
    rb"^ +(\w+) = (?:rand_strided|torch\.as_strided)\((?:\w+, )?\(([-\d, ]*)\), \(([-\d, ]*)\)", re.MULTILINE
)
_LANDMARKS = (b"def get_args(", b"def benchmark_compiled_module(times")


@dataclass(frozen=True)
class Example:
    """An input's example: `value` of a number, or `shape` and `stride` of a tensor."""

    line: int
    value: int | None = None
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None


def example_inputs(source: Source) -> dict[str, Example]:
    """Return the examples by the input's name in the code; empty where a wrapper carries none."""
    data = source.data
    found: dict[str, Example] = {}
    for start in (m for landmark in _LANDMARKS for m in at_line_starts(data, _START, landmark)):
        end = _END.search(data, start.end())
        text = bytes(data[start.end() : len(data) if end is None else end.start()])
        for match in _NUMBER.finditer(text):
            found[_name(match)] = Example(source.line_at(start.end() + match.start(1)), value=int(match[2]))
        for match in _TENSOR.finditer(text):
            found[_name(match)] = Example(
                source.line_at(start.end() + match.start(1)), None, _sizes(match[2]), _sizes(match[3])
            )
    return found


def _name(match: re.Match[bytes]) -> str:
    return match[1].decode()


def _sizes(text: bytes) -> tuple[int, ...]:
    return tuple(int(n[:18]) for n in re.findall(rb"-?\d+", text))

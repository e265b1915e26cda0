"""What the constructor and the input checks of an AOTInductor wrapper list: inputs, comparisons.

Printed by `CppWrapperCpu.codegen_model_constructor` and `generate_input_output_runtime_checks`
(`torch/_inductor/codegen/cpp_wrapper_cpu.py`); torch 2.4 to 2.6 wrote all checks into one function
`__check_inputs_outputs`, from 2.7 there is one `check_input_N` an input behind an environment gate.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import occurrences
from aoti_logs.code.model import CheckKind, InputCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Source

_CONSTRUCTOR = b"(std::shared_ptr<ConstantMap>"
_LONGEST_NAME = 1000
_LONGEST_KEPT = 1 << 13
CHECK_FUNCTION = re.compile(rb"AOTI_NOINLINE static void (?:check_input_(\d{1,9})|__check_inputs_outputs)\(")
"""Where a function of input checks starts."""
GATE = b"_check_aoti_runtime_check_inputs_env"
"""Name of the function that asks whether AOTI_RUNTIME_CHECK_INPUTS is set."""

_INPUT = re.compile(rb'inputs_info_\[(\d{1,9})\]\.name = "([^"\n]*)";')
_TENSOR = re.compile(
    r"(?:ConstantHandle|auto|AtenTensorHandle)&? (\w+) = .*\b(input|output)_handles\[(\d{1,9})\]"
)
_COMPARE = re.compile(
    r"if \((?:(?P<static>-?\d{1,64})L{0,2} != (?P<tensor>\w+?)_(?P<what>size|stride)\[(?P<dim>\d{1,9})\]"
    r"|(?P<tensor2>\w+?)_size\[(?P<dim2>\d{1,9})\] (?P<op>[<>]) (?P<bound>-?\d{1,64})L{0,2})\)"
)
_DTYPE = re.compile(r"int32_t (\w+)_expected_dtype = (?:aoti_torch_dtype_|cached_torch_dtype_)(\w+)")
_DEVICE = re.compile(r"int32_t (\w+)_expected_device_type = (\d+);")
_DEVICE_NAME = re.compile(r'"\d+\((\w+)\), "')
_COMMAND = re.compile(rb"^// (?:Compile|Link) cmd\s*\n// ([^\n]*)", re.M)
_KERNEL_FILE = re.compile(r"(?:^|[\s/\\])([\w.-]+\.kernel)\.(?:cpp|o)\b")
_SOURCE_PATH = re.compile(r"(?:^|\s)(\S+\.(?:cpp|cu))(?=\s|$)")
_TAIL = 1 << 20


def constructor(source: Source) -> tuple[int, int]:
    """Return the byte range of the constructor of the model class (`X::X(...)`), an empty one without it."""
    data = source.data
    for at in occurrences(data, _CONSTRUCTOR):
        before = bytes(data[max(0, at - 2 * _LONGEST_NAME) : at])
        owner, colons, name = before.rpartition(b"::")
        if colons and re.fullmatch(rb"\w+", name) and owner.endswith(name):
            return region(source, at - len(b"::") - 2 * len(name))
    return 0, 0


def _commands(source: Source) -> str:
    data = source.data
    tail = bytes(data[max(0, len(data) - _TAIL) :])
    return "\n".join(m[1].decode("utf-8", "replace") for m in _COMMAND.finditer(tail))


def kernel_files(source: Source) -> tuple[str, ...]:
    """Return the base names of the `.kernel.cpp` files that the compile and link commands name."""
    return tuple(dict.fromkeys(f"{m[1]}.cpp" for m in _KERNEL_FILE.finditer(_commands(source))))


def compile_paths(source: Source) -> tuple[str, ...]:
    """Return the paths of the sources in the compile commands, as they were on the machine that compiled."""
    return tuple(dict.fromkeys(m[1] for m in _SOURCE_PATH.finditer(_commands(source))))


def region(source: Source, start: int) -> tuple[int, int]:
    """Return the byte range of a top-level definition: up to the first `}` at the start of a line."""
    data = source.data
    end = data.find(b"\n}", start)
    return start, len(data) if end < 0 else end + 1


def input_names(source: Source, start: int, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield (index, name, line) of every `inputs_info_[i].name` in a byte range."""
    for match in _INPUT.finditer(source.data, start, end):
        yield int(match[1]), match[2].decode("utf-8", "replace"), source.line_at(match.start())


_ATEN_DTYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
    "complexhalf": "complex32",
}


def aten_dtype(text: str) -> str:
    """Return the torch name of an ATen scalar type (`at::kLong` is `int64`)."""
    match = re.search(r"at::k(\w+)", text)
    name = (match[1] if match else text).lower()
    return _ATEN_DTYPES.get(name, name)


def checks(source: Source) -> Iterator[InputCheck]:
    """Yield the comparisons of all input check functions, in order."""
    data = source.data
    gated: bool | None = None
    for at in occurrences(data, b"AOTI_NOINLINE static void "):
        match = CHECK_FUNCTION.match(data, at)
        if match is None:
            continue
        if gated is None:
            # The gate is asked in a function behind those of the inputs; old wrappers have none.
            gated = data.find(GATE, at) >= 0
        start, end = region(source, at)
        yield from _comparisons(source.cut(start, end), source.line_at(start), gated=gated)


def _comparisons(text: str, first_line: int, *, gated: bool) -> Iterator[InputCheck]:
    if len(text) <= _LONGEST_KEPT:
        yield from _kept_comparisons(text, first_line, gated)
    else:
        yield from _read_comparisons(text, first_line, gated=gated)


@lru_cache(maxsize=1024)
def _kept_comparisons(text: str, first_line: int, gated: bool) -> tuple[InputCheck, ...]:
    # Copies of a wrapper, and wrappers that differ elsewhere, check the same inputs on the same lines.
    return tuple(_read_comparisons(text, first_line, gated=gated))


def _read_comparisons(text: str, first_line: int, *, gated: bool) -> Iterator[InputCheck]:
    index: int | None = None
    tensor = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if " = " not in line and "if (" not in line:
            continue
        at = first_line + number
        quoted = line.strip()
        if "_handles[" in line and (match := _TENSOR.search(line)):
            tensor = match[1]
            index = int(match[3]) if match[2] == "input" else None
        elif "if (" in line and (match := _COMPARE.search(line)):
            if match["static"] is not None:
                kind = CheckKind.EQUAL if match["what"] == "size" else CheckKind.STRIDE
                name, dim, expected = match["tensor"], match["dim"], match["static"]
            else:
                kind = CheckKind.MIN if match["op"] == "<" else CheckKind.MAX
                name, dim, expected = match["tensor2"], match["dim2"], match["bound"]
            yield InputCheck(
                kind, name, index if name == tensor else None, int(dim), expected, at, gated, quoted
            )
        elif match := _DTYPE.search(line):
            yield InputCheck(CheckKind.DTYPE, match[1], index, None, match[2], at, gated, quoted)
        elif match := _DEVICE.search(line):
            name = next(filter(None, map(_DEVICE_NAME.search, lines[number : number + 6])), None)
            expected = match[2] if name is None else name[1]
            yield InputCheck(CheckKind.DEVICE, match[1], index, None, expected, at, gated, quoted)

"""The constants that the constructor of an AOTInductor wrapper lists, and what it tells its base class about weights.

Printed by `CppWrapperCpu.codegen_model_constructor` (`torch/_inductor/codegen/cpp_wrapper_cpu.py`). Torch 2.4 wrote
neither `type` nor `device_type`, 2.6 no `device_type`; dtypes and layouts were `static_cast<int32_t>(at::kFloat)` or
`static_cast<int32_t>(cached_torch_dtype_float32)` before they became `cached_torch_dtype_float32`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.model import Constant
from aoti_logs.code.wrapper_cpp.info import aten_dtype
from aoti_logs.code.wrapper_cpp.text import closing, split_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Source

_FIELD = re.compile(rb"constants_info_\[(\d{1,9})\]\.(\w{1,40}) = ([^\n]*);")
_BASE = re.compile(rb"\bAOTInductorModelBase\(")
_LONGEST_BASE = 1 << 12
_CACHED = re.compile(r"(?:cached_torch|aoti_torch)_(?:dtype|device_type|layout)_(\w+)")
_TYPE = re.compile(r"ConstantType::(\w+)")
_NUMBER = re.compile(r"-?\d{1,19}(?:u?L{0,2}|UL{0,2})")
_LIST = re.compile(r"\{[-\d, uUL]*\}")
_ATEN_LAYOUTS = {
    "mkldnn": "_mkldnn",
    "sparsecsr": "sparse_csr",
    "sparsecsc": "sparse_csc",
    "sparsebsr": "sparse_bsr",
    "sparsebsc": "sparse_bsc",
    "sparse": "sparse_coo",
}


@dataclass(frozen=True)
class ModelBase:
    """What a wrapper gives to `AOTInductorModelBase`.

    `include_weights`: True, the library brings its weights; False, it comes without them
    (`aot_inductor.package_constants_in_so=False`, or weights in a file of their own). None where the constructor has no
    such argument, as until torch 2.4: then the library always brings them.
    """

    inputs: int
    outputs: int
    constants: int
    include_weights: bool | None
    line: int
    include_line: int
    """Line of the argument itself, or the last one of the call."""


def model_base(source: Source, start: int, end: int) -> ModelBase | None:
    """Return what the constructor in a byte range gives to its base class; None where that cannot be read."""
    match = _BASE.search(source.data, start, end)
    if match is None:
        return None
    text = source.cut(match.end() - 1, min(end, match.end() + _LONGEST_BASE))
    stop = closing(text, 0)
    given = split_arguments(text[1:stop]) if stop > 0 else ()
    if len(given) not in {5, 6} or not all(re.fullmatch(r"\d{1,9}", part) for part in given[:3]):
        return None
    words = {"true": True, "false": False}
    if len(given) == 6 and given[5] not in words:
        return None
    line = source.line_at(match.start())
    include = words[given[5]] if len(given) == 6 else None
    inputs, outputs, n_constants = map(int, given[:3])
    return ModelBase(inputs, outputs, n_constants, include, line, line + text[:stop].count("\n"))


def constants(source: Source, start: int, end: int) -> Iterator[Constant]:
    """Yield the constants that a byte range describes, in order of their index."""
    rows: dict[int, dict[str, str]] = {}
    lines: dict[int, int] = {}
    for match in _FIELD.finditer(source.data, start, end):
        index = int(match[1])
        rows.setdefault(index, {})[match[2].decode()] = match[3].decode("utf-8", "replace")
        lines.setdefault(index, source.line_at(match.start()))
    for index, row in sorted(rows.items()):
        told = _TYPE.search(row.get("type", ""))
        metadata = row.get("opaque_metadata")
        yield Constant(
            index,
            row.get("name", "").strip('"'),
            row["original_fqn"].strip('"') if "original_fqn" in row else None,
            _word(row.get("dtype")),
            _numbers(row.get("shape")),
            lines[index],
            device=_word(row.get("device_type")),
            offset=_number(row.get("offset")),
            data_size=_number(row.get("data_size")),
            from_folded={"true": True, "false": False}.get(row.get("from_folded", "")),
            constant_type=told[1] if told is not None else None,
            stride=_numbers(row.get("stride")),
            layout=_layout(row.get("layout")),
            opaque_metadata_size=None if metadata is None else len(re.findall(r"\d+", metadata)),
        )


def _word(text: str | None) -> str | None:
    """Return the torch name of `cached_torch_dtype_float32`, `static_cast<int32_t>(at::kFloat)`, ..."""
    if text is None:
        return None
    match = _CACHED.search(text)
    if match is not None:
        return match[1]
    return aten_dtype(text) if "at::k" in text else None


def _layout(text: str | None) -> str | None:
    word = _word(text)
    return None if word is None else _ATEN_LAYOUTS.get(word, word)


def _number(text: str | None) -> int | None:
    if text is None or _NUMBER.fullmatch(text) is None:
        return None
    value = int(text.rstrip("uUL"))
    return value if -(2**63) <= value < 2**63 else None


def _numbers(text: str | None) -> tuple[int, ...] | None:
    if text is None or _LIST.fullmatch(text.strip()) is None or re.search(r"\d{20}", text):
        return None
    return tuple(map(int, re.findall(r"-?\d+", text)))

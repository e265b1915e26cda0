"""Sizes in a C++ wrapper: from a dimension, an alias, an expression, a scalar input, or data.

Forms of `codegen_input_symbol_assignment`, `_codegen_dynamic_scalar`, `codegen_dynamic_slice_size` and
`_generate_symbolic_call_arg_helper` in `torch/_inductor/codegen/cpp_wrapper_cpu.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Size
from aoti_logs.code.wrapper.bind import SYMBOL, cpp_value

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_cpp.read import EntryBody

SIZE_OF = re.compile(r"(?P<tensor>\w+?)_(?P<what>size|stride)\[(?P<dim>\d{1,9})\]")
_SIZE_CALL = re.compile(r"(?P<tensor>\w+)\.(?P<what>size|stride|sizes\(\)\.at|sym_size)\((?P<dim>\d{1,9})\)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_INTEGER_TYPES = frozenset(
    {"int64_t", "int32_t", "long", "int", "double", "float", "bool", "auto", "uint32_t", "size_t"}
)


class Sizes:
    """Writes down what the entry function says of sizes."""

    def __init__(self, body: EntryBody) -> None:
        self.body = body

    def is_one(self, kind: str, name: str, value: str) -> bool:
        """Tell whether `kind name = value` sets a size."""
        if kind not in _INTEGER_TYPES or re.match(r"var_\d+$|tmp_var_", name):
            return False
        if kind != "auto":
            return not value.startswith(("reinterpret_cast", "torch::", "py_"))
        return bool(
            SYMBOL.match(name)
            or SIZE_OF.fullmatch(value)
            or _SIZE_CALL.fullmatch(value)
            or value in self.body.names.sizes
        )

    def take(self, name: str, value: str, text: str, line: int) -> bool:
        """Take a size and what it is set to."""
        match = SIZE_OF.fullmatch(value) or _SIZE_CALL.fullmatch(value)
        unbacked = name.startswith("u") and SYMBOL.fullmatch(name) is not None
        if match:
            stride = match["what"] == "stride"
            self.add(Size(name, line, text, match["tensor"], int(match["dim"]), stride, unbacked=unbacked))
        elif _IDENTIFIER.fullmatch(value) and value not in {"true", "false"}:
            unbacked = any(s.symbol == value and s.unbacked for s in self.body.sizes[-8:])
            self.add(Size(name, line, text, alias_of=value, unbacked=unbacked))
        else:
            self.add(Size(name, line, text, value=cpp_value(value), unbacked=unbacked))
        return True

    def add(self, size: Size) -> None:
        """Write a size down; its name is one from here on."""
        self.body.sizes.append(replace(size, at=len(self.body.launches)))
        self.body.names.sizes.add(size.symbol)

"""Constants that a model computes of others when it is loaded, and what it computes them of.

With `aot_inductor.use_runtime_constant_folding`, `codegen_const_run_driver` (`torch/_inductor/codegen/cpp_wrapper_cpu.py`)
prints which of them is which output of `_const_run_impl`, the entry function of a small graph of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_cpp.landmarks import folding_function
from aoti_logs.code.wrapper_cpp.text import as_call, statements

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_NAMED = re.compile(rb'folded_constants_map\["([^"\n]*)"\] = output_handles\[(\d{1,9})\];')
_CONSTANT = re.compile(
    r"auto&? (\w+) = (?:constants_->at\(\d+\)|\*tensor_handle_to_tensor_pointer\(constants_->at\(\d+\)\))"
)
_DEFINED = re.compile(
    r"\b(?:auto|decltype\(auto\)|RAIIAtenTensorHandle|AtenTensorHandle|at::Tensor)[*&]?\s+(\w+)\b"
)
_OUTPUT = re.compile(r"\boutput_handles\[(\d{1,9})\]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_REUSE = re.compile(r"(?:auto|decltype\(auto\)) \w+ = std::move\(buf\d+\)")
_HANDLE = re.compile(r"(\w+)_handle\b")
_CHECKED = re.compile(r"AOTI_TORCH_ERROR_CODE_CHECK\((.*)\)", re.S)
_MEMORY = re.compile(
    r"aoti_torch_(?:empty_strided|get_|delete_|new_tensor_handle|assign_|_alloc|_reinterpret|clone)"
)
_MOST_OUTPUTS = 2000


@dataclass(frozen=True)
class Folding:
    """How a folded constant comes into being.

    `reads` are the constants that its computation may read: all that stand in calls which touch what it is made of. `calls` are
    the kernels and operators in it, in program order. Both are None when the function that folds cannot be read.
    """

    name: str
    output: int
    line: int
    reads: tuple[str, ...] | None
    calls: tuple[str, ...] | None


def foldings(source: Source) -> dict[str, Folding]:
    """Return how each constant that a wrapper folds when it is loaded is computed, by its generated name."""
    named = [
        (m[1].decode("utf-8", "replace"), int(m[2]), source.line_at(m.start()))
        for m in _NAMED.finditer(source.data)
    ]
    if not named:
        return {}
    function = folding_function(source.data)
    if function is None or function[2] <= function[1] or len(named) > _MOST_OUTPUTS:
        return {name: Folding(name, output, line, None, None) for name, output, line in named}
    body = _Body(source.cut(function[1], function[2]))
    return {name: Folding(name, output, line, *body.behind(output)) for name, output, line in named}


class _Body:
    """The statements of the function, and which of them touch which tensor."""

    def __init__(self, text: str) -> None:
        self.constants: dict[str, int] = {}
        self.texts: list[str] = []
        self.names: list[set[str]] = []
        defined: set[str] = set()
        for statement in statements(text):
            if statement.kind == "comment":
                continue
            told = statement.text
            if match := _CONSTANT.search(told):
                self.constants[match[1]] = len(self.constants)
            elif not _REUSE.match(told):
                self.texts.append(told)
                found = set(_NAME.findall(told))
                found |= {m[1] for m in _HANDLE.finditer(told)}
                found |= {f"output_handles[{m[1]}]" for m in _OUTPUT.finditer(told)}
                self.names.append(found)
                defined |= {m[1] for m in _DEFINED.finditer(told)}
        defined -= {"kernels"}
        tensors = defined | set(self.constants)
        self.touching: dict[str, list[int]] = {}
        for at, found in enumerate(self.names):
            kept = {n for n in found if n in tensors or "[" in n}
            self.names[at] = kept
            for name in kept:
                self.touching.setdefault(name, []).append(at)

    def behind(self, output: int) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """Return (constants, calls) behind an output; (None, None) when nothing writes it."""
        start = f"output_handles[{output}]"
        if start not in self.touching:
            return None, None
        waiting, seen, taken = [start], {start}, set()
        reads: set[str] = set()
        while waiting:
            for at in self.touching[waiting.pop()]:
                if at in taken:
                    continue
                taken.add(at)
                for name in self.names[at] - seen:
                    seen.add(name)
                    if name in self.constants:
                        reads.add(name)
                    elif "[" not in name:
                        waiting.append(name)
        calls = [call for at in sorted(taken) if (call := _called(self.texts[at])) is not None]
        return tuple(sorted(reads, key=self.constants.__getitem__)), tuple(calls)


def _called(text: str) -> str | None:
    """Return the kernel or operator that a statement calls; None for what only manages memory."""
    checked = _CHECKED.fullmatch(text)
    call = as_call(checked[1] if checked is not None else text)
    if call is None or call[2] or _MEMORY.match(call[0]) or "::" in call[0] or "." in call[0]:
        return None
    return call[0]

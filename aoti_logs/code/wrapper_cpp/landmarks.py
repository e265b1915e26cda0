"""Where kernels and functions of a C++ wrapper begin, found in its bytes by literals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import at_line_starts, cpp_starts, occurrences

if TYPE_CHECKING:
    import mmap

    Data = bytes | mmap.mmap

_CALL_START = re.compile(rb"static (?:inline |__attribute__\(\(noinline\)\) )?void call_([\w\x80-\xff]+)\(")
_LAZY_START = re.compile(rb"static const char\* ([\w\x80-\xff]+)_source = R\"TRITON\(")
_SLOT = re.compile(
    rb"^\s+(?:void\*|CUfunction|hipFunction_t|std::unique_ptr<sycl::kernel>) ([\w\x80-\xff]+)\{nullptr\};",
    re.M,
)
_STATIC = re.compile(
    rb"static (?:CUfunction|hipFunction_t|std::unique_ptr<sycl::kernel>|void ?\*) ([\w\x80-\xff]+) = nullptr;"
)
_STARTS = (
    (b" void call_", _CALL_START, "call"),
    (b'_source = R"TRITON(', _LAZY_START, "lazy"),
)
_ENTRY_LITERALS = (b"::run_impl", b" inductor_entry_impl(", b" inductor_entry_cpp(")
_ENTRY = re.compile(
    rb"(?:template <>\s+)?(?:void|AOTInductorModelOutputs) (?P<name>\w+::run_impl(?:_minimal_arrayref_interface)?)"
    rb"(?:<[^>]{0,400}>)?\("
    rb"|void (?P<jit>inductor_entry_impl)\(|std::vector<at::Tensor> (?P<old>inductor_entry_cpp)\("
)
_CONST_ENTRY = re.compile(rb"void (?P<name>\w+::_const_run_impl)\(")
_ARRAY_REFERENCES = b"_minimal_arrayref_interface"
_SIGNATURE_END = re.compile(rb"\)[^\S\n]*\{[^\S\n]*\n|\)[^\S\n]*\{\}")

Function = tuple[bytes, int, int]
"""Name, start of the body, end of the body."""


def kernel_starts(data: Data) -> list[tuple[int, str, str]]:
    """Return (offset, name, form) of every kernel definition or declaration, in order."""
    found = [(m.start(), m[1].decode("utf-8", "replace"), "cpp") for m in cpp_starts(data)]
    for literal, pattern, form in _STARTS:
        for at in occurrences(data, literal):
            match = pattern.match(data, data.rfind(b"\n", 0, at) + 1)
            if match is not None:
                found.append((match.start(), match[1].decode("utf-8", "replace"), form))
    return sorted(found)


def kernel_slots(data: Data) -> tuple[str, ...]:
    """Return the names of the kernels that the model, or the file of torch.compile, keeps a function pointer for."""
    found = tuple(m[1].decode("utf-8", "replace") for m in at_line_starts(data, _STATIC, b" = nullptr;"))
    return found or _model_slots(data)


def _model_slots(data: Data) -> tuple[str, ...]:
    start = data.find(b"class AOTInductorModelKernels :")
    if start < 0:
        return ()
    end = data.find(b"\n};", start)
    names = (m[1].decode("utf-8", "replace") for m in _SLOT.finditer(data, start, max(end, start)))
    return tuple(n for n in names if not n.endswith(("_kernel_fn", "_launcher_fn")))


def entry_function(data: Data) -> Function | None:
    """Return the function that runs the model."""
    return _function(data, _ENTRY, _ENTRY_LITERALS)


def folding_function(data: Data) -> Function | None:
    """Return the function that folds constants."""
    return _function(data, _CONST_ENTRY, (b"::_const_run_impl(",))


def _function(data: Data, start: re.Pattern[bytes], literals: tuple[bytes, ...]) -> Function | None:
    """Return the first definition that matches."""
    for at in (at for literal in literals for at in occurrences(data, literal)):
        match = start.match(data, data.rfind(b"\n", 0, at) + 1)
        if match is None:
            continue
        head = _SIGNATURE_END.search(data, match.end())
        semicolon = data.find(b";", match.end())
        if head is None or (0 <= semicolon < head.start() and b"//" not in data[match.end() : semicolon]):
            continue
        name = next(g for g in match.groups() if g)
        if head[0].endswith(b"{}"):
            return name, head.end(), head.end()
        # The function with array references ends with the name of the one without.
        end = data.find(b"\n} // " + name.removesuffix(_ARRAY_REFERENCES) + b"\n", head.end())
        if end < 0:
            end = data.find(b"\n}", head.end() - 1)
        return name, head.end(), len(data) if end < 0 else end + 1
    return None

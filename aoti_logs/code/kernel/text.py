"""Kernel definitions found in text: C++ (`extern "C" void name(...)`) and Triton (`@triton.jit def name(...)`).

C++ kernels are printed by `torch/_inductor/codegen/cpp.py` (class `KernelGroup`), Triton ones by
`torch/_inductor/codegen/triton.py` and, for kernels that a user wrote, by
`PythonWrapperCodegen.define_user_defined_triton_kernel` in `codegen/wrapper.py`. Only the frame of a kernel is
read here: name, lines, parameters and the messages of its checks.
"""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.body import Param
from aoti_logs.code.model import Backend, Kernel
from aoti_logs.code.wrapper_cpp.text import closing, split_arguments, string_value

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator, Sequence

    from aoti_logs.sources.source import Source

CPP_START = re.compile(
    rb'extern "C"\s+(?:__declspec\(dllexport\)\s+|PT_EXPORT\s+)?(?:inline\s+)?(?:void|int)\s+(\w+)\('
)
"""Where a C++ kernel is declared or defined."""

_CHECK = re.compile(r"\b(?:AOTI_TORCH_CHECK|TORCH_CHECK|(device_assert))\s*\(")
_PYTHON_TOKEN = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{},]")
_PARAM = re.compile(r"(?P<dtype>.*?[\s*&])(?P<name>\w+)\s*(?:=.*)?$", re.DOTALL)


def occurrences(data: bytes | mmap.mmap, literal: bytes, start: int = 0) -> Iterator[int]:
    """Yield the offsets of a literal: much faster than a pattern, which then only looks where it stands."""
    at = data.find(literal, start)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal))


def at_line_starts(
    data: bytes | mmap.mmap, pattern: re.Pattern[bytes], *literals: bytes
) -> list[re.Match[bytes]]:
    """Return the matches of a pattern at the starts of lines, in order; only lines with a literal are tried."""
    starts = set()
    for literal in literals:
        at = data.find(literal)
        while at >= 0:
            starts.add(data.rfind(b"\n", 0, at) + 1)
            end = data.find(b"\n", at)
            at = data.find(literal, end) if end >= 0 else -1
    return [m for start in sorted(starts) if (m := pattern.match(data, start)) is not None]


def quoted(data: bytes | mmap.mmap, message: str) -> Iterator[int]:
    """Yield the offsets where a message stands in quotes of its own."""
    literal = message.encode()
    for at in occurrences(data, literal) if literal else ():
        if (
            data[at - 1 : at] in {b'"', b"'"}
            and data[at - 1 : at] == data[at + len(literal) : at + len(literal) + 1]
        ):
            yield at


def cpp_starts(data: bytes | mmap.mmap) -> Iterator[re.Match[bytes]]:
    """Yield where C++ kernels are declared or defined."""
    for at in occurrences(data, b'extern "C"'):
        match = CPP_START.match(data, at)
        # `__avx_chk_kernel` is inductor's probe of the machine's vector instructions.
        if match is not None and not match[1].startswith((b"__", b"AOTI")):
            yield match


def cpp_kernels(source: Source) -> tuple[Kernel, ...]:
    """Return the C++ kernels that are defined in a source (declarations are left out), in order."""
    data = source.data
    found = []
    for match in cpp_starts(data):
        kernel = cpp_kernel_at(source, match.start())
        if kernel is not None and kernel.end_line > kernel.line and _is_definition(source, match.start()):
            found.append(kernel)
    return tuple(found)


def cpp_kernel_at(
    source: Source, start: int, name: str | None = None, limit: int | None = None
) -> Kernel | None:
    """Return the C++ kernel whose `extern "C"` is at byte `start`; `name` replaces its own name.

    The definition ends before byte `limit` at the latest.

    A declaration gives a kernel without checks, whose lines are those of the declaration.
    """
    match = CPP_START.match(source.data, start)
    if match is None:
        return None
    head = _cut_head(source, match.end() - 1)
    end = closing(head, 0)
    line = source.line_at(start)
    if end < 0:
        return Kernel(name or match[1].decode("utf-8", "replace"), Backend.CPP, source, line, line)
    params = cpp_params(head[1:end])
    if head[end + 1 :].lstrip().startswith(";"):
        last = line + head.count("\n", 0, end)
        return Kernel(name or match[1].decode("utf-8", "replace"), Backend.CPP, source, line, last, params)
    stop = _block_end(source, match.end())
    stop = stop if limit is None else min(stop, limit)
    text = source.cut(start, stop)
    return Kernel(
        name or match[1].decode("utf-8", "replace"),
        Backend.CPP,
        source,
        line,
        line + text.rstrip("\n").count("\n"),
        params,
        asserts=tuple(check_messages(text, line)),
    )


def _is_definition(source: Source, start: int) -> bool:
    head = _cut_head(source, source.data.find(b"(", start))
    return not head[closing(head, 0) + 1 :].lstrip().startswith(";")


def _cut_head(source: Source, start: int) -> str:
    """Return the text from a `(`: long enough for any parameter list that inductor writes."""
    data = source.data
    stop = data.find(b")", start)
    return source.cut(start, min(len(data), (stop if stop >= 0 else start) + 40))


def _block_end(source: Source, start: int) -> int:
    """Return where the definition ends: after the first `}` that stands at the start of a line."""
    data = source.data
    at = data.find(b"\n}", start)
    return len(data) if at < 0 else at + 2


def cpp_params(text: str) -> tuple[Param, ...]:
    """Return the parameters of a C++ parameter list (the text between its parentheses)."""
    params = []
    for part in split_arguments(text):
        match = _PARAM.fullmatch(" ".join(part.split()))
        if match is not None:
            dtype = match["dtype"].strip()
            params.append(Param(match["name"], dtype, "*" in dtype))
    return tuple(params)


def check_messages(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield (line, message) of every bounds check in the text of a kernel; the first line is `first_line`."""
    line, at, torn = first_line, 0, 0
    if "TORCH_CHECK" not in text and "device_assert" not in text:
        return
    for match in _CHECK.finditer(text):
        if match[1] is None:
            parts = _cpp_arguments(text, match.end() - 1)
        else:
            parts = python_arguments(text[match.end() - 1 : match.end() + _LONGEST_CHECK], 0)
        if parts is None:
            torn += 1
            if torn > _MOST_TORN:
                return
            continue
        if _is_comment(text, match.start()):
            continue
        message = next((m for m in map(_message, reversed(parts)) if m is not None), None)
        if message is not None:
            line += text.count("\n", at, match.start())
            at = match.start()
            yield line, message


_LONGEST_CHECK = 4000
_MOST_TORN = 200
"""So many checks that do not end are no kernel's."""


def _is_comment(text: str, at: int) -> bool:
    """Tell whether the line begins as a comment of Python."""
    start = text.rfind("\n", max(0, at - _LONGEST_CHECK), at) + 1
    return at - start <= _LONGEST_CHECK and text[start:at].lstrip().startswith("#")


def _cpp_arguments(text: str, start: int) -> tuple[str, ...] | None:
    stop = text.find("\n", start)
    line = text[start : len(text) if stop < 0 else stop]
    for call in (line, text[start : start + _LONGEST_CHECK]):
        end = closing(call, 0)
        if end >= 0:
            return split_arguments(call[1:end])
    return None


def python_arguments(text: str, start: int) -> tuple[str, ...] | None:
    """Return what stands between the commas of a bracket of Python, without comments; None when it does not close."""
    parts: list[str] = []
    kept: list[str] = []
    at, depth = start + 1, 0
    for token in _PYTHON_TOKEN.finditer(text, start):
        mark = token.group()
        if mark.startswith("#"):
            kept.append(text[at : token.start()])
            at = token.end()
        elif len(mark) == 1 and mark != ",":
            depth += 1 if mark in "([{" else -1
        if depth <= 0 or (mark == "," and depth == 1):
            parts.append("".join((*kept, text[at : token.start()])).strip())
            kept.clear()
            at = token.end()
        if depth <= 0:
            return tuple(parts if parts[-1] else parts[:-1])
    return None


def _message(part: str) -> str | None:
    part = part.removeprefix("msg=")
    if part.startswith("'") and part.endswith("'") and len(part) > 1:
        return re.sub(r"\\([\\'])", r"\1", part[1:-1])
    return string_value(part)


def triton_kernels(source: Source) -> tuple[Kernel, ...]:
    """Return the Triton kernel of a cache `.py` file: the function that a heuristics decorator wraps."""
    kernel = triton_kernel(source, source.text, 1)
    return () if kernel is None else (kernel,)


def triton_kernel(
    source: Source, text: str, first_line: int, *, name: str | None = None, path: str | None = None
) -> Kernel | None:
    """Return the kernel that the text of a Triton kernel file defines.

    Args:
        source: where the text stands.
        text: content of the kernel file, indented or not.
        first_line: line of `source` that holds line 1 of the kernel file.
        name: the name that the wrapper calls it by (a user's kernel `scale` is called `scale_0`).
        path: the cache file that the wrapper names for it.
    """
    read = _kernel_file if len(text) <= _LONGEST_KEPT else _kernel_file.__wrapped__
    found, params, asserts, lines = read(text)
    if found is None and name is None:
        return None
    return Kernel(
        name or found or "",
        Backend.TRITON,
        source,
        first_line,
        first_line + lines,
        params,
        first_line=first_line,
        path=path,
        asserts=tuple((first_line + line, message) for line, message in asserts),
    )


_LONGEST_KEPT = 1 << 16


@lru_cache(maxsize=512)
def _kernel_file(
    text: str,
) -> tuple[str | None, tuple[Param, ...], tuple[tuple[int, str], ...], int]:
    """Return name, parameters, checks and the number of line ends of a kernel file; lines count from 0.

    The same kernel stands in the wrapper, in its cache file, and in the wrappers of other ranks.
    """
    first = text.lstrip("\n")[:1]
    # One line without indent is enough to know that there is nothing to take away.
    plain = textwrap.dedent(text) if first.isspace() else text
    found, params = _kernel_function(plain)
    return found, params, tuple(check_messages(plain, 0)), plain.rstrip().count("\n")


_DEF = re.compile(r"def (\w+)\(")
_SIGNATURE = re.compile(r"['\"]signature['\"]\s*:\s*\{")
_SIGNATURE_ENTRY = re.compile(r"(?:['\"](\w+)['\"]|(\d+))\s*:\s*['\"]([^'\"\n]*)['\"]")
_TRITON_PARAM = re.compile(r"\*{0,2}([A-Za-z_]\w*)\s*(?::\s*([^=]*))?")


def _kernel_function(text: str) -> tuple[str | None, tuple[Param, ...]]:
    """Return name and parameters of the kernel among the functions of a file; only its head is parsed."""
    found = _chosen(text)
    if found is None:
        return None, ()
    match, decorators = found
    parts = python_arguments(text, match.end() - 1)
    return match[1], _triton_params(parts or (), _signature(decorators))


def decorators_of(text: str, name: str | None = None) -> str | None:
    """Return what stands between a Triton kernel's `def` and the function before it; None without a kernel.

    Args:
        text: a kernel file, not indented.
        name: the kernel's name; without one that fits, the kernel is the one that a decorator tells.
    """
    found = _chosen(text, name)
    return None if found is None else found[1]


def _chosen(text: str, name: str | None = None) -> tuple[re.Match[str], str] | None:
    """Return the kernel among the functions of a file, and what stands above it.

    It is the one of that name, else the last function under a decorator of `triton_heuristics`, else the last under
    `triton.jit`, else, in a text that lost its decorators and where no name is asked for, the last function.
    """
    best: tuple[int, re.Match[str], str] | None = None
    above = 0
    for match in _functions(text):
        # Decorators stand between the body before (indented) and the `def`.
        decorators = text[above : match.start()]
        at = max(decorators.rfind("\n@triton_heuristics."), decorators.rfind("\n@triton.autotune"))
        rank = 3 if match[1] == name else 2 if at >= 0 else 1 if "@triton" in decorators else 0
        # Without decorators, a function of another name may be whatever follows a torn text.
        if (rank or name is None) and (best is None or rank >= best[0]):
            best = rank, match, decorators
        above = match.end()
    return None if best is None else best[1:]


def _functions(text: str) -> Iterator[re.Match[str]]:
    """Return the heads of functions at the start of a line."""
    starts = [0] if text.startswith("def ") else []
    starts += [found + 1 for found in _found(text, "\ndef ")]
    return (match for start in starts if (match := _DEF.match(text, start)) is not None)


def _found(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _triton_params(parts: Sequence[str], types: dict[str, str]) -> tuple[Param, ...]:
    params = []
    for place, part in enumerate(parts):
        match = _TRITON_PARAM.match(part)
        if match is None:
            continue
        dtype = types.get(match[1], types.get(str(place), ""))
        if "constexpr" in (match[2] or ""):
            dtype = "constexpr"
        elif dtype == "constexpr":
            # A number that the compile knew (`load_seed_offset1`, `xnumel` of 1): it is passed like any other.
            dtype = ""
        params.append(Param(match[1], dtype, dtype.startswith("*")))
    return tuple(params)


def _signature(decorators: str) -> dict[str, str]:
    """Return `triton_meta['signature']`: parameter name to type.

    Torch before 2.6 wrote positions for names (`{0: '*fp32', 1: 'i32'}`).
    """
    match = _SIGNATURE.search(decorators, max(decorators.find("signature") - 1, 0))
    # No type has braces in it; the quotes of Python are not those that `closing` knows.
    end = -1 if match is None else decorators.find("}", match.end())
    if match is None or end < 0:
        return {}
    return {m[1] or m[2]: m[3] for m in _SIGNATURE_ENTRY.finditer(decorators, match.end(), end)}

"""Kernel definitions found in text: C++ (`extern "C" void name(...)`) and Triton (`@triton.jit def name(...)`).

C++ kernels are printed by `torch/_inductor/codegen/cpp.py` (class `KernelGroup`), Triton ones by
`torch/_inductor/codegen/triton.py` and, for kernels that a user wrote, by
`PythonWrapperCodegen.define_user_defined_triton_kernel` in `codegen/wrapper.py`. Only the frame of a kernel is
read here: name, lines, parameters and the messages of its checks.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING

from aoti_logs.code.body import Param
from aoti_logs.code.model import Backend, Kernel
from aoti_logs.code.wrapper_text import closing, split_arguments, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Source

CPP_START = re.compile(
    rb'extern "C"[^\S\n]+(?:__declspec\(dllexport\)[^\S\n]+)?(?:inline[^\S\n]+)?void[^\S\n]+(\w+)\('
)
"""Where a C++ kernel is declared or defined."""

_CHECK = re.compile(r"\b(?:AOTI_TORCH_CHECK|TORCH_CHECK|device_assert)\s*\(")
_PARAM = re.compile(r"(?P<dtype>.*?[\s*&])(?P<name>\w+)\s*(?:=.*)?$", re.DOTALL)
_FILE_INCLUDE = re.compile(rb"Triton kernels are embedded as comments in (\S+)")


def cpp_kernels(source: Source) -> tuple[Kernel, ...]:
    """Return the C++ kernels that are defined in a source (declarations are left out), in order."""
    data = source.data
    found = []
    for match in CPP_START.finditer(data):
        if match[1].startswith(b"__"):
            continue  # `__avx_chk_kernel`: inductor's probe of the machine's vector instructions
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
    line, at = first_line, 0
    for match in _CHECK.finditer(text):
        stop = text.find("\n", match.end())
        stop = len(text) if stop < 0 else stop
        end = closing(text[match.end() - 1 : stop], 0)
        if end < 0:
            end = closing(text[match.end() - 1 : match.end() + 4000], 0)
        if end < 0:
            continue
        parts = split_arguments(text[match.end() : match.end() - 1 + end])
        message = next((m for m in map(_message, reversed(parts)) if m is not None), None)
        if message is not None:
            line += text.count("\n", at, match.start())
            at = match.start()
            yield line, message


def _message(part: str) -> str | None:
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
    plain = textwrap.dedent(text)
    last = first_line + plain.rstrip().count("\n")
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found, params = _torn_def(plain)
    else:
        function = _kernel_function(tree)
        found = None if function is None else function.name
        params = () if function is None else _triton_params(function)
    if found is None and name is None:
        return None
    return Kernel(
        name or found or "",
        Backend.TRITON,
        source,
        first_line,
        last,
        params,
        first_line=first_line,
        path=path,
        asserts=tuple(check_messages(plain, first_line)),
    )


def _kernel_function(tree: ast.Module) -> ast.FunctionDef | None:
    jitted = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any("jit" in _decorator(d) for d in node.decorator_list)
    ]
    heuristic = [f for f in jitted if any("heuristics" in _decorator(d) for d in f.decorator_list)]
    return next(iter([*heuristic[-1:], *jitted[-1:]]), None)


def _decorator(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _calls(function: ast.FunctionDef) -> list[ast.Call]:
    return [d for d in function.decorator_list if isinstance(d, ast.Call)]


def _triton_params(function: ast.FunctionDef) -> tuple[Param, ...]:
    types = _signature(function)
    params = []
    for arg in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
        annotation = "" if arg.annotation is None else ast.unparse(arg.annotation)
        dtype = "constexpr" if "constexpr" in annotation else types.get(arg.arg, "")
        params.append(Param(arg.arg, dtype, dtype.startswith("*")))
    return tuple(params)


def _signature(function: ast.FunctionDef) -> dict[str, str]:
    """Return `triton_meta['signature']`: parameter name to type.

    Torch before 2.6 with old Triton wrote positions for names (`{0: '*fp32', 1: 'i32'}`).
    """
    for call in _calls(function):
        for keyword in call.keywords:
            if keyword.arg == "triton_meta" and isinstance(keyword.value, ast.Dict):
                return _signature_entries(keyword.value, function)
    return {}


def _signature_entries(meta: ast.Dict, function: ast.FunctionDef) -> dict[str, str]:
    names = [a.arg for a in function.args.args]
    for key, value in zip(meta.keys, meta.values, strict=True):
        if not (isinstance(key, ast.Constant) and key.value == "signature" and isinstance(value, ast.Dict)):
            continue
        found = {}
        for param, dtype in zip(value.keys, value.values, strict=True):
            if not (isinstance(param, ast.Constant) and isinstance(dtype, ast.Constant)):
                continue
            place = param.value
            if isinstance(place, int):
                place = names[place] if 0 <= place < len(names) else None
            if isinstance(place, str):
                found[place] = str(dtype.value)
        return found
    return {}


_DEF = re.compile(r"^def (\w+)\(([^()]*)\)\s*:", re.MULTILINE)


def _torn_def(text: str) -> tuple[str | None, tuple[Param, ...]]:
    """Return name and parameters of the last `def` of a text that does not parse (cut off, merged)."""
    match = next(reversed(list(_DEF.finditer(text))), None)
    if match is None:
        return None, ()
    params = []
    for part in match[2].split(","):
        name, _, annotation = (p.strip() for p in part.partition(":"))
        if name:
            params.append(Param(name, "constexpr" if "constexpr" in annotation else "", False))
    return match[1], tuple(params)


def named_wrapper(source: Source) -> str | None:
    """Return the wrapper's path from the first line of a `.kernel.cpp` file, if it has one."""
    match = _FILE_INCLUDE.search(bytes(source.data[:4096]))
    return None if match is None else match[1].decode("utf-8", "replace")

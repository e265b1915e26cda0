"""What a frame is: its function's name, whether it is the model's own code, why a signature leaves it out.

`parse/stacks/machinery.py` holds the rules as data. A signature is a hash over the names of the frames that are left, so
addresses, offsets, paths and template arguments do not change it, and lambdas and what is inlined seldom do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from aoti_logs.parse.stacks.demangle import demangled
from aoti_logs.parse.stacks.machinery import MACHINERY, Machinery
from aoti_logs.parse.stacks.native_name import native_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.events import Frame, Stack

NO_SYMBOL = "no symbol"
"""Why a frame without a name is left out of a signature."""
_DEEP = 16  # frames that a signature looks at
_KERNEL = re.compile(
    r"(?:call_)?(?:triton_\w*_|triton_(?:poi|red|per|tem|mm|bmm|conv|unk|for)|cpp_fused|cpp_\w*Gemm|kernel_cpp_)"
)
_RUN = re.compile(
    r"(?:^|::)AOTInductorModel::(?:_?const_)?run_impl(?:$|::)|(?:^|::)AOTInductorModel::run_single_threaded"
)
# Inductor names its files by a hash in base 32.
_GENERATED = re.compile(
    r"(?:^|[/\\])c[a-z2-7]{50,51}(?:\.(?:wrapper|kernel|main|consts))?\.(?:so|pyd|dll|cpp|cu|py)$"
)
_MODEL_FOLDER = re.compile(r"[/\\]aotinductor[/\\]")
_SYSTEM = (
    "c10::",
    "at::",
    "torch::",
    "std::",
    "aoti_torch",
    "__",
    "_start",
    "pybind11::",
    "AOTInductorModel",
    "aoti_",
)


@lru_cache(maxsize=1 << 15)
def qualified(symbol: str) -> str | None:
    """Return the qualified name of a symbol, mangled or not, or None where none can be read."""
    name = native_name(demangled(symbol) or symbol)
    return None if name is None else name.qualified


def frame_name(frame: Frame) -> str | None:
    """Return the qualified name of a frame's function."""
    return None if frame.symbol is None else qualified(frame.symbol)


@lru_cache(maxsize=1 << 15)
def _is_model(symbol: str | None, library: str | None, file: str | None) -> bool:
    name = None if symbol is None else qualified(symbol) or symbol
    if name is not None and (_KERNEL.match(name) or _RUN.search(name)):
        return True
    if name is not None and name.startswith(_SYSTEM):
        return False
    inside = any(p is not None and _GENERATED.search(p) for p in (library, file))
    return inside or (library is not None and _MODEL_FOLDER.search(library) is not None)


def is_model(frame: Frame) -> bool:
    """Tell the model's own code: its kernels, `run_impl` of its wrapper, and what else stands in its library."""
    return _is_model(frame.symbol, frame.library, frame.file)


def in_model_library(frame: Frame) -> bool:
    """Tell whether a frame stands in the model's library or sources, the runtime that is compiled into it as well."""
    return any(
        p is not None and (_GENERATED.search(p) or _MODEL_FOLDER.search(p))
        for p in (frame.library, frame.file)
    )


@lru_cache(maxsize=1 << 15)
def _machinery(name: str | None, library: str | None) -> Machinery | None:
    base = (library or "").replace("\\", "/").rpartition("/")[2]
    for row in MACHINERY:
        if name is None and base and row.libraries and base.startswith(row.libraries):
            return row
        if name is not None and (name in row.names or _begins(name, row)):
            return row
    return None


def _begins(name: str, row: Machinery) -> bool:
    """Tell whether a name begins as a row says; a beginning without a scope is one of C functions."""
    return any(name.startswith(s) and ("::" in s or "::" not in name) for s in row.starts)


def machinery(frame: Frame) -> Machinery | None:
    """Return the row that a frame falls under, or None where it means something or nothing tells."""
    if is_model(frame):
        return None
    return _machinery(frame_name(frame), frame.library)


def skipped(frame: Frame) -> str | None:
    """Return why a signature leaves a frame out: a kind of `MACHINERY`, `NO_SYMBOL`, or None where it does not."""
    row = machinery(frame)
    if row is not None:
        return row.kind
    return NO_SYMBOL if frame.symbol is None else None


def meaningful(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return the frames that tell where it happened, innermost first; soft machinery where there is nothing else."""
    named = [(f, machinery(f)) for f in frames if f.symbol is not None]
    kept = [f for f, row in named if row is None]
    if not kept:
        kept = [f for f, row in named if row is not None and row.soft]
    return tuple(kept)


@lru_cache(maxsize=1 << 15)
def _comparable(symbol: str) -> str:
    name = qualified(symbol) or symbol
    name = re.sub(r"\[abi:\w+\]|::\{lambda.*$|::<lambda.*$", "", name)
    return name.removesuffix("::operator()")


def signature(stack: Stack) -> str | None:
    """Return 16 hex digits that equal stacks share, or None where no frame has a name."""
    names: list[str] = []
    for frame in meaningful(stack.frames):
        name = _comparable(frame.symbol or "")
        if not names or names[-1] != name:
            names.append(name)
        if len(names) == _DEEP:
            break
    return sha256("\n".join(names).encode()).hexdigest()[:16] if names else None

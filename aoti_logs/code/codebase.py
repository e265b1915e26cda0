"""All generated code that is at hand, each text once however many copies of it lie around.

The same wrapper is often a file of the cache, a member of the package, a record of the trace and
text in the log. Copies are recognised by their content; the one that a person opens most easily is
quoted, the names of all serve to recognise paths.
"""

from __future__ import annotations

import base64
import hashlib
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from aoti_logs.code.names.nearness import name_of_copy
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from aoti_logs.code.model import (
        Buffer,
        Call,
        CompiledModel,
        Constant,
        InputCheck,
        Kernel,
        Launch,
        Launcher,
        ModelInput,
        Release,
        Size,
    )


class Wrapper(Protocol):
    """A generated wrapper, C++ or Python, of which each part is read when first asked for."""

    @property
    def source(self) -> Source:
        """The text."""

    @property
    def flavour(self) -> str:
        """`aoti_cpp`, `jit_python` or `jit_cpp`."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices that the wrapper includes headers for."""

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of the kernels that it defines or declares."""

    @property
    def launches(self) -> tuple[Launch, ...]:
        """All launches and extern calls in program order."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The same without their arguments, which take most of the time."""

    def launch(self, index: int) -> Launch:
        """Return one of the launches."""

    def mentioning(self, names: Collection[str]) -> list[int]:
        """Return the launches that may read or write one of these buffers, in program order."""

    @property
    def inputs(self) -> tuple[ModelInput, ...]:
        """Run-time inputs."""

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Weights and other constants."""

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Definitions of size symbols."""

    @property
    def checks(self) -> tuple[InputCheck, ...]:
        """Run-time checks of inputs and sizes."""

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Births and renames of buffers."""

    @property
    def arrays(self) -> dict[str, tuple[str, ...]]:
        """Arrays that extents are passed in (C++ only), with their elements."""

    @property
    def releases(self) -> tuple[Release, ...]:
        """Ends of buffers, in program order."""

    @property
    def launchers(self) -> tuple[Launcher, ...]:
        """How kernels are started on their device, where the wrapper says it."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names that are returned, in order."""

    @property
    def unread(self) -> tuple[tuple[int, str], ...]:
        """(line, text) of statements of the entry function that no form fits."""

    @property
    def kernel_files(self) -> tuple[str, ...]:
        """Base names of files that belong together with this wrapper."""

    @property
    def model(self) -> CompiledModel:
        """All of it."""

    def kernel(self, name: str) -> Kernel | None:
        """Return the kernel of that name."""

    def kernels_with(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels that can print a message."""

    def launches_of(self, name: str) -> tuple[Launch, ...]:
        """Return the launches of a kernel in program order."""


@dataclass(frozen=True)
class Code:
    """One text of generated code: the source to quote and the names of all its copies."""

    source: Source
    names: tuple[str, ...]

    @cached_property
    def wrapper(self) -> Wrapper | None:
        """The wrapper in it, if it is one."""
        if self.source.kind is Kind.WRAPPER_CPP:
            from aoti_logs.code.wrapper_cpp.file import WrapperFile

            return WrapperFile(self.source)
        if self.source.kind is Kind.OUTPUT_CODE:
            from aoti_logs.code.wrapper_python.file import OutputCode

            return OutputCode(self.source)
        return None

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels whose bodies stand in this text."""
        from aoti_logs.code.kernel.text import cpp_kernels, triton_kernels

        if self.source.kind is Kind.TRITON_KERNEL:
            return triton_kernels(self.source)
        if self.source.kind is Kind.KERNEL_CPP:
            return cpp_kernels(self.source)
        if self.wrapper is not None:
            names = self.wrapper.kernel_names
            return tuple(k for n in names if (k := self.wrapper.kernel(n)) is not None)
        return ()

    def kernels_with(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in this text that can print a message."""
        if not any(
            self.source.data.find(m) >= 0 for m in {message.encode(), message.encode("unicode_escape")}
        ):
            return ()
        if self.wrapper is not None:
            return self.wrapper.kernels_with(message)
        return tuple(k for k in self.kernels if any(m == message for _, m in k.asserts))


_PREFERENCE = {Kind.WRAPPER_CPP: 0, Kind.OUTPUT_CODE: 0, Kind.KERNEL_CPP: 1, Kind.TRITON_KERNEL: 2}


class CodeBase:
    """Generated code by content and by name."""

    def __init__(self, sources: Iterable[Source]) -> None:
        groups: dict[bytes, list[Source]] = {}
        for source in sources:
            if source.kind in _PREFERENCE:
                groups.setdefault(_digest(source), []).append(source)
        codes = []
        self._copies: dict[int, tuple[str, ...]] = {}
        self._codes: dict[int, Code] = {}
        for copies in groups.values():
            copies.sort(key=lambda s: (_depth(s), s.name))
            # Where torch said it wrote the text is a name of it as well.
            written = [c.filename for c in copies if c.filename]
            names = dict.fromkeys([*(c.name for c in copies), *written])
            codes.append(Code(copies[0], tuple(names)))
            self._codes.update((id(c), codes[-1]) for c in copies)
            self._copies[id(copies[0])] = tuple(dict.fromkeys([*map(name_of_copy, copies), *written]))
        self.codes: tuple[Code, ...] = tuple(codes)

    def copies(self, source: Source) -> tuple[str, ...]:
        """Return the names, as `nearness` reads them, of all that hold the text of a source of `codes`."""
        known = self._copies.get(id(source))
        # The wrapper that torch.compile writes in C++ stands inside a Python file.
        return self._copies.get(id(source.parent), ()) if known is None else known

    def code_of(self, source: Source) -> Code | None:
        """Return the text that a source is a copy of."""
        return self._codes.get(id(source))

    @cached_property
    def wrappers(self) -> tuple[Code, ...]:
        """The texts that are wrappers.

        The file that AOTInductor runs to tune kernels when compiling has kernels and launches too,
        but no entry point: it is no wrapper of the model. The C++ that torch.compile writes into a Python file
        (cpp_wrapper) counts once: where its own file in the cache is at hand, that is the wrapper.
        """
        compiled = {
            _text_digest(_before_bindings(c.source)) for c in self.codes if c.source.kind is Kind.WRAPPER_CPP
        }
        return tuple(c for c in self.codes if _is_wrapper(c, compiled))

    @cached_property
    def kernel_files(self) -> tuple[Code, ...]:
        """The texts that hold kernels only."""
        return tuple(c for c in self.codes if c.source.kind in {Kind.KERNEL_CPP, Kind.TRITON_KERNEL})

    @cached_property
    def kernels_in_files(self) -> dict[str, list[tuple[Source, Kernel]]]:
        """Kernels of `kernel_files` by name, with the text that holds them."""
        found: dict[str, list[tuple[Source, Kernel]]] = {}
        for code in self.kernel_files:
            for kernel in code.kernels:
                found.setdefault(kernel.name, []).append((code.source, kernel))
        return found

    def named(self, path: str) -> tuple[tuple[Code, int], ...]:
        """Return the texts with the same file name as a path that a log quotes, best match first.

        The number tells how many trailing parts of the path agree (1: the file name alone).
        """
        found = []
        for code in self.codes:
            agree = max(common_tail(path, name) for name in code.names)
            if agree:
                found.append((code, agree))
        return tuple(sorted(found, key=lambda f: -f[1]))


def _is_wrapper(code: Code, compiled: Collection[bytes]) -> bool:
    if code.source.kind is not Kind.OUTPUT_CODE:
        return code.source.kind is Kind.WRAPPER_CPP
    if code.source.data.find(b"def call(") >= 0:
        return True
    if code.source.data.find(b"cpp_wrapper_src = (") < 0 or code.wrapper is None:
        return False
    # The wrapper's own source is the C++ inside; without it there is no entry point.
    inside = code.wrapper.source
    main = bytes(inside.data).partition(b'"""')[0]
    return inside.kind is Kind.WRAPPER_CPP and _text_digest(main) not in compiled


def _before_bindings(source: Source) -> bytes:
    # Appended by `CppPythonBindingsCodeCache` (torch/_inductor/codecache.py) before it compiles the C++.
    end = source.data.find(b"\n// Python bindings to call ")
    return bytes(source.data[:end] if end >= 0 else source.data)


def _digest(source: Source) -> bytes:
    # A trace holds the wrapper before the compile and link commands were appended.
    end = source.data.rfind(b"\n// Compile cmd")
    return _text_digest(bytes(source.data[:end] if end >= 0 else source.data))


def _text_digest(text: bytes) -> bytes:
    text = text.replace(b"\r\n", b"\n") if b"\r" in text else text
    return hashlib.sha256(text.strip()).digest()


def _depth(source: Source) -> int:
    depth, parent = 0, source.parent
    while parent is not None:
        depth += 2 if parent.kind in {Kind.TORCH_TRACE, Kind.LOG} else 1
        parent = parent.parent
    return depth


def path_parts(path: str) -> list[str]:
    """Split a path of any machine (POSIX, Windows, archive member, trace label) into parts."""
    return [p for p in path.replace("\\", "/").replace("!", "/").replace("#", "/").split("/") if p]


def common_tail(path: str, name: str) -> int:
    """Return how many trailing parts two paths share."""
    count = 0
    for one, other in zip(reversed(path_parts(path)), reversed(path_parts(name)), strict=False):
        if one != other:
            break
        count += 1
    return count


def cache_name(text: str) -> str:
    """Return the file name (without ending) that Inductor's cache gives a generated text.

    `torch/_inductor/codecache.py`, `write`: "c" and 51 characters of the base-32 SHA-256 of the
    stripped text. So a file name in a log can prove which text it was, without the file.
    """
    digest = hashlib.sha256(textwrap.dedent(text).strip().encode()).digest()
    return "c" + base64.b32encode(digest)[:51].decode().lower()


def kernel_text(kernel: Kernel) -> str:
    """Return the text of a Triton kernel's file as the cache holds it."""
    lines = kernel.source.lines_from(kernel.first_line, kernel.end_line)
    if lines and "'''" in lines[0]:
        # Inside a wrapper the text begins behind the quotes of `async_compile.triton('name', '''`.
        lines[0] = lines[0].rpartition("'''")[2]
    return textwrap.dedent("\n".join(lines))

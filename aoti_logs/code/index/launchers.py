"""From a kernel to the wrapper that launches it, and to the launch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import common_tail, kernel_text, path_parts
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence, weakest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.codebase import Code, CodeBase, Wrapper
    from aoti_logs.code.index.locate import Site
    from aoti_logs.code.model import Kernel, Launch
    from aoti_logs.parse.events import Frame, PythonFrame


@dataclass(frozen=True)
class Hints:
    """What the stacks of a failure say about files: (path, line) of frames in wrappers, libraries."""

    wrapper_lines: tuple[tuple[str, int], ...] = ()
    libraries: tuple[str, ...] = ()
    in_time: bool = True
    """True when the stack was taken at the failing launch itself; a GPU reports at a later call."""

    @classmethod
    def of(
        cls, frames: Sequence[Frame], python: Sequence[PythonFrame] = (), *, in_time: bool = True
    ) -> Hints:
        """Collect them from C++ frames and from the Python frames of torch.compile's wrappers."""
        lines = [
            (f.file, f.line)
            for f in frames
            if f.file and f.line and f.symbol and "run_impl" in f.symbol and ".cpp" in f.file
        ]
        lines += [(f.file, f.line) for f in python if f.function == "call" and f.file.endswith(".py")]
        libraries = [f.library for f in frames if f.library and "/aotinductor/" in f.library]
        return cls(tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(libraries)), in_time)

    @property
    def strength(self) -> Confidence:
        """How much a frame proves about the failing launch."""
        return Confidence.PROVEN if self.in_time else Confidence.LIKELY


def with_wrappers(sites: Sequence[Site], base: CodeBase, hints: Hints) -> tuple[Site, ...]:
    """Join each kernel with the wrappers that launch it; drop doubles.

    When several kernels or wrappers are left, none of them is more than possible.
    """
    done: dict[tuple[str, str, int], Site] = {}
    for site in sites:
        for full in _wrappers_of(site, base, hints):
            key = (full.kernel.name, full.wrapper.source.name if full.wrapper else "", _offset(full))
            if key not in done or _better(full, done[key]):
                done[key] = full
    found = list(done.values())
    # A kernel file without a wrapper says nothing more when the same kernel was found in one.
    joined = {_text(s.kernel) for s in found if s.wrapper is not None}
    found = [s for s in found if s.wrapper is not None or _text(s.kernel) not in joined]
    hinted = [s for s in found if s.by_stack]
    if hinted:
        found = hinted
    wrappers = {s.wrapper.source.name for s in found if s.wrapper is not None}
    if len(wrappers) > 1:
        why = f"{len(wrappers)} wrappers at hand launch it"
        found = [replace(s, wrapper_strength=Confidence.POSSIBLE, wrapper_why=why) for s in found]
    if len({(_text(s.kernel), _offset(s)) for s in found}) > 1:
        found = [replace(s, strength=Confidence.POSSIBLE) for s in found]
    return tuple(found)


def _text(kernel: Kernel) -> tuple[str, ...]:
    if kernel.backend is Backend.TRITON:
        return (kernel.name, kernel_text(kernel).strip())
    return tuple(_body(kernel))


def _offset(site: Site) -> int:
    start = site.kernel.first_line if site.kernel.backend is Backend.TRITON else site.kernel.line
    return site.line - start


def _better(one: Site, other: Site) -> bool:
    """Prefer the stronger, then the text inside the wrapper itself, which one opens anyway."""
    if one.strength is not other.strength:
        return weakest(one.strength, other.strength) is other.strength
    return one.wrapper is not None and one.kernel.source is one.wrapper.source


def _wrappers_of(site: Site, base: CodeBase, hints: Hints) -> Iterator[Site]:
    kernel = site.kernel
    candidates: list[tuple[Code, Confidence, str]] = []
    for code in base.wrappers:
        wrapper = code.wrapper
        if wrapper is None:
            continue
        if kernel.source is wrapper.source:
            candidates.append((code, Confidence.PROVEN, "the kernel's text stands in this wrapper"))
        elif kernel.backend is Backend.TRITON:
            other = wrapper.kernel(kernel.name)
            if other is not None and kernel_text(other).strip() == kernel_text(kernel).strip():
                candidates.append((code, Confidence.LIKELY, "the only wrapper at hand with this kernel"))
        elif _belongs(kernel, code, base):
            candidates.append((code, Confidence.PROVEN, "wrapper and kernel file name each other"))
        elif _same_cpp(kernel, wrapper) is not None:
            candidates.append((code, Confidence.PROVEN, "the kernel's text stands in this wrapper"))
    by_stack = _hinted(candidates, hints)
    if len(candidates) == 1 and candidates[0][1] is Confidence.PROVEN:
        # A late stack makes the only wrapper no less sure.
        chosen = candidates
    else:
        chosen = by_stack or _nearest(candidates, kernel)
    for code, strength, why in chosen:
        name = _same_cpp(kernel, code.wrapper) if code.wrapper is not None else None
        # The file of a torch.compile kernel calls its function `kernel`; the wrapper knows its name.
        known = kernel if name is None else replace(kernel, name=name)
        yield replace(
            site,
            kernel=known,
            wrapper=code.wrapper,
            wrapper_strength=strength,
            wrapper_why=why,
            by_stack=bool(by_stack),
        )
    if not chosen:
        yield site


def _belongs(kernel: Kernel, code: Code, base: CodeBase) -> bool:
    """Tell whether a `.kernel.cpp` and a wrapper name each other's files."""
    wrapper = code.wrapper
    if wrapper is None or kernel.name not in wrapper.kernel_names:
        return False
    copies = next((c.names for c in base.codes if c.source is kernel.source), (kernel.source.name,))
    files = {path_parts(n)[-1] for n in copies}
    if files & set(wrapper.kernel_files):
        return True
    own = {path_parts(n)[-1] for n in code.names}
    head = kernel.source.lines[0] if kernel.source.lines else ""
    tail = [line for line in kernel.source.lines[-8:] if line.startswith("//")]
    return any(name in text for name in own for text in (head, *tail))


def _same_cpp(kernel: Kernel, wrapper: Wrapper) -> str | None:
    """Return the name under which a Python wrapper holds the same C++ text (torch.compile on CPU)."""
    if wrapper.flavour != "jit_python" or kernel.name != "kernel":
        return None
    messages = {m for _, m in kernel.asserts}
    body = _body(kernel)
    return next((k.name for m in messages for k in wrapper.kernels_with(m) if _body(k) == body), None)


def _body(kernel: Kernel) -> list[str]:
    lines = [line.strip() for line in kernel.source.lines_from(kernel.line, kernel.end_line)]
    start = next((n for n, line in enumerate(lines) if 'extern "C"' in line), 0)
    end = max((n for n, line in enumerate(lines) if line.startswith("}")), default=len(lines) - 1)
    return lines[start + 1 : end + 1]


def _hinted(
    candidates: list[tuple[Code, Confidence, str]], hints: Hints
) -> list[tuple[Code, Confidence, str]]:
    """Let the stack decide: a frame in wrapper.cpp, or the library's name."""
    for path, _ in hints.wrapper_lines:
        named = [c for c in candidates if any(common_tail(path, n) for n in c[0].names)]
        best = max((common_tail(path, n) for c in named for n in c[0].names), default=0)
        named = [c for c in named if any(common_tail(path, n) == best for n in c[0].names)]
        if len(named) == 1:
            return [(named[0][0], hints.strength, "a stack frame of this run stands in this wrapper")]
    for library in hints.libraries:
        stem = path_parts(library)[-1].removesuffix(".so").removesuffix(".wrapper")
        named = [c for c in candidates if any(path_parts(n)[-1].startswith(stem) for n in c[0].names)]
        if len(named) == 1:
            return [(named[0][0], hints.strength, "the library in the stack is built from this wrapper")]
    return []


def _nearest(
    candidates: list[tuple[Code, Confidence, str]], kernel: Kernel
) -> list[tuple[Code, Confidence, str]]:
    """Prefer the wrapper that lies in the same folder or archive as the kernel file."""
    if len(candidates) < 2:
        return candidates
    folder = path_parts(kernel.source.name)[:-1]
    beside = [c for c in candidates if any(path_parts(n)[:-1] == folder for n in c[0].names)]
    if len(beside) == 1:
        return [(beside[0][0], Confidence.PROVEN, "the wrapper beside this kernel file")]
    proven = [c for c in candidates if c[1] is Confidence.PROVEN]
    if proven:
        return proven if len(proven) == 1 else [(c, Confidence.POSSIBLE, w) for c, _, w in proven]
    why = f"{len(candidates)} wrappers go with this kernel"
    return [(c, Confidence.POSSIBLE, why) for c, _, _ in candidates]


def launch_of(site: Site, hints: Hints) -> tuple[tuple[Launch, ...], Confidence, str]:
    """Return the launches of the site's kernel: the one a stack frame names, else all of them.

    A stack that was taken later than the launch only tells that the launch stands above it.
    """
    if site.wrapper is None:
        return (), Confidence.UNKNOWN, "no wrapper at hand"
    launches = site.wrapper.launches_of(site.kernel.name)
    if len(launches) == 1:
        return launches, Confidence.PROVEN, "its only launch"
    for path, line in hints.wrapper_lines:
        if not common_tail(path, site.wrapper.source.name):
            continue
        if hints.in_time:
            exact = [k for k in launches if k.line <= line <= k.line + k.text.count("\n")]
            if len(exact) == 1:
                return tuple(exact), Confidence.PROVEN, f"the stack of this run stands at line {line}"
        else:
            launches = tuple(k for k in launches if k.line <= line) or launches
    if launches:
        return launches, Confidence.POSSIBLE, f"{len(launches)} launches of this kernel"
    return (), Confidence.UNKNOWN, "no launch of it in the wrapper"

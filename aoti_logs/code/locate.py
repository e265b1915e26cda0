"""From a failed assertion to the kernel that holds it and the wrapper that launches it.

Best evidence first: the file that the assertion names (by name, or by the hash that Inductor's
cache uses as a name), then file line and text together, then the text alone. Whatever level gives
an answer, all kernels that fit on that level are returned; nothing is chosen among equals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import cache_name, common_tail, kernel_text, path_parts
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence, weakest
from aoti_logs.parse.events import AssertionForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.codebase import Code, CodeBase, Wrapper
    from aoti_logs.code.model import Kernel, Launch
    from aoti_logs.parse.events import Assertion, Frame


@dataclass(frozen=True)
class Site:
    """A check in generated code that can have printed the assertion.

    `line` is the check's line in `kernel.source`. `strength` says how well the kernel is known,
    `wrapper_strength` how well the wrapper is (UNKNOWN without one).
    """

    kernel: Kernel
    line: int
    strength: Confidence
    why: str
    wrapper: Wrapper | None = None
    wrapper_strength: Confidence = Confidence.UNKNOWN
    wrapper_why: str = ""


@dataclass(frozen=True)
class Hints:
    """What the stacks of a run say about files: (path, line) of wrapper frames, library paths."""

    wrapper_lines: tuple[tuple[str, int], ...] = ()
    libraries: tuple[str, ...] = ()

    @classmethod
    def of(cls, frames: Sequence[Frame]) -> Hints:
        """Collect them from stack frames."""
        lines, libraries = [], []
        for frame in frames:
            if (
                frame.file
                and frame.line
                and frame.symbol
                and "run_impl" in frame.symbol
                and ".cpp" in frame.file
            ):
                lines.append((frame.file, frame.line))
            if frame.library and "/aotinductor/" in frame.library:
                libraries.append(frame.library)
        return cls(tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(libraries)))


def locate(assertion: Assertion, base: CodeBase, hints: Hints) -> tuple[Site, ...]:
    """Return every check that fits the best evidence there is; empty when none fits."""
    if assertion.form is AssertionForm.CPU:
        sites = _by_source_file(assertion, base) or _by_kernel_name(assertion, base)
    else:
        sites = _by_cache_file(assertion, base)
    sites = sites or _by_line_and_text(assertion, base) or _by_text(assertion, base)
    return _with_wrappers(sites, base, hints)


def _line_of(kernel: Kernel, message: str, line: int | None = None) -> int | None:
    """Return the line of the check with this message: at `line` if given, else the first."""
    found = [n for n, text in kernel.asserts if text == message]
    if line is None:
        return found[0] if found else None
    return line if line in found else None


def _by_source_file(assertion: Assertion, base: CodeBase) -> list[Site]:
    """CPU: `Exception raised from KERNEL at FILE:LINE` names the generated C++ file."""
    if not assertion.file or not assertion.line:
        return []
    found: list[tuple[int, Site]] = []
    for code, agree in base.named(assertion.file):
        for kernel in code.kernels:
            if not kernel.line <= assertion.line <= kernel.end_line:
                continue
            line = _line_of(kernel, assertion.message, assertion.line)
            if line is None:
                # A check may be split over lines; the compiler reports the first or the last one.
                near = [n for n, text in kernel.asserts if text == assertion.message]
                line = min(near, key=lambda n: abs(n - (assertion.line or 0)), default=None)
                if line is None or abs(line - assertion.line) > 3:
                    continue
            why = f"{PurePosixPath(assertion.file).name}, line {assertion.line}, holds this check"
            found.append((agree, Site(kernel, line, Confidence.PROVEN, why)))
    best = max((agree for agree, _ in found), default=0)
    return [site for agree, site in found if agree == best]


def _by_kernel_name(assertion: Assertion, base: CodeBase) -> list[Site]:
    """CPU: the function that raised is the kernel, when it is not called `kernel` by all of them."""
    name = assertion.function
    if not name or name in {"kernel", "operator()", "unknown"}:
        return []
    sites = [
        Site(
            kernel,
            line,
            Confidence.LIKELY,
            f"the only text at hand with a kernel {name} that holds this check",
        )
        for code in base.codes
        for kernel in code.kernels_with(assertion.message)
        if kernel.name == name and (line := _line_of(kernel, assertion.message)) is not None
    ]
    return _ambiguous(sites, f"{len(sites)} texts hold a kernel {name} with this check")


def _by_cache_file(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Triton: the assertion names the cache file of the kernel.

    That file's name is a hash of its text, so the text inside a wrapper proves itself.
    """
    stem = PurePosixPath(assertion.file.replace("\\", "/")).name.removesuffix(".py") if assertion.file else ""
    if not stem or stem == "unknown" or stem.startswith("<"):
        return []
    sites = []
    for code in base.codes:
        for kernel in code.kernels_with(assertion.message):
            if kernel.backend is not Backend.TRITON or assertion.line is None:
                continue
            named = kernel.path is not None and path_parts(kernel.path)[-1] == stem + ".py"
            named = named or any(path_parts(n)[-1] == stem + ".py" for n in code.names)
            hashed = not named and cache_name(kernel_text(kernel)) == stem
            line = _line_of(kernel, assertion.message, kernel.first_line + assertion.line - 1)
            if line is None or not (named or hashed):
                continue
            why = f"the assertion names {stem[:12]}...py, line {assertion.line}"
            why += "" if named else ": the cache's name (a hash) for this very text"
            sites.append(Site(kernel, line, Confidence.PROVEN, why))
    return sites


def _by_line_and_text(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Match the line in the kernel's own text and the message."""
    if not assertion.line:
        return []
    sites = []
    for code in base.codes:
        for kernel in code.kernels_with(assertion.message):
            line = _line_of(kernel, assertion.message, kernel.first_line + assertion.line - 1)
            if line is not None:
                why = f"the only kernel at hand with this check in line {assertion.line} of its text"
                sites.append(Site(kernel, line, Confidence.LIKELY, why))
    return _ambiguous(sites, f"{len(sites)} kernels hold this check in line {assertion.line} of their text")


def _by_text(assertion: Assertion, base: CodeBase) -> list[Site]:
    sites = [
        Site(kernel, line, Confidence.LIKELY, "the only kernel at hand that can print this text")
        for code in base.codes
        for kernel in code.kernels_with(assertion.message)
        if (line := _line_of(kernel, assertion.message)) is not None
    ]
    return _ambiguous(sites, "several kernels can print this text")


def _ambiguous(sites: list[Site], why: str) -> list[Site]:
    """Lower the strength when texts of different kernels fit."""
    if len({_identity(s.kernel) for s in sites}) < 2:
        return sites
    return [replace(s, strength=Confidence.POSSIBLE, why=why) for s in sites]


def _identity(kernel: Kernel) -> tuple[str, str]:
    lines = kernel.source.lines[kernel.line - 1 : kernel.end_line]
    return kernel.name, "\n".join(line.strip() for line in lines)


def _with_wrappers(sites: list[Site], base: CodeBase, hints: Hints) -> tuple[Site, ...]:
    """Join each kernel with the wrappers that launch it; drop doubles."""
    done: dict[tuple[str, str, int], Site] = {}
    for site in sites:
        for full in _wrappers_of(site, base, hints):
            key = (full.kernel.name, full.wrapper.source.name if full.wrapper else "", _offset(full))
            if key not in done or _better(full, done[key]):
                done[key] = full
    found = list(done.values())
    # A kernel file without a wrapper says nothing more when the same kernel was found in one.
    joined = {s.kernel.name for s in found if s.wrapper is not None}
    found = [s for s in found if s.wrapper is not None or s.kernel.name not in joined]
    wrappers = {s.wrapper.source.name for s in found if s.wrapper is not None}
    if len(wrappers) > 1:
        strong = [s for s in found if s.wrapper_strength is Confidence.PROVEN]
        if strong:
            found = strong
        else:
            why = f"{len(wrappers)} wrappers launch this kernel"
            found = [replace(s, wrapper_strength=Confidence.POSSIBLE, wrapper_why=why) for s in found]
    return tuple(found)


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
            candidates.append(
                (code, Confidence.LIKELY, "the only wrapper at hand that goes with this kernel file")
            )
        elif _same_cpp(kernel, wrapper) is not None:
            candidates.append((code, Confidence.PROVEN, "the kernel's text stands in this wrapper"))
    chosen = _hinted(candidates, hints) or _nearest(candidates, kernel)
    for code, strength, why in chosen:
        name = _same_cpp(kernel, code.wrapper) if code.wrapper is not None else None
        # The file of a torch.compile kernel calls its function `kernel`; the wrapper knows its name.
        known = kernel if name is None else replace(kernel, name=name)
        yield replace(site, kernel=known, wrapper=code.wrapper, wrapper_strength=strength, wrapper_why=why)
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
    lines = [line.strip() for line in kernel.source.lines[kernel.line - 1 : kernel.end_line]]
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
            return [(named[0][0], Confidence.PROVEN, "a stack frame of this run stands in this wrapper")]
    for library in hints.libraries:
        stem = path_parts(library)[-1].removesuffix(".so").removesuffix(".wrapper")
        named = [c for c in candidates if any(path_parts(n)[-1].startswith(stem) for n in c[0].names)]
        if len(named) == 1:
            return [(named[0][0], Confidence.PROVEN, "the library in the stack is built from this wrapper")]
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
    """Return the launches of the site's kernel: the one a stack frame names, else all of them."""
    if site.wrapper is None:
        return (), Confidence.UNKNOWN, "no wrapper at hand"
    launches = site.wrapper.launches_of(site.kernel.name)
    if len(launches) == 1:
        return launches, Confidence.PROVEN, "its only launch"
    names = site.wrapper.source.name
    for path, line in hints.wrapper_lines:
        if not common_tail(path, names):
            continue
        exact = [k for k in launches if k.line <= line <= k.line + k.text.count("\n")]
        if len(exact) == 1:
            return tuple(exact), Confidence.PROVEN, f"the stack of this run stands at line {line}"
    if launches:
        return launches, Confidence.POSSIBLE, f"{len(launches)} launches of this kernel"
    return (), Confidence.UNKNOWN, "no launch of it in the wrapper"

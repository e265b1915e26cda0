"""From a failed assertion to the checks in generated code that can have printed it.

Best evidence first: the file that the assertion names (by name, or by the hash that Inductor's
cache uses as a name), then file line and text together, then the text alone. Whatever level gives
an answer, all checks that fit on that level are returned; nothing is chosen among equals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import cache_name, kernel_text, path_parts
from aoti_logs.code.index.launchers import with_wrappers
from aoti_logs.code.model import Backend
from aoti_logs.explain import Confidence
from aoti_logs.parse.events import AssertionForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.codebase import CodeBase, Wrapper
    from aoti_logs.code.index.launchers import Hints
    from aoti_logs.code.model import Kernel
    from aoti_logs.parse.events import Assertion

_HASHED = re.compile(r"^c[a-z2-7]{51}$")
_NAMELESS = {"kernel", "operator()", "unknown"}


@dataclass(frozen=True)
class Site:
    """A check in generated code that can have printed the assertion.

    `line` is the check's line in `kernel.source`. `strength` says how well the kernel is known,
    `wrapper_strength` how well the wrapper is (UNKNOWN without one). `by_stack`: a stack of the
    failure names the wrapper.
    """

    kernel: Kernel
    line: int
    strength: Confidence
    why: str
    wrapper: Wrapper | None = None
    wrapper_strength: Confidence = Confidence.UNKNOWN
    wrapper_why: str = ""
    by_stack: bool = False


def locate(assertion: Assertion, base: CodeBase, hints: Hints) -> tuple[Site, ...]:
    """Return every check that fits the best evidence there is; empty when none fits.

    A name in the assertion that no text at hand has is evidence too: what else fits by its text may
    be of another model, and a file name that is a hash rules other texts out.
    """
    if assertion.form is AssertionForm.CPU:
        sites = _by_source_file(assertion, base) or _by_kernel_name(assertion, base)
        named = bool(assertion.function) and assertion.function not in _NAMELESS
    else:
        sites = _by_cache_file(assertion, base)
        named = False
    if not sites and not named:
        sites = _by_line_and_text(assertion, base) or _by_text(assertion, base)
        if sites and _HASHED.match(_stem(assertion.file)):
            why = f"its text fits, but the assertion names another file ({_stem(assertion.file)[:12]}...)"
            sites = [replace(s, strength=Confidence.POSSIBLE, why=why) for s in sites]
    return with_wrappers(sites, base, hints)


def _stem(path: str | None) -> str:
    return PurePosixPath((path or "").replace("\\", "/")).name.partition(".")[0]


def _lines(kernel: Kernel, message: str) -> list[int]:
    return [n for n, text in kernel.asserts if text == message]


def _all(assertion: Assertion, base: CodeBase) -> Iterator[tuple[Kernel, int]]:
    """Yield every check at hand with the assertion's message."""
    for code in base.codes:
        for kernel in code.kernels_with(assertion.message):
            for line in _lines(kernel, assertion.message):
                yield kernel, line


def _by_source_file(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Use the generated C++ file that `Exception raised from KERNEL at FILE:LINE` names."""
    if not assertion.file or not assertion.line:
        return []
    hashed = _HASHED.match(_stem(assertion.file)) is not None
    found: list[tuple[int, Site]] = []
    for code, agree in base.named(assertion.file):
        for kernel in code.kernels:
            if not kernel.line <= assertion.line <= kernel.end_line:
                continue
            # A check may be split over lines; the compiler reports the first or the last one.
            near = _lines(kernel, assertion.message)
            line = min(near, key=lambda n: abs(n - (assertion.line or 0)), default=None)
            if line is None or abs(line - assertion.line) > 3:
                continue
            why = f"{PurePosixPath(assertion.file).name}, line {assertion.line}, holds this check"
            sure = Confidence.PROVEN if hashed or agree > 1 else Confidence.LIKELY
            found.append((agree, Site(kernel, line, sure, why)))
    best = max((agree for agree, _ in found), default=0)
    return [site for agree, site in found if agree == best]


def _by_kernel_name(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Use the function that raised, when it is not called `kernel` by all of them."""
    name = assertion.function
    if not name or name in _NAMELESS:
        return []
    strength, why = Confidence.LIKELY, f"the only text at hand with a kernel {name} that holds this check"
    if _HASHED.match(_stem(assertion.file)):
        strength = Confidence.POSSIBLE
        why = f"a kernel of this name, but the error names another file ({_stem(assertion.file)[:12]}...)"
    sites = [Site(k, line, strength, why) for k, line in _all(assertion, base) if k.name == name]
    return _ambiguous(sites, f"{len(sites)} places at hand fit this name and check")


def _by_cache_file(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Use the cache file of the Triton kernel that the assertion names.

    That file's name is a hash of its text, so the text inside a wrapper proves itself.
    """
    stem = _stem(assertion.file)
    if not stem or stem == "unknown" or stem.startswith("<") or assertion.line is None:
        return []
    sites = []
    for code in base.codes:
        for kernel in code.kernels_with(assertion.message):
            line = kernel.first_line + assertion.line - 1
            if kernel.backend is not Backend.TRITON or line not in _lines(kernel, assertion.message):
                continue
            named = kernel.path is not None and _stem(path_parts(kernel.path)[-1]) == stem
            named = named or any(path_parts(n)[-1] == stem + ".py" for n in code.names)
            if not named and cache_name(kernel_text(kernel)) != stem:
                continue
            why = f"the assertion names {stem[:12]}...py, line {assertion.line}"
            why += "" if named else ": the cache's name (a hash) for this very text"
            sites.append(Site(kernel, line, Confidence.PROVEN, why))
    return sites


def _by_line_and_text(assertion: Assertion, base: CodeBase) -> list[Site]:
    """Match the line in the kernel's own text and the message."""
    if not assertion.line:
        return []
    why = f"the only kernel at hand with this check in line {assertion.line} of its text"
    sites = [
        Site(kernel, line, Confidence.LIKELY, why)
        for kernel, line in _all(assertion, base)
        if line == kernel.first_line + assertion.line - 1
    ]
    return _ambiguous(
        sites, f"{len(sites)} kernels at hand hold this check in line {assertion.line} of their text"
    )


def _by_text(assertion: Assertion, base: CodeBase) -> list[Site]:
    why = "the only check at hand that can print this text"
    sites = [Site(kernel, line, Confidence.LIKELY, why) for kernel, line in _all(assertion, base)]
    return _ambiguous(sites, "several checks at hand can print this text")


def _ambiguous(sites: list[Site], why: str) -> list[Site]:
    """Lower the strength when different checks fit."""
    if len({_identity(s) for s in sites}) < 2:
        return sites
    return [replace(s, strength=Confidence.POSSIBLE, why=why) for s in sites]


def _identity(site: Site) -> tuple[str, int, str]:
    kernel = site.kernel
    lines = kernel.source.lines_from(kernel.line, kernel.end_line)
    return kernel.name, site.line - kernel.line, "\n".join(line.strip() for line in lines)

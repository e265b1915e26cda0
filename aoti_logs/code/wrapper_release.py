"""Which releases of torch can have made the AOTInductor code at hand: what that code can be asked is settled by that.

Two traits of a wrapper tell, seen in code of 2.4, 2.6, 2.9, 2.11 and 2.13: the function that reads
AOTI_RUNTIME_CHECK_INPUTS (`torch/_inductor/codegen/cpp_wrapper_cpu.py` writes it into every model since 2.7), and whether the
constructor says that the library brings its weights. Packages and traces may name the release itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_cpp.flow import GATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.evidence import Evidence

Release = tuple[int, int]

_MOST = 64
"""So many wrappers are looked into."""
_END = re.compile(rb"^\} // \w+::run_impl", re.MULTILINE)
_NUMBERS = re.compile(r"(\d{1,4})\.(\d{1,4})")


@dataclass(frozen=True)
class Releases:
    """The releases that are possible: from `at_least` on, before `below`; None where nothing tells."""

    at_least: Release | None = None
    below: Release | None = None

    def before(self, release: Release) -> bool:
        """Tell whether it is known that the code is older than a release."""
        return self.below is not None and self.below <= release

    def since(self, release: Release) -> bool:
        """Tell whether it is known that the code is of a release or newer."""
        return self.at_least is not None and self.at_least >= release


def releases_of(evidence: Evidence) -> Releases:
    """Return what the code, the packages and the traces at hand say together; nothing where they contradict."""
    exact = exact_release(evidence)
    if exact is not None:
        return Releases(exact, (exact[0], exact[1] + 1))
    return _together(_bounds(evidence))


def releases_of_wrapper(wrapper: Wrapper) -> Releases:
    """Return what the code of one model of AOTInductor says; nothing for code of torch.compile."""
    return _together(_of_wrapper(wrapper)) if wrapper.flavour == "aoti_cpp" else Releases()


def _together(bounds: Iterable[Releases]) -> Releases:
    told = tuple(bounds)
    lowest = max((b.at_least for b in told if b.at_least is not None), default=None)
    highest = min((b.below for b in told if b.below is not None), default=None)
    if lowest is not None and highest is not None and lowest >= highest:
        return Releases()
    return Releases(lowest, highest)


def always_checks(evidence: Evidence) -> bool:
    """Tell whether every model of AOTInductor at hand compares an input whenever it runs, asked to or not."""
    wrappers = [c.wrapper for c in evidence.base.wrappers[:_MOST] if c.wrapper is not None]
    models = [w for w in wrappers if w.flavour == "aoti_cpp"]
    return bool(models) and all(
        any(c.input_index is not None and not c.gated for c in w.checks) for w in models
    )


def exact_release(evidence: Evidence) -> Release | None:
    """Return the release that traces and packages name, None where they name none, or several."""
    from aoti_logs.code.packages.version import torch_version
    from aoti_logs.parse.traces.summary import version

    told = [version(trace) for trace in evidence.traces]
    told += [torch_version(package).exact for package in evidence.packages]
    found = {release for text in told if (release := _release(text)) is not None}
    return found.pop() if len(found) == 1 else None


def _bounds(evidence: Evidence) -> Iterator[Releases]:
    from aoti_logs.code.packages.version import torch_version

    for package in evidence.packages:
        told = torch_version(package)
        yield Releases(_release(told.at_least), _release(told.below))
    for code in evidence.base.wrappers[:_MOST]:
        if code.wrapper is not None and code.wrapper.flavour == "aoti_cpp":
            yield from _of_wrapper(code.wrapper)


def _of_wrapper(wrapper: Wrapper) -> Iterator[Releases]:
    data = wrapper.source.data
    if data.find(GATE.encode()) >= 0:
        yield Releases(at_least=(2, 7))
    elif _END.search(data):
        # A wrapper that was cut may have lost the function: only a whole one shows that it is not there.
        yield Releases(below=(2, 7))
    base = getattr(wrapper, "base", None)
    if base is not None:
        old = base.include_weights is None
        yield Releases(below=(2, 6)) if old else Releases(at_least=(2, 5))


def _release(text: str | None) -> Release | None:
    found = _NUMBERS.match(text or "")
    return None if found is None else (int(found[1]), int(found[2]))

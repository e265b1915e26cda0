"""Which torch made a package, as far as its own files tell: a version where one is written down, else bounds.

What differs between releases was seen in packages of 2.4, 2.6, 2.9, 2.11 and 2.13; a bound says no more than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.packages.file import FileRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.package import Package, PackagedModel, SavedProgram

Release = tuple[int, int]


@dataclass(frozen=True)
class Sign:
    """A trait of a package: torch is at least this release (None: nothing follows), and older than that one."""

    at_least: Release | None
    below: Release | None
    what: str


@dataclass(frozen=True)
class TorchVersion:
    """What is known about the torch that made a package or model.

    `exact` is a version that a file holds; `at_least` and `below` are releases, None where nothing tells; `evidence` says what tells.
    """

    exact: str | None = None
    at_least: str | None = None
    below: str | None = None
    evidence: tuple[str, ...] = ()


def torch_version(package: Package, part: PackagedModel | SavedProgram | None = None) -> TorchVersion:
    """Return what is known about the torch that made a package, or one model or program of it."""
    models = [m for m in package.models if part is None or m is part]
    versions = {
        p.torch_version: p
        for p in package.programs
        if p.torch_version and (part is None or _goes_with(p, part))
    }
    signs = [*_signs_of_package(package), *(s for m in models for s in _signs_of_model(m))]
    lowest = max((s.at_least for s in signs if s.at_least is not None), default=None)
    highest = min((s.below for s in signs if s.below is not None), default=None)
    evidence = [
        s.what
        for s in signs
        if (s.at_least is not None and s.at_least == lowest) or (s.below is not None and s.below == highest)
    ]
    exact = None
    if len(versions) == 1:
        exact, program = next(iter(versions.items()))
        where = program.file.path if program.file is not None else program.name
        evidence.insert(0, f"{where} says that torch {exact} saved the program")
    if lowest is not None and highest is not None and lowest >= highest:
        # Models of several releases in one package, or files that were put together by hand.
        return TorchVersion(exact, None, None, (*evidence, "these contradict each other"))
    return TorchVersion(exact, _shown(lowest), _shown(highest), tuple(dict.fromkeys(evidence)))


def _goes_with(program: SavedProgram, part: PackagedModel | SavedProgram) -> bool:
    return program is part or program.name == part.name


def _shown(release: Release | None) -> str | None:
    return None if release is None else f"{release[0]}.{release[1]}"


def _signs_of_package(package: Package) -> Iterator[Sign]:
    from aoti_logs.code.packages.package import Layout

    if package.layout is Layout.PREFIXED:
        yield Sign((2, 8), None, "the archive has archive_version and byteorder")
    elif package.layout is Layout.BARE and (package.models or package.file("archive_format") is not None):
        yield Sign((2, 5), (2, 8), "the archive has `version` and no archive_version")
    elif package.layout is Layout.BARE:
        yield Sign(None, (2, 9), "the program is saved as torch.export.save did before it wrote packages")


def _signs_of_model(model: PackagedModel) -> Iterator[Sign]:
    file, wrapper = model.wrapper_file, model.wrapper
    if file is not None and file.base.endswith(".wrapper.cpp"):
        yield Sign((2, 7), None, "the wrapper is a .wrapper.cpp")
    elif file is not None and wrapper is not None:
        yield Sign(None, (2, 8), "wrapper and kernels are one .cpp")
    if model.metadata.device is not None:
        if model.metadata.platform is not None:
            yield Sign((2, 10), None, "the metadata names the platform")
        else:
            yield Sign(None, (2, 11), "the metadata does not name the platform")
    if model.of_role(FileRole.KERNEL_INFORMATION):
        yield Sign((2, 9), None, "there is a kernel_information.json")
    compiled = model.builds.get("compile")
    if compiled is not None and "std=c++20" in compiled.text:
        yield Sign((2, 12), None, "it was compiled as C++20")
    elif compiled is not None and "std=c++17" in compiled.text:
        yield Sign(None, (2, 13), "it was compiled as C++17")
    base = None if wrapper is None else wrapper.base
    if base is not None:
        if base.include_weights is None:
            yield Sign(None, (2, 6), "the constructor does not say whether the library brings its weights")
        else:
            yield Sign((2, 5), None, "the constructor says whether the library brings its weights")
    if wrapper is not None and wrapper.constants:
        if all(c.device is None for c in wrapper.constants):
            yield Sign(None, (2, 11), "constants have no device type")
        else:
            yield Sign((2, 10), None, "constants have a device type")

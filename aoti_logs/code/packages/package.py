"""Packages of AOTInductor as data: models, what belongs to each, what is missing, where the weights are.

A `Package` is a `.pt2` archive of any release since 2.5, such an archive as a folder (unzipped by a person, or by torch below
`/tmp`), or files of a model beside each other without a package, as torch 2.4 wrote them. Everything is read when it is asked
for. Formats: `torch/export/pt2_archive/_package.py`, `torch/_inductor/package/`, `torch/_inductor/codecache.py`.

Reading a model:

```python
for package in evidence.packages:
    for model in package.models:
        model.metadata.device, model.library, model.missing      # what is there, what is not
        [v for v in model.values if v.present is False]          # constants without a value
```
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.packages.file import FileRole, PackageFile, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.code.packages.build import Build
    from aoti_logs.code.packages.folding import Folding
    from aoti_logs.code.packages.json import CustomObject, ExternNode, Metadata, StoredTensor
    from aoti_logs.code.packages.version import TorchVersion
    from aoti_logs.code.packages.weights import ConstantValue, WeightStore
    from aoti_logs.code.wrapper_cpp.file import WrapperFile
    from aoti_logs.sources.source import Place, Source

__all__ = [
    "FileRole",
    "Form",
    "Layout",
    "Package",
    "PackageFile",
    "PackagedModel",
    "Reference",
    "SavedProgram",
]


class Form(StrEnum):
    """What a package is on disk."""

    ARCHIVE = "archive"
    FOLDER = "folder"
    """An archive that was unpacked."""
    FILES = "files"
    """A model's files beside each other, which were never in a package as far as their place tells."""


class Layout(StrEnum):
    """Which writer of torch the members of a package follow."""

    PREFIXED = "prefixed"
    """Below one folder named by the file, with `archive_version` and `byteorder`: torch 2.8 and later."""
    BARE = "bare"
    """No such folder, `version` beside `archive_format`: torch 2.5 to 2.7."""
    FILES = "files"
    """No package."""
    UNKNOWN = "unknown"
    """The files that tell are not there."""


@dataclass(frozen=True)
class Part:
    """What models and programs of a package share."""

    name: str
    files: tuple[PackageFile, ...]
    shared: tuple[PackageFile, ...]
    """Files of the package that belong to no model alone: weights, constants."""

    def of_role(self, *roles: FileRole) -> tuple[PackageFile, ...]:
        """Return its own files with one of these roles."""
        return tuple(f for f in self.files if f.role in roles)

    def one(self, *roles: FileRole) -> PackageFile | None:
        """Return the first of its own files with one of these roles."""
        return next(iter(self.of_role(*roles)), None)


@dataclass(frozen=True)
class PackagedModel(Part):
    """A model of AOTInductor.

    Args:
        name: what it is loaded by (`model` unless the package was made of several).
        files: its own files.
        shared: files of the package that belong to no model alone.
        folder: where its files stand in the package, with a slash at the end; empty for files without a package.
        form: what the package is on disk.
        whole: False for an archive that was cut off or not read to its end, for a folder without the small files that tell a whole
            package, and for files without a package: what is not there may be elsewhere.
    """

    folder: str
    form: Form
    whole: bool = True

    @cached_property
    def wrapper_file(self) -> PackageFile | None:
        """The generated wrapper."""
        from aoti_logs.sources.source import Kind

        found = [
            f
            for f in self.of_role(FileRole.WRAPPER)
            if f.source is not None and f.source.kind is Kind.WRAPPER_CPP
        ]
        return next(iter(found), None) or self.one(FileRole.WRAPPER)

    @cached_property
    def wrapper(self) -> WrapperFile | None:
        """The wrapper as code; `Evidence.view_of(model)` answers questions about it."""
        from aoti_logs.code.wrapper_cpp.file import WrapperFile

        file = self.wrapper_file
        return None if file is None or file.source is None else WrapperFile(file.source)

    @property
    def kernels(self) -> tuple[PackageFile, ...]:
        """Files of C++ kernels beside the wrapper."""
        return self.of_role(FileRole.KERNEL)

    @property
    def library(self) -> PackageFile | None:
        """The compiled model."""
        return self.one(FileRole.LIBRARY)

    @property
    def kernel_binaries(self) -> tuple[PackageFile, ...]:
        """Compiled GPU kernels."""
        return self.of_role(FileRole.KERNEL_BINARY)

    @cached_property
    def cpp_only(self) -> bool:
        """Whether it is made to be compiled by who loads it (`package_cpp_only`)."""
        return self.library is None and bool(self.of_role(FileRole.COMPILE_FLAGS, FileRole.LINKER_FLAGS))

    @cached_property
    def metadata(self) -> Metadata:
        """Device and machine that it was compiled for, and what the user added."""
        from aoti_logs.code.packages.json import metadata

        return metadata(self.of_role(FileRole.METADATA))

    @cached_property
    def builds(self) -> dict[str, Build]:
        """How it was compiled and linked, by step (`compile`, `link`)."""
        from aoti_logs.code.packages.build import commands, flags

        file = self.wrapper_file
        found = {} if file is None or file.source is None else commands(file.source)
        for role, step in ((FileRole.COMPILE_FLAGS, "compile"), (FileRole.LINKER_FLAGS, "link")):
            listed = self.one(role)
            if step not in found and listed is not None and listed.source is not None:
                told = flags(listed.source, step)
                if told is not None:
                    found[step] = told
        return found

    @cached_property
    def extern_nodes(self) -> tuple[ExternNode, ...]:
        """Operators that the proxy executor calls, by index; empty when the file that lists them is not there."""
        from aoti_logs.code.packages.json import extern_nodes

        file = self.one(FileRole.EXTERN_NODES)
        return () if file is None or file.source is None else extern_nodes(file.source)

    @cached_property
    def stored_weights(self) -> tuple[StoredTensor, ...]:
        """What `weights_config.json` says about weights that are files of the package."""
        from aoti_logs.code.packages.json import stored_weights

        file = self.one(FileRole.WEIGHTS_CONFIG)
        return () if file is None or file.source is None else stored_weights(file.source)

    @cached_property
    def beside(self) -> dict[str, StoredTensor]:
        """Tensors of exported programs in the same package, by name; those that two programs have are left out."""
        from aoti_logs.code.packages.json import stored_payloads

        found: dict[str, StoredTensor | None] = {}
        for file in self.shared:
            if file.role in {FileRole.WEIGHTS_CONFIG, FileRole.CONSTANTS_CONFIG} and file.source is not None:
                for tensor in stored_payloads(file.source, file.role):
                    found[tensor.fqn] = None if tensor.fqn in found else tensor
        return {fqn: tensor for fqn, tensor in found.items() if tensor is not None}

    @cached_property
    def custom_objects(self) -> tuple[CustomObject, ...]:
        """Objects of C++ classes (torchbind) among the constants."""
        from aoti_logs.code.packages.json import custom_objects

        file = self.one(FileRole.CUSTOM_OBJECTS_CONFIG)
        return () if file is None or file.source is None else custom_objects(file.source)

    @cached_property
    def weights(self) -> WeightStore:
        """Where its weights are, and how that is known."""
        from aoti_logs.code.packages.weights import weight_store

        return weight_store(self)

    @cached_property
    def values(self) -> tuple[ConstantValue, ...]:
        """For each constant of the wrapper, where its value lies."""
        from aoti_logs.code.packages.weights import values

        return values(self)

    @cached_property
    def foldings(self) -> dict[str, Folding]:
        """How constants that are computed when the model is loaded come into being, by name."""
        from aoti_logs.code.packages.folding import foldings

        file = self.wrapper_file
        return {} if file is None or file.source is None else foldings(file.source)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Files that its own files name, there or not."""
        from aoti_logs.code.packages.references import references_of_model

        return tuple(references_of_model(self))

    @property
    def missing(self) -> tuple[Reference, ...]:
        """Files that are named and are not there."""
        return tuple(r for r in self.references if r.missing)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """What does not fit together in it, in sentences."""
        from aoti_logs.code.packages.problems import problems_of

        return tuple(problems_of(self))


@dataclass(frozen=True)
class SavedProgram(Part):
    """An exported program (`torch.export.save`, or beside a model)."""

    @property
    def file(self) -> PackageFile | None:
        """The program as JSON."""
        return self.one(FileRole.PROGRAM)

    @cached_property
    def torch_version(self) -> str | None:
        """The torch that saved it, as the program itself says; before torch 2.7 it does not."""
        from aoti_logs.code.packages.json import program_version

        return None if self.file is None or self.file.source is None else program_version(self.file.source)

    @cached_property
    def stored(self) -> tuple[StoredTensor, ...]:
        """Weights and constants that are files of the package."""
        from aoti_logs.code.packages.json import stored_payloads

        configs = self.of_role(FileRole.WEIGHTS_CONFIG, FileRole.CONSTANTS_CONFIG)
        return tuple(t for c in configs if c.source is not None for t in stored_payloads(c.source, c.role))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Files that its own files name, there or not."""
        from aoti_logs.code.packages.references import references_of_program

        return tuple(references_of_program(self))

    @property
    def missing(self) -> tuple[Reference, ...]:
        """Files that are named and are not there."""
        return tuple(r for r in self.references if r.missing)


@dataclass(frozen=True)
class Package:
    """A package, a folder that was one, or a model's files without one.

    Args:
        name: how a person finds it: the archive as `sources.name`, the folder, or for files without a package the wrapper.
        form: what it is on disk.
        prefix: folder in the archive that holds everything, with a slash at the end; empty when there is none.
        files: all of its files: those whose text is read in the order of the archive, then the others.
        models: its models.
        programs: exported programs.
        problems: what could not be read, in sentences.
        source: the archive; None for folders and files.
    """

    name: str
    form: Form
    prefix: str
    files: tuple[PackageFile, ...]
    models: tuple[PackagedModel, ...] = ()
    programs: tuple[SavedProgram, ...] = ()
    problems: tuple[str, ...] = ()
    source: Source | None = None

    def file(self, path: str) -> PackageFile | None:
        """Return a file by its path in the package."""
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> dict[str, PackageFile]:
        return {f.path: f for f in reversed(self.files)}

    def marker(self, path: str) -> str | None:
        """Return the word in one of the small files about the archive itself (`archive_version`)."""
        file = self.file(path)
        if file is None or file.source is None or file.source.size > 1000:
            return None
        return file.source.text.strip() or None

    @cached_property
    def layout(self) -> Layout:
        """Which writer of torch made it, told by the small files about the archive."""
        if self.form is Form.FILES:
            return Layout.FILES
        if any(self.file(path) is not None for path in ("archive_version", "byteorder", ".data/version")):
            return Layout.PREFIXED
        return Layout.BARE if self.file("version") is not None else Layout.UNKNOWN

    def torch(self, model: PackagedModel | SavedProgram | None = None) -> TorchVersion:
        """Return what is known about the torch that made it, or one model in it."""
        from aoti_logs.code.packages.version import torch_version

        return torch_version(self, model)

    @property
    def missing(self) -> tuple[Reference, ...]:
        """Files that are named and are not there."""
        return tuple(r for part in self.parts for r in part.missing)

    @property
    def parts(self) -> Iterable[PackagedModel | SavedProgram]:
        """Models and programs."""
        yield from self.models
        yield from self.programs


def place_of(file: PackageFile | None) -> Place | None:
    """Return the first line of a file, where its text was read."""
    return None if file is None or file.source is None else file.source.place(1)

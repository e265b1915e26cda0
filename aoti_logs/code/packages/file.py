"""Files of a package, and what each of them is for, told by where it stands and how it is called.

Names are those of `torch/_inductor/codecache.py` (`AotCodeCompiler`), `torch/export/pt2_archive/_package.py` and
`torch/csrc/export/pt2_archive_constants.h`; torch finds its own files by them as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.sources.source import Place, Source


class FileRole(StrEnum):
    """What a file of a package is for."""

    WRAPPER = "wrapper"
    """The C++ wrapper; before torch 2.7 the C++ kernels stand in it as well."""
    KERNEL = "kernel"
    """C++ kernels beside their wrapper."""
    LIBRARY = "library"
    """The compiled model."""
    OTHER_LIBRARY = "other_library"
    """A library beside the model's (kernels and launchers of Triton for CPUs)."""
    METADATA = "metadata"
    EXTERN_NODES = "extern_nodes"
    """Operators that the proxy executor calls, by their index."""
    KERNEL_INFORMATION = "kernel_information"
    KERNEL_BINARY = "kernel_binary"
    """A compiled GPU kernel (`.cubin`, `.hsaco`, `.spv`) or its assembly."""
    COMPILE_FLAGS = "compile_flags"
    LINKER_FLAGS = "linker_flags"
    BUILD = "build"
    """What else a C++ compiler needs: `CMakeLists.txt`, `script.ld`."""
    OBJECT = "object"
    """An object file to link: weights, kernels."""
    WEIGHTS_BLOB = "weights_blob"
    WEIGHTS_BIN = "weights_bin"
    """Weights that are put behind the library when it is built."""
    WEIGHTS_CONFIG = "weights_config"
    WEIGHT = "weight"
    CONSTANT = "constant"
    """A tensor that is no weight, or an object of a C++ class or of Python."""
    CUSTOM_OBJECTS_CONFIG = "custom_objects_config"
    CONSTANTS_CONFIG = "constants_config"
    PROGRAM = "program"
    """An exported program."""
    SAMPLE_INPUTS = "sample_inputs"
    MARKER = "marker"
    """A word about the archive itself: `archive_format`, `byteorder`."""
    EXTRA = "extra"
    """What the user put into the package."""
    OTHER = "other"


@dataclass(frozen=True)
class PackageFile:
    """A file of a package.

    Args:
        path: where it stands in the package, below the folder that holds all of it.
        name: how a person finds it, as `sources.name`.
        role: what it is for.
        model: the AOTInductor model, or exported program, that it belongs to.
        source: its text; None for a binary file and for one that could not be read.
        told_size: its bytes as file system or archive say, where it is not read.
        problem: why it could not be read, or not all of it.
    """

    path: str
    name: str
    role: FileRole
    model: str | None = None
    source: Source | None = None
    told_size: int | None = None
    problem: str | None = None

    @property
    def size(self) -> int | None:
        """Its bytes."""
        return self.told_size if self.source is None else self.source.size

    @property
    def base(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Reference:
    """A file that another file of the package names.

    `path` is where torch looks for it in the package. `needed`: the model does not load, or not run, without it. `file` is the
    file, where it is there. `by` is the line that names it; `why` says in words what for.
    """

    path: str
    role: FileRole
    model: str | None
    why: str
    by: Place | None
    file: PackageFile | None
    needed: bool = True

    @property
    def missing(self) -> bool:
        """True when no such file is there."""
        return self.file is None


_BELOW = (
    ("data/aotinductor/", None),
    ("data/weights/", FileRole.WEIGHT),
    ("data/constants/", FileRole.CONSTANT),
    ("data/sample_inputs/", FileRole.SAMPLE_INPUTS),
    ("extra/", FileRole.EXTRA),
    ("xl_model_weights/", FileRole.WEIGHT),
)
_SAVED_BEFORE_28 = {
    "serialized_exported_program.json": FileRole.PROGRAM,
    "serialized_state_dict.pt": FileRole.WEIGHT,
    "serialized_state_dict.json": FileRole.WEIGHT,
    "serialized_constants.pt": FileRole.CONSTANT,
    "serialized_constants.json": FileRole.CONSTANT,
    "serialized_example_inputs.pt": FileRole.SAMPLE_INPUTS,
}
_MARKERS = frozenset(
    {
        "archive_format",
        "archive_version",
        "byteorder",
        "version",
        ".data/version",
        ".data/serialization_id",
        ".format_version",
        ".storage_alignment",
    }
)
_OF_MODEL = (
    (re.compile(r"\.wrapper\.cpp$"), FileRole.WRAPPER),
    (re.compile(r"\.kernel\.cpp$"), FileRole.KERNEL),
    (re.compile(r"\.(?:so|pyd|dll|dylib)$"), FileRole.LIBRARY),
    (re.compile(r"_metadata\.json$"), FileRole.METADATA),
    (re.compile(r"^kernel_information\.json$"), FileRole.KERNEL_INFORMATION),
    (re.compile(r"^weights_config\.json$"), FileRole.WEIGHTS_CONFIG),
    (re.compile(r"^custom_objs_config\.json$"), FileRole.CUSTOM_OBJECTS_CONFIG),
    (re.compile(r"_compile_flags(?:\.json)?$"), FileRole.COMPILE_FLAGS),
    (re.compile(r"_linker_flags(?:\.json)?$"), FileRole.LINKER_FLAGS),
    (re.compile(r"\.(?:cubin|fatbin|hsaco|spv|zebin|ptx|ll|llir)$"), FileRole.KERNEL_BINARY),
    (re.compile(r"_weights\.blob$"), FileRole.WEIGHTS_BLOB),
    (re.compile(r"_serialized_weights\.bin$"), FileRole.WEIGHTS_BIN),
    (re.compile(r"^CMakeLists\.txt$|\.ld$|\.h$"), FileRole.BUILD),
    (re.compile(r"\.(?:o|obj)$"), FileRole.OBJECT),
    (re.compile(r"^custom_obj_\d+$"), FileRole.CONSTANT),
    (re.compile(r"\.wrapper\.json$"), FileRole.EXTERN_NODES),
    (re.compile(r"\.(?:cpp|cu)$"), FileRole.WRAPPER),
    (re.compile(r"\.json$"), FileRole.EXTERN_NODES),
)  # fmt: skip


def role_in_model(base: str) -> FileRole:
    """Return what a file in the folder of a model is for, by its name without folders."""
    return next((role for pattern, role in _OF_MODEL if pattern.search(base)), FileRole.OTHER)


def role_in_package(path: str) -> FileRole:
    """Return what a file outside of the folders of models is for, by its path in the package."""
    if path in _MARKERS:
        return FileRole.MARKER
    if path in _SAVED_BEFORE_28:
        return _SAVED_BEFORE_28[path]
    if path.startswith("models/"):
        return FileRole.PROGRAM if path.endswith(".json") else FileRole.OTHER
    if path.startswith("data/weights/") and path.endswith("_config.json"):
        return FileRole.WEIGHTS_CONFIG
    if path.startswith("data/constants/") and path.endswith("_config.json"):
        return FileRole.CONSTANTS_CONFIG
    return next(
        (role for start, role in _BELOW if role is not None and path.startswith(start)), FileRole.OTHER
    )

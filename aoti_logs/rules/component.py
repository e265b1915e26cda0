"""Which part of the stack the frames are in, and in which phase of a model's life, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.stacks.frame_name import frame_name, is_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.events import Frame


@dataclass(frozen=True)
class Component:
    """A part of the stack. `name` and `library` are looked for in the frames, innermost first."""

    what: str
    phase: str | None
    name: re.Pattern[str] | None = None
    library: re.Pattern[str] | None = None


_TRITON = re.compile(r"triton", re.I)
_COMPILER = re.compile(r"^(?:mlir|llvm|triton)::|^(?:MMA|LLVM)\w*::|::triton::")
COMPONENTS = (
    Component("triton compiler (MLIR)", "compile", library=re.compile(r"(?:^|[/\\])libtriton\b")),
    Component("NCCL process group", None, name=re.compile(r"^c10d::ProcessGroupNCCL|^nccl[A-Z]")),
    Component("NCCL", None, library=re.compile(r"(?:^|[/\\])libnccl\b")),
    Component("CUDA driver", None, library=re.compile(r"(?:^|[/\\])libcuda\.so|nvcuda")),
    Component("CUDA runtime", None, library=re.compile(r"(?:^|[/\\])libcudart\b|cudart64")),
    Component("cuBLAS", None, library=re.compile(r"(?:^|[/\\])libcublas")),
    Component("cuDNN", None, library=re.compile(r"(?:^|[/\\])libcudnn")),
    Component("HIP runtime", None, library=re.compile(r"(?:^|[/\\])libamdhip64|libhsa-runtime")),
)
_LOAD = re.compile(
    r"AOTInductorModelContainerCreate|AOTInductorModelContainer::AOTInductorModelContainer|"
    r"AOTInductorModel(?:Base)?::(?:AOTInductorModel(?:Base)?|load_constants)|AOTIModelContainerRunner\w*::AOTIModelContainerRunner|"
    r"AOTIModelPackageLoader::(?:AOTIModelPackageLoader|load_)|DynamicLibrary::DynamicLibrary"
)
_RUN = re.compile(r"AOTInductorModel\w*Run|AOTInductorModel\w*::run|AOTIModel\w*::(?:boxed_)?run")
_UNLOAD = re.compile(r"AOTInductorModelContainerDelete|~AOTInductorModel|~AOTIModel")


def component_of(frames: Sequence[Frame]) -> Component | None:
    """Return the part that the innermost frames belong to, or None where no row of the table fits."""
    named = [(frame_name(f), f) for f in frames]
    if any(n is not None and _COMPILER.search(n) for n, _ in named[:8]):
        seen = (part for n, f in named for part in (n, f.file, f.library) if part is not None)
        sure = any(_TRITON.search(part) for part in seen)
        return Component("triton compiler (MLIR)" if sure else "MLIR/LLVM", "compile")
    for name, frame in named[:8]:
        for component in COMPONENTS:
            if component.name is not None and name is not None and component.name.search(name):
                return component
            if component.library is not None and frame.library and component.library.search(frame.library):
                return component
    return None


def aoti_phase(frames: Sequence[Frame]) -> str | None:
    """Return `load`, `run` or `unload` where the frames go through AOTInductor's runtime, else None."""
    for frame in frames:
        name = frame_name(frame)
        if name is None:
            continue
        if _UNLOAD.search(name):
            return "unload"
        if _LOAD.search(name):
            return "load"
        if is_model(frame) or _RUN.search(name):
            return "run"
    return None

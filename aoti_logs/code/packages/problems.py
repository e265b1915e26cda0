"""What does not fit together in a packaged model, in sentences: each says what was found, and none what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.packages.file import FileRole
from aoti_logs.code.packages.json import is_whole
from aoti_logs.code.packages.references import proxy_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.package import PackagedModel

_JSON = (
    FileRole.METADATA,
    FileRole.EXTERN_NODES,
    FileRole.WEIGHTS_CONFIG,
    FileRole.CUSTOM_OBJECTS_CONFIG,
    FileRole.COMPILE_FLAGS,
    FileRole.LINKER_FLAGS,
)
_SHOWN = 5


def problems_of(model: PackagedModel) -> Iterator[str]:
    """Yield what does not fit together in a model."""
    for role, what in ((FileRole.WRAPPER, "wrappers"), (FileRole.LIBRARY, "libraries")):
        found = model.of_role(role)
        if len(found) > 1:
            yield f"there are {len(found)} {what}: {_listed(f.base for f in found)}"
    for file in model.of_role(*_JSON):
        if file.base.endswith(".json") and file.source is not None and not is_whole(file):
            yield f"{file.base} is no JSON object, or not all of one"
    for key, wrapper, kernel in model.metadata.disagreements:
        yield f"{key} is {wrapper} in the wrapper's metadata and {kernel} in the kernels'"
    link, library = model.builds.get("link"), model.library
    if (
        link is not None
        and link.output
        and library is not None
        and library.base != link.output
        and not model.cpp_only
    ):
        yield f"the library is {library.base}, and the link command makes {link.output}"
    wrapper_code = model.wrapper
    if wrapper_code is not None and wrapper_code.base is not None:
        announced, described = wrapper_code.base.constants, len(wrapper_code.constants)
        if announced != described:
            yield f"the constructor announces {announced} constants and describes {described}"
    nodes = model.extern_nodes
    if nodes and model.wrapper_file is not None and model.wrapper_file.source is not None:
        beyond = [n for n, _ in proxy_calls(model.wrapper_file.source) if n >= len(nodes)]
        if beyond:
            yield f"the wrapper calls operator number {beyond[0]}, and the list has {len(nodes)}"


def _listed(names: Iterator[str]) -> str:
    every = list(names)
    return ", ".join(every[:_SHOWN]) + (f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else "")

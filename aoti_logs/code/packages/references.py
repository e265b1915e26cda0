"""Files that files of a package name: which of them are there, and which are not.

Only what one of the package's own files says is a reference: the wrapper loads kernels by name and calls the proxy executor, its
link command names library and kernels, configs name weights and objects, a program has its configs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.packages.file import FileRole, PackageFile, Reference
from aoti_logs.code.packages.weights import ValueIn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.package import PackagedModel, SavedProgram
    from aoti_logs.sources.source import Source

_LOAD = re.compile(rb'\bloadKernel\(\s*"((?:[^"\\\n]|\\.){1,4000})"')
_PROXY = re.compile(rb"\baoti_torch_proxy_executor_call_function\(\s*proxy_executor,\s*(\d{1,9})")
_OBJECTS_OF_WEIGHTS = (".weights.o", ".weights.obj")


def references_of_model(model: PackagedModel) -> Iterator[Reference]:
    """Yield the files that a model's files name."""
    by_base: dict[str, PackageFile] = {}
    for file in model.files:
        by_base.setdefault(file.base, file)
    wrapper = model.wrapper_file
    if wrapper is not None and wrapper.source is not None:
        yield from _of_wrapper(model, wrapper.source, by_base)
    yield from _of_weights(model)
    shared = {f.path: f for f in model.shared}
    for thing in model.custom_objects:
        # torch puts them below data/constants; without a package they stand beside the wrapper.
        path = f"data/constants/{thing.file}"
        here = shared.get(path) or by_base.get(thing.file or "")
        why = f"custom_objs_config.json: the object {thing.name}"
        yield Reference(path, FileRole.CONSTANT, model.name, why, thing.source.place(1), here)


def _of_wrapper(model: PackagedModel, source: Source, by_base: dict[str, PackageFile]) -> Iterator[Reference]:
    link = model.builds.get("link")
    stem = _stem(model)
    if not model.cpp_only:
        library = link.output if link is not None and link.output else f"{stem}.so"
        why = (
            "the model's library, which the link command makes" if link is not None else "the model's library"
        )
        here = by_base.get(library) or model.library
        by = link.place if link is not None else source.place(1)
        yield Reference(
            f"{model.folder}{here.base if here else library}", FileRole.LIBRARY, model.name, why, by, here
        )
        for name in link.objects if link is not None else ():
            if name.endswith(".kernel.o"):
                path = f"{name[: -len('.o')]}.cpp"
                why = "the C++ kernels that the link command takes"
                yield Reference(
                    f"{model.folder}{path}",
                    FileRole.KERNEL,
                    model.name,
                    why,
                    by,
                    by_base.get(path),
                    needed=False,
                )
    if model.folder and not model.of_role(FileRole.METADATA):
        why = "the model's metadata: torch asks it for the device"
        yield Reference(
            f"{model.folder}{stem}_metadata.json", FileRole.METADATA, model.name, why, source.place(1), None
        )
    seen: set[str] = set()
    for match in _LOAD.finditer(source.data):
        name = match[1].decode("utf-8", "replace").replace("\\\\", "/").replace("\\", "/").rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            place = source.place(source.line_at(match.start()))
            why = "the wrapper loads this kernel by name"
            yield Reference(
                f"{model.folder}{name}", FileRole.KERNEL_BINARY, model.name, why, place, by_base.get(name)
            )
    proxy = next(proxy_calls(source), None)
    if proxy is not None:
        listed = model.one(FileRole.EXTERN_NODES)
        path = f"{model.folder}{listed.base if listed else f'{stem}.json'}"
        place = source.place(source.line_at(proxy[1]))
        why = "the wrapper calls operators by their number in this list"
        yield Reference(path, FileRole.EXTERN_NODES, model.name, why, place, listed)


def proxy_calls(source: Source) -> Iterator[tuple[int, int]]:
    """Yield (number of the operator, offset) of each call of the proxy executor in a wrapper."""
    for match in _PROXY.finditer(source.data):
        yield int(match[1]), match.start()


def _of_weights(model: PackagedModel) -> Iterator[Reference]:
    store = model.weights
    stem = _stem(model)
    link = model.builds.get("link")
    if model.cpp_only and link is not None and store.location is ValueIn.BIN:
        # It says how many weights there are behind the library.
        for name in (o for o in link.objects if o.endswith(_OBJECTS_OF_WEIGHTS)):
            here = next((f for f in model.files if f.base == name), None)
            why = "an object file that the link command takes"
            yield Reference(f"{model.folder}{name}", FileRole.OBJECT, model.name, why, link.place, here)
    single = {
        ValueIn.BLOB: (FileRole.WEIGHTS_BLOB, f"{stem}_weights.blob", "the weights"),
        ValueIn.BIN: (FileRole.WEIGHTS_BIN, f"{stem}_serialized_weights.bin", "the weights"),
        ValueIn.OBJECT: (FileRole.OBJECT, _object_of_weights(model, stem), "the weights as an object file"),
    }
    if store.location in single:
        role, name, why = single[store.location]
        path = f"{model.folder}{store.file.base if store.file is not None else name}"
        yield Reference(path, role, model.name, f"{why}: {store.why}", store.by, store.file)
    shared = {f.path: f for f in model.shared}
    for tensor in model.stored_weights:
        path = tensor.path or "data/weights/"
        why = f"weights_config.json: the value of {tensor.fqn}"
        yield Reference(path, FileRole.WEIGHT, model.name, why, tensor.source.place(1), shared.get(path))


def _object_of_weights(model: PackagedModel, stem: str) -> str:
    link = model.builds.get("link")
    named = [] if link is None else [o for o in link.objects if o.endswith(_OBJECTS_OF_WEIGHTS)]
    return named[0] if named else f"{stem}.weights.o"


def _stem(model: PackagedModel) -> str:
    """Return the name that files of a model begin with: that of its wrapper without `.cpp`."""
    base = model.wrapper_file.base if model.wrapper_file is not None else "model"
    return base.removesuffix(".cpp")


def references_of_program(program: SavedProgram) -> Iterator[Reference]:
    """Yield the files that an exported program needs."""
    file = program.file
    by = None if file is None or file.source is None else file.source.place(1)
    shared = {f.path: f for f in (*program.shared, *program.files)}
    if file is not None and file.path.startswith("models/"):
        own = (
            (FileRole.WEIGHTS_CONFIG, f"data/weights/{program.name}_weights_config.json", f"data/weights/{program.name}.pt"),
            (FileRole.CONSTANTS_CONFIG, f"data/constants/{program.name}_constants_config.json", f"data/constants/{program.name}.pt"),
            (FileRole.SAMPLE_INPUTS, f"data/sample_inputs/{program.name}.pt", None),
        )  # fmt: skip
        for role, path, older in own:
            here = shared.get(path) or (None if older is None else shared.get(older))
            yield Reference(path, role, program.name, f"what torch reads with {file.base}", by, here)
    for tensor in program.stored:
        path = tensor.path or tensor.folder
        role = FileRole.WEIGHT if tensor.folder == "data/weights/" else FileRole.CONSTANT
        why = f"a config: the value of {tensor.fqn}"
        yield Reference(path, role, program.name, why, tensor.source.place(1), shared.get(path))

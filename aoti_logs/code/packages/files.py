"""From the files below one folder to a package: which model each of them belongs to, and what it is for."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.code.packages.build import commands
from aoti_logs.code.packages.file import FileRole, PackageFile, role_in_model, role_in_package
from aoti_logs.code.packages.package import Form, Package, PackagedModel, SavedProgram
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.sources.source import Source

_MODELS = "data/aotinductor/"
_DEEPEST = 20
_MAKES_A_MODEL = frozenset({FileRole.WRAPPER, FileRole.LIBRARY, FileRole.METADATA, FileRole.COMPILE_FLAGS})
_OF_PROGRAM = (
    re.compile(r"models/(.+)\.json"),
    re.compile(r"data/weights/(.+)_weights_config\.json"),
    re.compile(r"data/constants/(.+)_constants_config\.json"),
    re.compile(r"data/sample_inputs/(.+)\.pt"),
    re.compile(r"data/(?:weights|constants)/(.+)\.pt"),
)
_SHARED_NAMES = frozenset({"kernel_information.json", "custom_objs_config.json", "weights_config.json"})
_LOADED = re.compile(rb'\bloadKernel\(\s*"((?:[^"\\\n]|\\.){1,4000})"')


@dataclass
class Entry:
    """A file or archive member: `path` inside of what holds it (absolute on disk), `name` as `sources.name`."""

    path: str
    name: str
    source: Source | None
    size: int | None
    problem: str | None

    def file(self, path: str, role: FileRole, model: str | None = None) -> PackageFile:
        """Return it as a file of a package."""
        return PackageFile(
            path, self.name, _by_content(role, self.source), model, self.source, self.size, self.problem
        )


def package_of(
    name: str,
    form: Form,
    root: str,
    entries: Sequence[Entry],
    problems: tuple[str, ...],
    archive: Source | None,
) -> Package:
    """Make a package of what lies below one folder.

    Args:
        name: how a person finds it.
        form: what it is on disk.
        root: the folder in the archive, or on disk, with a slash at the end; may be empty.
        entries: its files.
        problems: sentences about the whole.
        archive: the archive.
    """
    paths = [e.path.removeprefix(root) for e in entries]
    folders = _model_folders(paths)
    programs = _program_names(paths)
    files = []
    for entry, path in zip(entries, paths, strict=True):
        if path.startswith(_MODELS):
            folder = _folder_of(path, folders)
            model = None if folder is None else folder[len(_MODELS) : -1]
            files.append(entry.file(path, role_in_model(path.rpartition("/")[2]), model))
        else:
            owner = _program_of(path)
            files.append(entry.file(path, role_in_package(path), owner if owner in programs else None))
    by_model: dict[str, list[PackageFile]] = {}
    for file in files:
        if file.model is not None and file.path.startswith(_MODELS):
            by_model.setdefault(file.model, []).append(file)
    shared = tuple(f for f in files if not f.path.startswith(_MODELS))
    names = set(paths)
    markers = ("archive_version", "byteorder", ".data/version", "version")
    whole = not problems and (form is Form.ARCHIVE or any(m in names for m in markers))
    models = []
    for model, own in by_model.items():
        told = {id(f): f for f in _with_one_library(own)}
        files = [told.get(id(f), f) for f in files] if len(told) == len(own) else files
        models.append(PackagedModel(model, tuple(told.values()), shared, f"{_MODELS}{model}/", form, whole))
    found = tuple(SavedProgram(p, tuple(f for f in shared if f.model == p), shared) for p in sorted(programs))
    prefix = root if form is Form.ARCHIVE else ""
    return Package(name, form, prefix, tuple(files), tuple(models), found, problems, archive)


def _model_folders(paths: Iterable[str]) -> set[str]:
    """Return the folders below `data/aotinductor/` that hold what makes a model, with a slash at the end."""
    found = set()
    for path in paths:
        if path.startswith(_MODELS) and role_in_model(path.rpartition("/")[2]) in _MAKES_A_MODEL:
            folder = path[: path.rindex("/") + 1]
            if folder != _MODELS:
                found.add(folder)
    return found


def _folder_of(path: str, folders: set[str]) -> str | None:
    """Return the folder of the model that a file belongs to: the outermost that makes a model, or the first at all."""
    at = len(_MODELS)
    first = None
    for _ in range(_DEEPEST):
        at = path.find("/", at) + 1
        if at == 0:
            break
        folder = path[:at]
        first = first or folder
        if folder in folders:
            return folder
    return first


def _program_of(path: str) -> str | None:
    if path.startswith("serialized_") and "/" not in path:
        return "model"
    return next((m[1] for pattern in _OF_PROGRAM if (m := pattern.fullmatch(path))), None)


def _program_names(paths: Iterable[str]) -> set[str]:
    names = {m[1] for path in paths if (m := _OF_PROGRAM[0].fullmatch(path))}
    return names | {"model" for path in paths if path == "serialized_exported_program.json"}


def _by_content(role: FileRole, source: Source | None) -> FileRole:
    """Correct what a name alone says: other `.cpp` and `.json` files."""
    if source is None:
        return role
    if role is FileRole.WRAPPER and source.kind is Kind.KERNEL_CPP:
        return FileRole.KERNEL
    if (
        role is FileRole.WRAPPER
        and source.kind is not Kind.WRAPPER_CPP
        and not source.name.endswith(".wrapper.cpp")
    ):
        return FileRole.OTHER
    if role is FileRole.EXTERN_NODES and b'"nodes"' not in bytes(source.data[:200]):
        return FileRole.OTHER
    return role


def _with_one_library(files: Sequence[PackageFile]) -> Sequence[PackageFile]:
    """Mark libraries beside the model's own (kernels that Triton made for a CPU) as such."""
    libraries = [f for f in files if f.role is FileRole.LIBRARY]
    if len(libraries) < 2:
        return files
    stems = {f.base.removesuffix(".cpp") for f in files if f.role is FileRole.WRAPPER}
    own = [f for f in libraries if f.base.rpartition(".")[0] in stems] or [
        f for f in libraries if ".wrapper." in f.base
    ]
    if len(own) != 1:
        return files
    return [
        replace(f, role=FileRole.OTHER_LIBRARY) if f in libraries and f is not own[0] else f for f in files
    ]


def loose_packages(entries: Sequence[Entry]) -> Iterator[Package]:
    """Yield models whose files lie beside each other without a package: torch 2.4, or a folder of the cache.

    A text that was printed or dumped has neither the commands that torch appends to the file that it compiles, nor a library or
    metadata beside it.
    """
    wrappers = [e for e in entries if e.source is not None and e.source.kind is Kind.WRAPPER_CPP]
    if not wrappers:
        return
    folders: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        folder, _, base = entry.path.rpartition("/")
        folders.setdefault(folder, {})[base] = entry
    ordered = {folder: sorted(beside) for folder, beside in folders.items()}
    alone: dict[str, int] = {}
    for wrapper in wrappers:
        folder = wrapper.path.rpartition("/")[0]
        alone[folder] = alone.get(folder, 0) + 1
    for wrapper in wrappers:
        source = wrapper.source
        if source is None or source.data.find(b"AOTInductorModelBase(") < 0:
            continue
        folder, _, base = wrapper.path.rpartition("/")
        beside = folders[folder]
        stem = base.removesuffix(".cpp")
        built = commands(source)
        names = _names_of(source, stem)
        names |= {*_starting(ordered[folder], f"{stem}."), *_starting(ordered[folder], f"{stem}_")}
        own = {n: beside[n] for n in sorted(names & beside.keys())}
        if alone[folder] == 1:
            own |= {
                n: e for n, e in beside.items() if n in _SHARED_NAMES or re.fullmatch(r"custom_obj_\d+", n)
            }
        if not built and len(own) < 2:
            continue
        model = stem.removesuffix(".wrapper")
        files = tuple(e.file(n, role_in_model(n), model) for n, e in own.items())
        part = PackagedModel(model, files, files, "", Form.FILES, whole=False)
        yield Package(wrapper.name, Form.FILES, "", files, (part,))


def _starting(names: list[str], start: str) -> list[str]:
    """Return those of sorted names that begin with a text."""
    at = bisect_left(names, start)
    end = at
    while end < len(names) and names[end].startswith(start):
        end += 1
    return names[at:end]


def _names_of(source: Source, stem: str) -> set[str]:
    """Return the names of files that a wrapper, and the commands at its end, speak of."""
    found = {f"{stem}.cpp", f"{stem}.so"}
    link = commands(source).get("link")
    if link is not None:
        if link.output:
            found.add(link.output)
        for name in link.objects:
            own = name.rpartition(".")[0]
            found |= {name, f"{own}.cpp", f"{own}_metadata.json"}
    for match in _LOADED.finditer(source.data):
        found.add(match[1].decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2])
    if link is not None and link.output:
        found.add(f"{link.output.rpartition('.')[0]}.json")
    return found

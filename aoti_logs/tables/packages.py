"""Models in packages of AOTInductor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy
import orjson

from aoti_logs.code.packages.file import FileRole
from aoti_logs.code.packages.package import PackagedModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.code.packages.package import Package, SavedProgram


class Packages(dy.Schema):
    """One row a model or exported program in a package, an unpacked package, or beside its files without one.

    An archive that holds neither has a row all the same. `Evidence.packages` has the same as objects.
    """

    package = dy.String(
        nullable=False,
        description="The archive as `sources.name`, the folder, or for files without a package the wrapper.",
    )
    form = dy.String(
        nullable=False,
        description="`archive`, `folder` (unpacked), or `files` (a model's files without a package).",
    )
    layout = dy.String(
        nullable=False,
        description="How the members are laid out: `prefixed` (torch 2.8 and later), `bare` (2.5 to 2.7), `files`, `unknown`.",
    )
    prefix = dy.String(nullable=True, description="Folder in the archive that holds everything.")
    model = dy.String(
        nullable=True, description="Name that it is loaded by; null for an archive without any."
    )
    kind = dy.String(nullable=True, description="`aotinductor` or `exported_program`.")
    wrapper = dy.String(
        nullable=True, description="The generated wrapper, or the program's JSON, as `sources.name`."
    )
    n_inputs = dy.Int64(
        nullable=True, description="Number of inputs that the wrapper's constructor announces."
    )
    n_outputs = dy.Int64(nullable=True, description="Number of outputs that it announces.")
    n_constants = dy.Int64(nullable=True, description="Number of constants that it announces.")
    kernel_files = dy.List(
        dy.String(), nullable=False, description="Files of C++ kernels beside the wrapper."
    )
    library = dy.String(nullable=True, description="The compiled model; null where it is not there.")
    cpp_only = dy.Bool(
        nullable=True, description="True when it is compiled by who loads it, so that no library is missing."
    )
    n_kernel_binaries = dy.Int64(
        nullable=False, description="Number of compiled GPU kernels (`.cubin`, `.hsaco`, `.spv`)."
    )
    whole = dy.Bool(
        nullable=True,
        description="False where what is not there may be elsewhere: an archive that was cut off, a folder that is not all of "
        "a package, files without one.",
    )
    missing = dy.List(
        dy.String(),
        nullable=False,
        description="Files that it needs by its own word and that are not there; `package_files` says who names them.",
    )
    device = dy.String(nullable=True, description="Device type that it was compiled for, from its metadata.")
    platform = dy.String(
        nullable=True, description="Operating system of the machine that compiled it (torch 2.10)."
    )
    machine = dy.String(nullable=True, description="Processor family of that machine (torch 2.10).")
    cpu_isa = dy.String(nullable=True, description="Vector instructions of that machine (torch 2.10).")
    compute_capability = dy.String(
        nullable=True, description="Compute capability of that machine's GPU; empty without one (torch 2.10)."
    )
    user_metadata = dy.String(nullable=True, description="What the user added to the metadata, as JSON.")
    metadata_differs = dy.List(
        dy.String(),
        nullable=True,
        description="Keys whose value differs between wrapper's and kernels' metadata.",
    )
    weights = dy.String(
        nullable=True,
        description="Where the weights are: `library`, `library_tail`, `object`, `bin`, `blob`, `files`, `caller` "
        "(nowhere in the package), `nothing` (there are none), `unknown`.",
    )
    weights_file = dy.String(
        nullable=True, description="The file that holds or lists them, where it is there."
    )
    weights_bytes = dy.Int64(nullable=True, description="Bytes that they take there.")
    loads_weights = dy.Bool(
        nullable=True,
        description="Whether loading the model brings its weights, without anybody giving them; null: not known.",
    )
    weights_reason = dy.String(nullable=True, description="How that is known.")
    extern_ops = dy.List(
        dy.String(),
        nullable=False,
        description="Operators that the proxy executor calls, by their number there.",
    )
    kernel_information = dy.Bool(
        nullable=False, description="Whether the Python lines of its kernels are there."
    )
    compile_command = dy.String(nullable=True, description="Command that compiled it, or its flags as JSON.")
    link_command = dy.String(nullable=True, description="Command that linked it, or its flags as JSON.")
    archive_version = dy.String(
        nullable=True, description="Version of the package format that the archive names."
    )
    byteorder = dy.String(nullable=True, description="Byte order that the archive names.")
    torch_version = dy.String(nullable=True, description="Version of torch that a file of the package names.")
    torch_at_least = dy.String(nullable=True, description="Release that made it, at least.")
    torch_below = dy.String(nullable=True, description="Release that made it is older than this one.")
    torch_evidence = dy.List(dy.String(), nullable=False, description="What tells these.")
    problems = dy.List(
        dy.String(),
        nullable=False,
        description="What of the archive could not be read, and what in the model does not fit together.",
    )


SCHEMA = Packages


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for package in run.evidence.packages:
        for part in package.parts:
            yield _row(package, part)
        if not (package.models or package.programs):
            yield _row(package, None)


def _row(package: Package, part: PackagedModel | SavedProgram | None) -> tuple[Any, ...]:
    told = package.torch(part)
    model = part if isinstance(part, PackagedModel) else None
    missing = () if part is None else tuple(dict.fromkeys(r.path for r in part.missing if r.needed))
    return (
        package.name, str(package.form), str(package.layout), package.prefix.rstrip("/") or None,
        None if part is None else part.name,
        None if part is None else "aotinductor" if model is not None else "exported_program",
        *(_of_model(model) if model is not None else _of_program(part)),
        list(missing),
        *_metadata(model), *_weights(model),
        [] if model is None else [n.target or "" for n in model.extern_nodes],
        model is not None and bool(model.of_role(FileRole.KERNEL_INFORMATION)),
        *(None if model is None or step not in model.builds else model.builds[step].text for step in ("compile", "link")),
        package.marker("archive_version") or package.marker("version"), package.marker("byteorder"),
        told.exact, told.at_least, told.below, list(told.evidence), [*package.problems, *(() if model is None else model.problems)],
    )  # fmt: skip


def _of_model(model: PackagedModel) -> tuple[Any, ...]:
    base = None if model.wrapper is None else model.wrapper.base
    return (
        None if model.wrapper_file is None else model.wrapper_file.name,
        *((None,) * 3 if base is None else (base.inputs, base.outputs, base.constants)),
        [k.name for k in model.kernels],
        None if model.library is None else model.library.name,
        model.cpp_only,
        len(model.kernel_binaries),
        model.whole,
    )


def _of_program(program: SavedProgram | PackagedModel | None) -> tuple[Any, ...]:
    file = None if program is None else program.one(FileRole.PROGRAM)
    return None if file is None else file.name, None, None, None, [], None, None, 0, None


def _metadata(model: PackagedModel | None) -> tuple[Any, ...]:
    if model is None:
        return (None,) * 7
    told = model.metadata
    user = orjson.dumps(told.user, option=orjson.OPT_SORT_KEYS).decode() if told.user else None
    differ = [key for key, _, _ in told.disagreements] if len(told.read) > 1 else None
    return told.device, told.platform, told.machine, told.cpu_isa, told.compute_capability, user, differ


def _weights(model: PackagedModel | None) -> tuple[Any, ...]:
    if model is None:
        return (None,) * 5
    store = model.weights
    file = None if store.file is None else store.file.name
    return str(store.location), file, store.size, store.loaded_by_itself, store.why

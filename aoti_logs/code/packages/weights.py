"""Where the values of a model's constants lie, and which sentence of which file says so.

The wrapper's constructor says whether the library brings its weights (`include_weights`); macros of the compile command say
whether they stand behind the library's end (`USE_MMAP_SELF`) or in a file of their own (`USE_MMAP_EXTERNAL`);
`weights_config.json` lists those that are files of the package. `load_constants` in
`torch/csrc/inductor/aoti_runtime/model_base.h` reads all constants that are not folded one behind the other, `data_size` bytes each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from aoti_logs.code.packages.file import FileRole
from aoti_logs.code.packages.json import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import Constant
    from aoti_logs.code.packages.file import PackageFile
    from aoti_logs.code.packages.json import StoredTensor
    from aoti_logs.code.packages.package import PackagedModel
    from aoti_logs.sources.source import Place


class ValueIn(StrEnum):
    """Where a value lies."""

    LIBRARY = "library"
    """In the compiled library."""
    LIBRARY_TAIL = "library_tail"
    """Behind the library's end, in the same file (`force_mmap_weights`, and weights of more than 2 GB)."""
    OBJECT = "object"
    """In an object file that is linked when the package is loaded (`package_cpp_only`)."""
    BIN = "bin"
    """In a file that is put behind the library when the package is loaded (`package_cpp_only` with mapped weights)."""
    BLOB = "blob"
    """In one file beside the library (`package_constants_on_disk_format="binary_blob"`): loading the package maps it, loading the
    library alone does not."""
    FILES = "files"
    """Each in a file of the package (`"pickle_weights"`), which torch reads only when it is asked to (`load_weights_from_disk`)."""
    CALLER = "caller"
    """Not with the model: who loads it has to give it. An exported program in the same package may hold it."""
    COMPUTED = "computed"
    """Computed of other constants when the model is loaded."""
    NOTHING = "nothing"
    """There is no value: no constants, or a tensor without elements."""
    UNKNOWN = "unknown"


_GIVEN = frozenset({ValueIn.FILES, ValueIn.CALLER})
_NOT_SAID = frozenset({ValueIn.UNKNOWN, ValueIn.NOTHING})


@dataclass(frozen=True)
class WeightStore:
    """Where a model's weights are.

    `file` is the file that holds them all, where it is there, and `why` says how that is known, `by` with which line. `size` are the
    bytes that all of them need there; None where the wrapper does not say. `loadable`: nothing that loading them takes is missing.
    """

    location: ValueIn
    file: PackageFile | None
    why: str
    by: Place | None
    size: int | None = None
    loadable: bool = True

    @property
    def loaded_by_itself(self) -> bool | None:
        """Whether loading the model brings them, without anybody giving them; None where that is not known."""
        if self.location is ValueIn.BLOB:
            return self.loadable
        if not self.loadable:
            return None
        return None if self.location in _NOT_SAID else self.location not in _GIVEN


@dataclass(frozen=True)
class ConstantValue:
    """Where the value of one constant lies.

    Args:
        constant: the constant.
        location: in what.
        file: the file that holds it, where it is there.
        path: where that file stands, or should stand, in the package.
        offset: first byte among the weights there; of a weight in a file of its own, first element of its storage.
        present: False when nothing at hand holds it, None when that is not known.
        why: how that is known.
        by: the line that says so.
        problem: what does not fit, in one sentence.
    """

    constant: Constant
    location: ValueIn
    file: PackageFile | None = None
    path: str | None = None
    offset: int | None = None
    present: bool | None = None
    why: str = ""
    by: Place | None = None
    problem: str | None = None


def weight_store(model: PackagedModel) -> WeightStore:
    """Return where a model's weights are."""
    wrapper = model.wrapper
    base = None if wrapper is None else wrapper.base
    if wrapper is None or base is None:
        return WeightStore(ValueIn.UNKNOWN, None, "there is no wrapper whose constructor would say so", None)
    # A wrapper that was cut off describes fewer constants than it announces.
    size = _total(wrapper.constants) if len(wrapper.constants) == base.constants else None
    place = wrapper.source.place(base.include_line)
    if not base.constants:
        return WeightStore(
            ValueIn.NOTHING, None, "the model has no constants", wrapper.source.place(base.line), 0
        )
    if size == 0:
        return WeightStore(ValueIn.NOTHING, None, "all constants are folded, or without elements", place, 0)
    compiled = model.builds.get("compile")
    blob = model.one(FileRole.WEIGHTS_BLOB)
    if compiled is not None and compiled.defines("USE_MMAP_EXTERNAL"):
        why = "it was compiled with USE_MMAP_EXTERNAL: weights are in a file of their own"
        return WeightStore(ValueIn.BLOB, blob, why, compiled.place, size, bool(model.folder))
    if base.include_weights is False:
        config = model.one(FileRole.WEIGHTS_CONFIG)
        why = "the constructor says that the library comes without weights (include_weights is false)"
        location = ValueIn.BLOB if blob is not None else ValueIn.CALLER if config is None else ValueIn.FILES
        if location is ValueIn.CALLER and model.folder and not model.whole:
            why += ", and what is left of the package does not show where they are"
            location = ValueIn.UNKNOWN
        return WeightStore(location, blob or config, why, place, size, bool(model.folder))
    mapped = compiled is not None and compiled.defines("USE_MMAP_SELF")
    by = compiled.place if mapped and compiled is not None else place
    why = (
        "it was compiled with USE_MMAP_SELF: weights stand behind the library's end"
        if mapped
        else "the constructor says that the library brings its weights (include_weights is true)"
        if base.include_weights
        else "libraries of this torch always bring their weights: the constructor has no argument for that"
    )
    if model.cpp_only:
        file = model.one(FileRole.WEIGHTS_BIN)
        objects = model.of_role(FileRole.OBJECT)
        if mapped or file is not None:
            return WeightStore(ValueIn.BIN, file, why, by, size, loadable=bool(objects))
        named = [f for f in objects if f.base.endswith((".weights.o", ".weights.obj"))]
        file = named[0] if named else objects[0] if len(objects) == 1 else None
        return WeightStore(ValueIn.OBJECT, file, why, by, size)
    location = ValueIn.LIBRARY_TAIL if mapped else ValueIn.LIBRARY
    return WeightStore(location, model.library, why, by, size)


def _total(constants: tuple[Constant, ...]) -> int | None:
    sizes = [c.data_size for c in constants if not c.from_folded]
    known = [s for s in sizes if s is not None]
    return sum(known) if len(known) == len(sizes) else None


def values(model: PackagedModel) -> tuple[ConstantValue, ...]:
    """Return where the value of each constant lies."""
    if model.wrapper is None:
        return ()
    found = tuple(_values(model, model.wrapper.constants))
    present = {v.constant.name: v.present for v in found}
    return tuple(_of_parts(model, v, present) if v.location is ValueIn.COMPUTED else v for v in found)


def _values(model: PackagedModel, constants: tuple[Constant, ...]) -> Iterator[ConstantValue]:
    store = model.weights
    told = {t.fqn: t for t in model.stored_weights}
    offset: int | None = 0
    for expected, constant in enumerate(constants):
        if constant.index != expected:
            offset = None  # what stands before it is not known
        if constant.from_folded:
            yield _folded(model, constant)
            continue
        if constant.data_size == 0:
            yield ConstantValue(constant, ValueIn.NOTHING, present=True, why="it has no elements")
        elif store.location is ValueIn.FILES:
            yield _in_files(model, constant, told)
        else:
            yield _in_store(model, store, constant, offset)
        offset = None if offset is None or constant.data_size is None else offset + constant.data_size


def _folded(model: PackagedModel, constant: Constant) -> ConstantValue:
    how = model.foldings.get(constant.name)
    source = model.wrapper.source if model.wrapper is not None else None
    by = None if source is None else source.place(constant.line if how is None else how.line)
    why = "the model computes it when it is loaded (from_folded is true)"
    if how is not None and how.reads:
        why = f"the model computes it of {', '.join(how.reads)} when it is loaded"
    return ConstantValue(constant, ValueIn.COMPUTED, why=why, by=by)


def _of_parts(model: PackagedModel, value: ConstantValue, present: dict[str, bool | None]) -> ConstantValue:
    """Say of a computed constant whether what it is computed of is there."""
    how = model.foldings.get(value.constant.name)
    if how is None or how.reads is None:
        return value
    parts = [present.get(name) for name in how.reads]
    lacking = [name for name in how.reads if present.get(name) is False]
    return replace(
        value,
        present=False if lacking else None if None in parts else True,
        problem=f"{', '.join(lacking)} is not there" if lacking else None,
    )


def _in_store(
    model: PackagedModel, store: WeightStore, constant: Constant, offset: int | None
) -> ConstantValue:
    """Take a constant that lies with all others."""
    location, file = store.location, store.file
    if location is ValueIn.UNKNOWN:
        return ConstantValue(constant, location, why=store.why, by=store.by)
    if location is ValueIn.CALLER:
        held = model.beside.get(constant.fqn or "")
        file = None if held is None else next((f for f in model.shared if f.path == held.path), None)
        if held is None or file is None:
            return ConstantValue(constant, location, present=False, why=store.why, by=store.by)
        why = f"{store.why}; an exported program beside it has a tensor of this name, which torch does not give to the model"
        return ConstantValue(
            constant, location, file, file.path, held.offset, True, why, store.by, file.problem
        )
    if file is None:
        present = False if model.whole else None
        return ConstantValue(
            constant, location, None, None, offset, present, store.why, store.by, _gone(location, model)
        )
    end = None if offset is None or constant.data_size is None else offset + constant.data_size
    problem, present = file.problem, True
    if end is not None and file.size is not None and file.size < end:
        # The file holds more than the weights, or just them.
        present = False
        problem = (
            f"{file.base} has {file.size:,} bytes, and this value would end {end:,} bytes into the weights"
        )
    return ConstantValue(constant, location, file, file.path, offset, present, store.why, store.by, problem)


def _gone(location: ValueIn, model: PackagedModel) -> str:
    what = {
        ValueIn.BLOB: "the file of weights",
        ValueIn.BIN: "the file of weights",
        ValueIn.OBJECT: "the object file of weights",
    }.get(location, "the library")
    return f"{what} is not {_where(model)}"


def _where(model: PackagedModel) -> str:
    if not model.folder:
        return "beside the wrapper"
    return "in the package" if model.whole else "in what is left of the package"


def _in_files(model: PackagedModel, constant: Constant, told: dict[str, StoredTensor]) -> ConstantValue:
    """Take a constant that lies in a file of its own."""
    config = model.one(FileRole.WEIGHTS_CONFIG)
    name = "weights_config.json" if config is None else config.base
    entry = told.get(constant.fqn or "") or told.get(constant.name)
    if entry is None:
        problem = f"{name} does not list it"
        if config is None or not is_whole(config):
            return ConstantValue(constant, ValueIn.UNKNOWN, why=f"{name} cannot be read")
        return ConstantValue(
            constant,
            ValueIn.CALLER,
            present=False,
            why=model.weights.why,
            by=model.weights.by,
            problem=problem,
        )
    file = next((f for f in model.shared if f.path == entry.path), None)
    place = entry.source.place(1)
    why = f"{name} names {entry.file}"
    if file is None:
        problem = f"{entry.path or 'the file'} is not {_where(model)}"
        present = False if model.whole else None
        return ConstantValue(
            constant, ValueIn.FILES, None, entry.path, entry.offset, present, why, place, problem
        )
    differ = [
        f"{what} {_shown(theirs)} in {name}, {_shown(ours)} in the wrapper"
        for what, theirs, ours in (
            ("shape", entry.shape, constant.shape),
            ("stride", entry.stride, constant.stride),
            ("storage offset", entry.offset, constant.offset),
        )
        if theirs is not None and ours is not None and theirs != ours
    ]
    problem_of_file = file.problem
    return ConstantValue(
        constant,
        ValueIn.FILES,
        file,
        entry.path,
        entry.offset,
        True,
        why,
        place,
        "; ".join(differ) or problem_of_file,
    )


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)

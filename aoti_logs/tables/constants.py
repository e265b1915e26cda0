"""Weights and other constants of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.code.model import Constant
    from aoti_logs.code.packages.package import Package, PackagedModel
    from aoti_logs.code.packages.weights import ConstantValue
    from aoti_logs.sources.source import Place, Source


class Constants(dy.Schema):
    """One row a constant of a wrapper; of a wrapper that several packages hold, one for each of them.

    Objects of C++ classes, which packages list in a file of their own, have no index.
    """

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=True, description="Index in the table of constants.")
    name = dy.String(nullable=False, description="Name in the generated code.")
    fqn = dy.String(nullable=True, description="Module path, `emb.weight`.")
    constant_type = dy.String(
        nullable=True,
        description="`Parameter`, `Buffer`, `TensorConstant`, `FoldedConstant` or `Unknown` as torch has it, "
        "`CustomObject` for an object of a C++ class; null before torch 2.6, which does not tell.",
    )
    dtype = dy.String(nullable=True, description="Dtype, by torch's name (`float32`).")
    shape = dy.List(dy.Int64(), nullable=True, description="Shape.")
    stride = dy.List(dy.Int64(), nullable=True, description="Strides in elements.")
    offset = dy.Int64(nullable=True, description="Storage offset in elements.")
    data_size = dy.Int64(
        nullable=True,
        description="Bytes of its storage, filled up to 64 in models that have constants on the CPU.",
    )
    device = dy.String(nullable=True, description="Device type; null where the wrapper does not tell.")
    layout = dy.String(nullable=True, description="Layout: `strided`, `_mkldnn`, ...")
    opaque_metadata_size = dy.Int64(
        nullable=True, description="Bytes of oneDNN's description; null unless the tensor is opaque."
    )
    from_folded = dy.Bool(nullable=True, description="True when the model computes it when it is loaded.")
    folded_of = dy.List(
        dy.String(),
        nullable=True,
        description="Constants that it may be computed of, by their names in the code.",
    )
    folded_by = dy.List(
        dy.String(), nullable=True, description="Kernels and operators that compute it, in order."
    )
    package = dy.String(
        nullable=True, description="The package that holds the wrapper, as `packages.package`."
    )
    model = dy.String(nullable=True, description="The model in that package.")
    value_in = dy.String(
        nullable=True,
        description="Where its value lies: as `packages.weights`, or `computed`; null for a wrapper without a package or files.",
    )
    value_file = dy.String(nullable=True, description="The file that holds it, or would.")
    value_offset = dy.Int64(
        nullable=True,
        description="First byte among the weights there; first element of the storage where `value_in` is `files`.",
    )
    value_present = dy.Bool(
        nullable=True,
        description="False when nothing at hand holds it (see `value_in`); null when that is not known.",
    )
    value_reason = dy.String(nullable=True, description="How that is known.")
    value_problem = dy.String(nullable=True, description="What does not fit.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Constants


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    models = _models(run)
    for view in run.views():
        wrapper = view.wrapper
        homes = _homes(models.get(id(run.evidence.base.code_of(wrapper.source)), []))
        for package, model in homes:
            for value in model.values:
                yield _row(wrapper.source, value.constant, package, model, value)
        for c in () if homes else wrapper.constants:
            yield _row(wrapper.source, c, None, None, None)
    for package in run.evidence.packages:
        for model in package.models:
            yield from _objects(package, model)


def _homes(found: list[tuple[Package, PackagedModel]]) -> list[tuple[Package, PackagedModel]]:
    """Return the packages among what holds a wrapper; loose files only where no package does."""
    return [f for f in found if f[1].folder] or found


def _models(run: Run) -> dict[int, list[tuple[Package, PackagedModel]]]:
    found: dict[int, list[tuple[Package, PackagedModel]]] = {}
    for package in run.evidence.packages:
        for model in package.models:
            file = model.wrapper_file
            code = None if file is None or file.source is None else run.evidence.base.code_of(file.source)
            if code is not None:
                found.setdefault(id(code), []).append((package, model))
    return found


def _row(
    wrapper: Source,
    c: Constant,
    package: Package | None,
    model: PackagedModel | None,
    value: ConstantValue | None,
) -> tuple[Any, ...]:
    file = model.wrapper_file if model is not None else None
    place = (file.source if file is not None and file.source is not None else wrapper).place(c.line)
    how = None if model is None else model.foldings.get(c.name)
    return (
        wrapper.name, c.index, c.name, c.fqn, c.constant_type, c.dtype, _list(c.shape), _list(c.stride), c.offset,
        c.data_size, c.device, c.layout, c.opaque_metadata_size, c.from_folded,
        None if how is None else _list(how.reads), None if how is None else _list(how.calls),
        None if package is None else package.name, None if model is None else model.name, *_value(value),
        place.source, place.line,
    )  # fmt: skip


def _value(value: ConstantValue | None) -> tuple[Any, ...]:
    if value is None:
        return (None,) * 6
    return (
        str(value.location), value.path if value.file is None else value.file.name, value.offset, value.present,
        value.why, value.problem,
    )  # fmt: skip


def _objects(package: Package, model: PackagedModel) -> Iterator[tuple[Any, ...]]:
    by_path = {r.path: r for r in model.references}
    wrapper = model.wrapper_file
    for thing in model.custom_objects:
        told = by_path.get(f"data/constants/{thing.file}")
        file = None if told is None else told.file
        place: Place = thing.source.place(1)
        problem = None if file is not None else "the file of the object is not in the package"
        yield (
            place.source if wrapper is None else wrapper.name, None, thing.name, None, "CustomObject", *(None,) * 11,
            package.name, model.name, "files", thing.file if file is None else file.name, None, file is not None,
            "custom_objs_config.json names it", problem, place.source, place.line,
        )  # fmt: skip


def _list(values: tuple[Any, ...] | None) -> list[Any] | None:
    return None if values is None else list(values)

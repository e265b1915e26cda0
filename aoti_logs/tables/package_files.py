"""Files of packages: members that are there, and those that are named and missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.code.packages.file import Reference


class PackageFiles(dy.Schema):
    """One row a file of a package, and one a file that is named in it and is not there."""

    package = dy.String(nullable=False, description="The package, as `packages.package`.")
    path = dy.String(nullable=False, description="Where it stands in the package, or would.")
    file = dy.String(
        nullable=True, description="How a person finds it, as `sources.name`; null for one that is missing."
    )
    role = dy.String(
        nullable=False, description="What it is for: `wrapper`, `library`, `metadata`, `weight`, ..."
    )
    model = dy.String(nullable=True, description="The model or program that it belongs to, or is named by.")
    bytes = dy.Int64(nullable=True, description="Bytes, unpacked; null for one that is missing.")
    missing = dy.Bool(nullable=False, description="True when it is only named.")
    needed = dy.Bool(
        nullable=True,
        description="Whether the model needs it to be loaded and run; null where nothing names it.",
    )
    named_for = dy.String(nullable=True, description="What it is named for.")
    source = dy.String(nullable=True, description="File that names it, as `sources.name`.")
    line = dy.Int64(nullable=True, description="Line that names it, from 1.")
    problem = dy.String(nullable=True, description="Why it could not be read, or not all of it.")


SCHEMA = PackageFiles


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for package in run.evidence.packages:
        named: dict[str, Reference] = {}
        missing: dict[str, Reference] = {}
        for part in package.parts:
            for told in part.references:
                if told.file is not None:
                    named.setdefault(told.file.name, told)
                else:
                    missing.setdefault(told.path, told)
        for file in package.files:
            reference = named.get(file.name)
            # Reading it may tell what is wrong with it.
            size = file.size
            problem = file.problem or (
                file.source.problems[0] if file.source is not None and file.source.problems else None
            )
            yield (
                package.name, file.path, file.name, str(file.role), file.model, size, False, *_named(reference), problem,
            )  # fmt: skip
        for path, reference in missing.items():
            yield (
                package.name, path, None, str(reference.role), reference.model, None, True, *_named(reference), None,
            )  # fmt: skip


def _named(told: Reference | None) -> tuple[Any, ...]:
    if told is None:
        return None, None, None, None
    by = told.by
    return told.needed, told.why, None if by is None else by.source, None if by is None else by.line

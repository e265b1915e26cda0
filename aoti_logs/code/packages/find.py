"""Packages among the files at hand: archives, folders that were archives, and models without a package.

Every file and member stands on one shelf, read or not, with the path that it has inside of its archive or on disk; a package
is everything below the folder that `data/aotinductor/`, `models/` or `archive_format` stand in.
"""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from aoti_logs.code.packages.files import Entry, loose_packages, package_of
from aoti_logs.code.packages.package import Form, Package
from aoti_logs.sources.name import readable
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.sources.opened import Problem
    from aoti_logs.sources.source import Source, Unread

# What only a package has, and what it may have beside that, each behind the folder that holds all of it.
_SURE = re.compile(r"(?:^|/)(?:data/aotinductor/.|archive_format$|serialized_exported_program\.json$)")
_PART = re.compile(
    r"(?:^|/)(?=(?:data/(?:aotinductor|weights|constants|sample_inputs|executorch)|models|extra|\.data|xl_model_weights)/."
    r"|(?:archive_format|archive_version|version|byteorder|\.format_version|\.storage_alignment|serialized_\w+\.(?:json|pt))$)"
)
_MOST_TRIES = 50


@dataclass
class Holder:
    """An archive, or the disk (`archive` is then None), and what lies in it."""

    archive: Source | None
    entries: list[Entry] = field(default_factory=list)


def packages(
    sources: Sequence[Source], unread: Sequence[Unread] = (), problems: Sequence[Problem] = ()
) -> tuple[Package, ...]:
    """Return the packages among files and archive members.

    Args:
        sources: what was read.
        unread: what is there and was not.
        problems: what could not be read, or not all of it.
    """
    told: dict[str, list[str]] = {}
    for problem in problems:
        told.setdefault(readable(problem.path), []).append(problem.sentence)
    found: list[Package] = []
    for holder in _holders(sources, unread, told):
        is_package = holder.archive is not None and holder.archive.kind is Kind.PACKAGE
        roots = {_root(e.path, m) for e in holder.entries if (m := _SURE.search(e.path))}
        if is_package and not roots:
            roots = {_common(e.path for e in holder.entries)}
        groups: dict[str, list[Entry]] = {root: [] for root in sorted(roots)}
        rest: list[Entry] = []
        for entry in holder.entries:
            root = _root_of(entry.path, roots)
            if root is None and is_package:
                # Everything in an archive is part of it; a folder may hold other things beside what was unpacked there.
                first = f"{entry.path.partition('/')[0]}/"
                root = first if first in roots else next(iter(roots)) if len(roots) == 1 else None
            (rest if root is None else groups[root]).append(entry)
        sentences = tuple(told.get(holder.archive.name, ())) if holder.archive is not None else ()
        found += [
            _package(holder, root, inside, sentences)
            for root, inside in groups.items()
            if inside or is_package
        ]
        found += loose_packages(rest)
    return tuple(found)


def _holders(sources: Sequence[Source], unread: Sequence[Unread], told: dict[str, list[str]]) -> list[Holder]:
    holders: dict[int | None, Holder] = {None: Holder(None)}

    def at(archive: Source | None) -> Holder:
        key = None if archive is None else id(archive)
        if key not in holders:
            holders[key] = Holder(archive)
        return holders[key]

    listed: set[str] = set()
    for source in sources:
        if source.kind is Kind.PACKAGE:
            at(source)
        parent = source.parent
        if source.parent_lines is not None and parent is not None:
            continue  # text cut out of a log or trace: no file
        problem = next(iter((*source.problems, *told.get(source.name, ()))), None)
        at(parent).entries.append(Entry(_path(source), source.name, source, None, problem))
        listed.add(source.name)
        # An archive in a package is no source itself, what is in it is.
        while (
            parent is not None
            and parent.kind is Kind.ARCHIVE
            and parent.name not in listed
            and parent.parent is not None
        ):
            listed.add(parent.name)
            at(parent.parent).entries.append(Entry(_path(parent), parent.name, None, parent.size, None))
            parent = parent.parent
    for file in unread:
        at(file.parent).entries.append(Entry(_path(file), file.name, None, file.size, file.problem))
    return list(holders.values())


def _path(file: Source | Unread) -> str:
    if file.parent is not None:
        own = (
            file.name[len(file.parent.name) + 1 :]
            if file.name.startswith(f"{file.parent.name}!")
            else file.name
        )
    else:
        own = file.name if file.path is None else os.path.abspath(file.path)  # noqa: PTH100 no link is followed
    return own.replace("\\", "/")


def _root(path: str, match: re.Match[str]) -> str:
    """Return the folder before a match, with a slash at the end, or empty."""
    return path[: match.start() + path[match.start()].startswith("/")]


def _root_of(path: str, roots: set[str]) -> str | None:
    for match in islice(_PART.finditer(path), _MOST_TRIES):
        root = path[: match.end()]
        if root in roots:
            return root
    return None


def _common(paths: Iterable[str]) -> str:
    firsts = {p.partition("/")[0] if "/" in p else "" for p in paths}
    first = next(iter(firsts)) if len(firsts) == 1 else ""
    return f"{first}/" if first else ""


def _package(holder: Holder, root: str, entries: list[Entry], told: tuple[str, ...]) -> Package:
    form = Form.FOLDER if holder.archive is None or holder.archive.kind is not Kind.PACKAGE else Form.ARCHIVE
    if form is Form.ARCHIVE and holder.archive is not None:
        return package_of(holder.archive.name, form, root, entries, told, holder.archive)
    # As the person gave it: the beginning of a file's name, or of its path where that was all that was given.
    first = entries[0]
    inside, shown = first.path[len(root) :], first.name.replace("\\", "/")
    own = shown[: len(shown) - len(inside)] if shown.endswith(f"/{inside}") else root
    return package_of(own.rstrip("/") or "/", form, root, entries, told, None)

"""One file and what is packed in it, layer by layer: `run.log.gz`, a package, a zip of packages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.sources import kinds
from aoti_logs.sources.archive import MEMBER_LIMIT, Member, archive_kind, members
from aoti_logs.sources.compressed import ENDINGS, MissingZstdError, unpack
from aoti_logs.sources.disk import as_utf8
from aoti_logs.sources.name import readable
from aoti_logs.sources.report_files import part_of
from aoti_logs.sources.source import Kind, Source, Unread

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable
    from pathlib import Path

DEEPEST = 4
"""Layers of packing that are opened one inside the other."""

_WEIGHTS = re.compile(
    r"(?:^|/)data/(?:weights|constants|sample_inputs)/(?!.*\.json$)|\.(?:so|o|cubin|hsaco|spv|bin|blob)$"
)
_CUT = "the archive ends in the middle of it"
_RANK = re.compile(r"(?:^|[^a-z])rank[_\-.=]?(\d{1,6})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """A file or member that could not be read, or not all of it, and why in one sentence."""

    path: str
    sentence: str


@dataclass(frozen=True)
class Item:
    """Something to open: its beginning is known, `read(problems)` gives all of it."""

    name: str
    head: bytes
    size: int
    read: Callable[[list[str]], bytes | mmap.mmap]
    path: Path | None
    parent: Source | None = None


@dataclass
class Opened:
    """What an item turned out to be. The first source is the item itself, where it is one."""

    sources: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def skip(self, item: Item, problem: str | None = None) -> None:
        """Leave an item unread."""
        name = readable(item.name)
        self.unread.append(Unread(name, item.size, item.path, item.parent, problem))


def open_item(item: Item, depth: int = 0) -> Opened:
    """Tell what an item is, and open it when something is packed in it.

    Logs and code stay unread; archives are listed, their members' beginnings are read.
    """
    out = Opened()
    layer = kinds.layer(item.head)
    if layer is None:
        kind = kinds.tell(_text_head(item.head), item.name)
        if kind is Kind.BINARY:
            out.skip(item)
        else:
            out.sources.append(_source(item, kind))
    elif depth >= DEEPEST:
        sentence = f"it is packed more than {DEEPEST} times over"
        out.problems.append(Problem(item.name, sentence))
        out.skip(item, sentence)
    elif layer in {"zip", "tar"}:
        _open_archive(item, layer, depth, out)
    else:
        _open_compressed(item, layer, depth, out)
    return out


def rank_of(name: str) -> int | None:
    """Return the rank in a file's name or else in the nearest folder's (`rank_3/stderr.log`)."""
    for part in reversed(re.split(r"[/\\!]", name)):
        found = _RANK.search(part)
        if found:
            return int(found[1])
    return None


def _text_head(head: bytes) -> bytes:
    return bytes(as_utf8(head[: len(head) & ~1] if head[:1] in (b"\xff", b"\xfe") else head))


def _source(item: Item, kind: Kind) -> Source:
    problems: list[str] = []
    source = Source(
        item.name,
        kind,
        lambda: as_utf8(item.read(problems)),
        parent=item.parent,
        rank=rank_of(item.name),
        path=item.path,
    )
    source.problems = problems
    source.part = part_of(item.head) if kind is Kind.TLPARSE_REPORT else None
    return source


def _open_compressed(item: Item, layer: str, depth: int, out: Opened) -> None:
    """Open a packed file: it takes the place of its content, under its own name."""
    problems: list[str] = []
    packed = item.read(problems)
    out.problems.extend(Problem(item.name, sentence) for sentence in problems)
    try:
        data, problem = unpack(packed, layer)
    except MissingZstdError as error:
        out.problems.append(Problem(item.name, str(error)))
        out.skip(item, str(error))
        return
    if problem is not None:
        out.problems.append(Problem(item.name, problem))
    if not data and problem is not None:
        out.skip(item, problem)
        return
    inner = Item(item.name, data[: kinds.HEAD], len(data), lambda _: data, item.path, item.parent)
    if kinds.layer(inner.head) is None:
        kind = kinds.tell(_text_head(inner.head), _unpacked_name(item.name))
        if kind is Kind.BINARY:
            out.skip(inner)
        else:
            out.sources.append(_source(inner, kind))
        return
    deeper = open_item(inner, depth + 1)
    out.sources += deeper.sources
    out.problems += deeper.problems
    out.unread += deeper.unread


def _unpacked_name(name: str) -> str:
    return next((name[: -len(ending)] for ending in ENDINGS if name.lower().endswith(ending)), name)


def _open_archive(item: Item, layer: str, depth: int, out: Opened) -> None:
    problems: list[str] = []
    data = item.read(problems)
    out.problems.extend(Problem(item.name, sentence) for sentence in problems)
    listed = members(data, layer)
    kind = archive_kind(listed, item.name)
    if kind is Kind.BINARY:
        out.skip(item)
        return
    out.problems.extend(
        Problem(f"{item.name}!{own}" if own else item.name, sentence) for own, sentence in listed.problems
    )
    if not listed.files:
        sentence = "there is nothing to read in it"
        out.problems.append(Problem(item.name, sentence))
        out.skip(item, sentence)
        return
    holder = Source(
        item.name, kind, lambda: data, parent=item.parent, path=item.path, rank=rank_of(item.name)
    )
    if kind is Kind.PACKAGE:
        out.sources.append(holder)
    seen: dict[str, int] = {}
    for member in listed.files:
        seen[member.name] = seen.get(member.name, 0) + 1
        own = member.name if seen[member.name] == 1 else f"{member.name} ({seen[member.name]})"
        if kind is Kind.PACKAGE and _WEIGHTS.search(member.name):
            out.skip(_unopened(f"{item.name}!{own}", member.size, holder), _CUT if member.cut else None)
            continue
        _open_member(member, f"{item.name}!{own}", holder, depth, out)
    for name, size, sentence in listed.refused:
        out.skip(_unopened(f"{item.name}!{name}", size, holder), sentence)


def _unopened(name: str, size: int, holder: Source) -> Item:
    return Item(name, b"", size, lambda _: b"", holder.path, holder)


def _open_member(member: Member, name: str, holder: Source, depth: int, out: Opened) -> None:
    head, problem = member.read(kinds.HEAD)
    if problem is not None:
        out.problems.append(Problem(name, problem))
        if not head:
            out.skip(_unopened(name, member.size, holder), problem)
            return

    def read(problems: list[str]) -> bytes:
        data, wrong = member.read(MEMBER_LIMIT)
        if wrong is not None and wrong != problem:
            problems.append(wrong)
        return data

    deeper = open_item(Item(name, head, member.size, read, holder.path, holder), depth + 1)
    for source in deeper.sources:
        if holder.kind is Kind.PACKAGE and source.kind is Kind.LOG:
            source.kind = Kind.TEXT  # nothing in a package was printed by a run
        source.label = source.label or member.name
    out.sources += deeper.sources
    out.problems += deeper.problems
    out.unread += deeper.unread

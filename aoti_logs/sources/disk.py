"""Bytes of a file on disk: its beginning at once, all of it when somebody asks."""

from __future__ import annotations

import mmap
from pathlib import Path

from aoti_logs.sources.source import Kind, Role, Source

SMALL = 1 << 20
"""Files up to this size are read, larger ones are mapped: a map keeps a file descriptor."""


def read_head(path: Path, count: int) -> tuple[bytes, int]:
    """Return the first `count` bytes of a file and its size.

    Raises:
        OSError: it cannot be opened or read.
    """
    with path.open("rb") as file:
        head = file.read(count)
        return head, file.seek(0, 2)


def read_all(path: Path, problems: list[str]) -> bytes | mmap.mmap:
    """Return a file's bytes, mapped when it is large; a sentence goes to `problems` when it fails."""
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) > SMALL:
                try:
                    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                except (OSError, ValueError):
                    pass  # too many maps, or a file system that has none
            file.seek(0)
            return file.read()
    except OSError as error:
        problems.append(f"it could be found, but not read: {error.strerror}")
        return b""


def is_plain(path: Path) -> bool:
    """Tell whether a path is a file whose bytes are the text itself, not packed."""
    from aoti_logs.sources.kinds import layer

    try:
        return path.is_file() and layer(read_head(path, 512)[0]) is None
    except OSError:
        return False


def plain_trace(path: Path, name: str, rank: int | None, role: str) -> Source:
    """Return the source of a trace that `is_plain`, as finding it gives it."""
    problems: list[str] = []
    source = Source(
        name,
        Kind.TORCH_TRACE,
        lambda: as_utf8(read_all(path, problems)),
        role=Role(role),
        rank=rank,
        path=path,
    )
    source.problems = problems
    return source


def as_utf8(data: bytes | mmap.mmap) -> bytes | mmap.mmap:
    """Return UTF-16 text with a byte order mark as UTF-8 (PowerShell's `>`), all else as it is.

    Log text is mostly ASCII, so in UTF-16 a good part of its bytes is NUL; without them the mark is
    two stray bytes.
    """
    mark = bytes(data[:1024])
    wide = mark.count(0) * 4 > len(mark)
    if wide and mark[:2] in (b"\xff\xfe", b"\xfe\xff") and mark[:4] != b"\xff\xfe\x00\x00":
        return bytes(data).decode("utf-16", "replace").encode("utf-8", "replace")
    return data

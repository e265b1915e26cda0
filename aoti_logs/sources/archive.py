"""Members of zip and tar archives, read in memory when needed and never written anywhere.

A member's name is only a name: it is shown, never used as a path, so `../` and absolute names are
harmless. Sizes in an archive are claims; each read stops at a limit of its own.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    import mmap
    import tarfile
    import zipfile
    from collections.abc import Callable

MEMBER_LIMIT = 512 << 20
"""Unpacked bytes of one member."""
TOTAL_LIMIT = 8 << 30
"""Unpacked bytes of all members."""
MOST_MEMBERS = 100_000
WORST_RATIO = 1000
"""Unpacked bytes for a packed one, above which an archive of more than 100 MB is a bomb."""


@dataclass(frozen=True)
class Member:
    """A file in an archive. `read(n)` returns at most its first n bytes and what was wrong."""

    name: str
    size: int
    read: Callable[[int], tuple[bytes, str | None]]
    cut: bool = False
    """True when the archive ends before the member does."""


@dataclass
class Members:
    """What an archive holds; `problems` are sentences about the whole and about members left out."""

    files: list[Member] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(member name or empty, sentence)."""
    refused: list[tuple[str, int, str]] = field(default_factory=list)
    """(member name, unpacked size, sentence) of those that are there and are left out."""

    def refuse(self, name: str, size: int, sentence: str) -> None:
        """Leave a member out, with a word about it."""
        self.problems.append((name, sentence))
        self.refused.append((name, size, sentence))


class _View(io.RawIOBase):
    """A file that reads from bytes or a map without copying them."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        super().__init__()
        self._view = memoryview(data)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        start = (0, self._at, len(self._view))[whence]
        if start + offset < 0:
            raise OSError("before the start")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self._view[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def members(data: bytes | mmap.mmap, layer: str) -> Members:
    """List an archive.

    Args:
        data: the archive.
        layer: `zip` or `tar`.
    """
    return _zip_members(data) if layer == "zip" else _tar_members(data)


def archive_kind(found: Members, name: str) -> Kind:
    """Return PACKAGE for what AOTInductor or `torch.export.save` wrote, BINARY for saved tensors."""
    names = [member.name for member in found.files]
    own = [n.rsplit("/", 1)[-1] for n in names]
    if "archive_format" in own or "archive_version" in own or any("data/aotinductor/" in n for n in names):
        return Kind.PACKAGE
    if name.lower().endswith(".pt2"):
        return Kind.PACKAGE
    return Kind.BINARY if "data.pkl" in own else Kind.ARCHIVE


def _admit(found: Members, sizes: list[tuple[Member, int]]) -> Members:
    """Leave out what is too large, with a word about each."""
    total = 0
    for member, packed in sizes:
        if len(found.files) >= MOST_MEMBERS:
            found.problems.append(("", f"it has more than {MOST_MEMBERS:,} members; the rest is not read"))
            break
        if member.size > MEMBER_LIMIT:
            found.refuse(
                member.name, member.size, f"it unpacks to {member.size:,} bytes, more than {MEMBER_LIMIT:,}"
            )
            continue
        if member.size > 100 << 20 and member.size > packed * WORST_RATIO:
            found.refuse(member.name, member.size, f"{packed:,} bytes claim to unpack to {member.size:,}")
            continue
        total += member.size
        if total > TOTAL_LIMIT:
            found.problems.append(
                ("", f"it unpacks to more than {TOTAL_LIMIT:,} bytes; the rest is not read")
            )
            break
        found.files.append(member)
    return found


def _zip_members(data: bytes | mmap.mmap) -> Members:
    import zipfile

    found = Members()
    try:
        archive = zipfile.ZipFile(io.BufferedReader(_View(data)))
        infos = archive.infolist()
        if infos and data[:4] == b"PK\x03\x04" and min(info.header_offset for info in infos) > 0:
            # Cut off behind a member that is an archive itself, such as saved weights.
            raise zipfile.BadZipFile("what is there is that of an archive in it")
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        from aoti_logs.sources.zip_scan import scan_local_headers

        sizes = scan_local_headers(data)
        found.problems.append(
            ("", f"its directory is missing ({error}): {len(sizes)} members were found without it")
        )
        return _admit(found, sizes)
    sizes = []
    seen: set[str] = set()
    for info in infos:
        if info.is_dir() or info.filename.startswith("__MACOSX/"):
            continue
        if info.flag_bits & 1:
            found.refuse(info.filename, info.file_size, "it is encrypted")
            continue
        if info.filename in seen:
            found.problems.append((info.filename, "the archive has two members of this name; both are read"))
        seen.add(info.filename)
        sizes.append(
            (Member(info.filename, info.file_size, _zip_reader(archive, info, data)), info.compress_size)
        )
    return _admit(found, sizes)


def _zip_reader(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes | mmap.mmap
) -> Callable[[int], tuple[bytes, str | None]]:
    def read(count: int) -> tuple[bytes, str | None]:
        import zipfile
        import zlib

        parts: list[bytes] = []
        size = 0
        try:
            with archive.open(info) as member:
                while size < count and (part := member.read(min(1 << 20, count - size))):
                    parts.append(part)
                    size += len(part)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            ValueError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            from aoti_logs.sources.zip_scan import read_unchecked

            # zipfile keeps back the block whose checksum is wrong, which may be all there is.
            part = read_unchecked(data, info.header_offset, info.compress_size, info.compress_type, count)
            return max(part, b"".join(parts), key=len), f"it is damaged: {_words(error)}"
        return b"".join(parts), None

    return read


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _tar_members(data: bytes | mmap.mmap) -> Members:
    import tarfile

    found = Members()
    sizes: list[tuple[Member, int]] = []
    try:
        archive = tarfile.open(fileobj=io.BufferedReader(_View(data)), mode="r:")  # noqa: SIM115 members are read later
        for info in archive:
            if info.isfile():
                sizes.append((Member(info.name, info.size, _tar_reader(archive, info)), info.size))
            if len(sizes) > MOST_MEMBERS:
                break
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError) as error:
        found.problems.append(("", f"it is damaged: {error}; what comes before is read"))
    return _admit(found, sizes)


def _tar_reader(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[int], tuple[bytes, str | None]]:
    def read(count: int) -> tuple[bytes, str | None]:
        import tarfile

        try:
            member = archive.extractfile(info)
            return (member.read(count) if member else b""), None
        except (tarfile.TarError, OSError, EOFError, ValueError, KeyError, RecursionError) as error:
            return b"", f"it is damaged: {error}"

    return read

"""Members of a zip whose directory is missing, found by their local headers (a package cut while copied)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from aoti_logs.sources.archive import MEMBER_LIMIT, MOST_MEMBERS, Member

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable

_LOCAL = b"PK\x03\x04"
_FIELDS = struct.Struct("<4s5H3L2H")  # signature, version, flags, method, time, date, CRC, sizes, lengths
_STORED, _DEFLATED = 0, 8


def scan_local_headers(data: bytes | mmap.mmap) -> list[tuple[Member, int]]:
    """Return the members and their packed sizes; the last one may be cut."""
    found: list[tuple[Member, int]] = []
    at, size = data.find(_LOCAL), len(data)
    while at >= 0 and at + _FIELDS.size <= size and len(found) <= MOST_MEMBERS:
        _, _, flags, method, _, _, _, packed, unpacked, name_size, extra_size = _FIELDS.unpack(
            bytes(data[at : at + _FIELDS.size])
        )
        name_at = at + _FIELDS.size
        start = name_at + name_size + extra_size
        name = bytes(data[name_at : name_at + name_size]).decode("utf-8", "replace")
        extra = bytes(data[name_at + name_size : start])
        if 0xFFFFFFFF in {packed, unpacked}:
            packed, unpacked = _zip64_sizes(extra, packed, unpacked)
        if flags & 8 and not packed:
            # Sizes stand behind the data: it ends where the next signature begins.
            end = min(
                (p for p in (data.find(b"PK\x07\x08", start), data.find(_LOCAL, start)) if p >= 0),
                default=size,
            )
            packed, unpacked = end - start, (end - start if method == _STORED else MEMBER_LIMIT)
        end = min(start + packed, size)
        if (
            start <= size
            and name
            and not name.endswith("/")
            and not flags & 1
            and method in {_STORED, _DEFLATED}
        ):
            cut = start + packed > size
            limit = end - start if method == _STORED else unpacked
            found.append((Member(name, limit, _reader(data, start, end, method, cut=cut), cut), end - start))
        at = data.find(_LOCAL, max(end, at + 4))
    return found


def read_unchecked(data: bytes | mmap.mmap, header: int, packed: int, method: int, count: int) -> bytes:
    """Return the first `count` bytes of the member whose local header is at `header`, whatever its CRC says."""
    fields = bytes(data[header : header + _FIELDS.size])
    if len(fields) < _FIELDS.size or not fields.startswith(_LOCAL) or method not in {_STORED, _DEFLATED}:
        return b""
    *_, name_size, extra_size = _FIELDS.unpack(fields)
    start = header + _FIELDS.size + name_size + extra_size
    return _reader(data, start, min(start + packed, len(data)), method, cut=False)(count)[0]


def _zip64_sizes(extra: bytes, packed: int, unpacked: int) -> tuple[int, int]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            values = [
                struct.unpack_from("<Q", extra, at + 4 + i)[0]
                for i in range(0, min(length, len(extra) - at - 4) - 7, 8)
            ]
            if unpacked == 0xFFFFFFFF and values:
                unpacked = values.pop(0)
            if packed == 0xFFFFFFFF and values:
                packed = values.pop(0)
        at += 4 + length
    return packed, unpacked


def _reader(
    data: bytes | mmap.mmap, start: int, end: int, method: int, *, cut: bool
) -> Callable[[int], tuple[bytes, str | None]]:
    def read(count: int) -> tuple[bytes, str | None]:
        import zlib

        problem = "the archive ends in the middle of it; what comes before is read" if cut else None
        if method == _STORED:
            return bytes(data[start : min(end, start + count)]), problem
        try:
            return zlib.decompressobj(-15).decompress(bytes(data[start:end]), count), problem
        except zlib.error as error:
            return b"", f"it is damaged: {error}"

    return read

"""gzip, bzip2, xz and zstd around one file: unpacked in memory, with a limit, as far as it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

LIMIT = 2 << 30
"""Bytes that one packed file may unpack to."""

_CHUNK = 1 << 20
_SIP = {"gzip": 1 << 16, "zstd": 1 << 10}
NO_ZSTD = "it is packed with zstd, which needs: pip install aoti-logs[zstd]"
ENDINGS = (".gz", ".bz2", ".xz", ".zst")


class MissingZstdError(Exception):
    """No zstd reader is installed."""


def _decompressor(layer: str) -> Any:
    if layer == "gzip":
        import zlib

        return zlib.decompressobj(wbits=31)
    if layer == "bzip2":
        import bz2

        return bz2.BZ2Decompressor()
    if layer == "xz":
        import lzma

        return lzma.LZMADecompressor(memlimit=1 << 28)
    try:
        from compression import zstd

        return zstd.ZstdDecompressor()
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise MissingZstdError(NO_ZSTD) from None
    # The window is what a hostile frame would make us allocate.
    return zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()


def _errors() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    errors: list[type[Exception]] = [zlib.error, lzma.LZMAError, OSError, EOFError, ValueError]
    try:
        from compression import zstd

        errors.append(zstd.ZstdError)
    except ImportError:
        try:
            import zstandard

            errors.append(zstandard.ZstdError)
        except ImportError:
            pass
    return tuple(errors)


def unpack(data: bytes | mmap.mmap, layer: str, limit: int = LIMIT) -> tuple[bytes, str | None]:
    """Return what packed bytes hold, and what was wrong with them.

    A cut or broken file gives what comes before the damage. Several packed files one after the
    other (`cat a.gz b.gz`) are one.

    Args:
        data: the packed bytes.
        layer: `gzip`, `bzip2`, `xz` or `zstd`.
        limit: unpack at most this many bytes.

    Raises:
        MissingZstdError: no zstd reader is installed.
    """
    parts: list[bytes] = []
    size = 0
    problem = None
    try:
        for part in _parts(data, layer, limit):
            parts.append(part[: limit - size])
            size += len(part)
            if size >= limit:
                problem = f"only its first {limit:,} bytes are read: it unpacks to more"
                break
    except _errors() as error:
        problem = (
            f"it is cut short or damaged: {str(error) or type(error).__name__}; what comes before is read"
        )
    return b"".join(parts), problem


def _parts(data: bytes | mmap.mmap, layer: str, limit: int) -> Iterator[bytes]:
    at = 0
    unpacker = _decompressor(layer)
    # bzip2 and xz stop at a length we give; the others are fed so little that they cannot overshoot.
    bounded = hasattr(unpacker, "needs_input")
    step = _CHUNK if bounded else _SIP[layer]
    waiting = b""
    while True:
        if not waiting and getattr(unpacker, "needs_input", True):
            waiting = bytes(data[at : at + step])
            at += len(waiting)
            if not waiting:
                raise EOFError("the end is missing")
        part = (
            unpacker.decompress(waiting, min(_CHUNK * 8, limit + 1))
            if bounded
            else unpacker.decompress(waiting)
        )
        waiting = b""
        if part:
            yield part
        if unpacker.eof:
            waiting = unpacker.unused_data
            if not (waiting or bytes(data[at : at + 64])).strip(b"\x00"):
                return
            unpacker = _decompressor(layer)

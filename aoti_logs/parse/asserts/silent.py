"""A thread that printed nothing although a later one of its warp did: what a mask of high elements cannot cause.

Triton gives thread 0 of a block its first element, and each bit of a thread's number moves it up along one axis
(`BlockedEncodingAttr` in triton's `TritonGPUAttrDefs.td`). So thread a has, on every axis, no higher element than thread b
where each bit of a is set in b, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_FLAT = re.compile(rb"([0-9]{1,4}),0,0")  # Triton's blocks of threads have one dimension
_WARP = 32
_MOST = 512  # different sets of threads looked at

Pair = tuple[int, int]


def silent_thread(
    blocks: Iterable[tuple[bytes, Collection[bytes]]],
) -> tuple[tuple[int, int, int], Pair] | None:
    """Return (block, (silent thread, failed thread)) of the first block where one is found, else None.

    `blocks` are blocks with their threads that failed, as printed. Both threads are of one warp, so that they test at
    the same time. Of the first and the last block lines may be cut off where a log begins or ends: they do not count.
    """
    inner = list(blocks)[1:-1]
    seen: set[int] = set()
    for block, threads in inner:
        if id(threads) in seen:
            continue
        if len(seen) == _MOST:
            return None
        seen.add(id(threads))
        found = _of_block(threads)
        if found is not None:
            x, y, z = (int(n) for n in block.split(b","))
            return (x, y, z), found
    return None


def _of_block(threads: Collection[bytes]) -> Pair | None:
    failed: set[int] = set()
    for text in threads:
        flat = _FLAT.fullmatch(text)
        if flat is None:
            return None
        failed.add(int(flat[1]))
    return min(_pairs(failed), default=None)


def _pairs(failed: set[int]) -> Iterator[Pair]:
    for thread in failed:
        lane = thread % _WARP
        for bit in (1, 2, 4, 8, 16):
            if lane & bit and thread - bit not in failed:
                yield thread - bit, thread

"""What an allocator says that could not have what it was asked for, in bytes.

Format: `grammars/out_of_memory.lark`. torch prints two decimals of a unit, so a number of bytes is that of the text,
rounded: `4.80 MiB` is 5033165 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from aoti_logs.parse.shape import fields, first

_DEVICE = re.compile(r"\b(?:CUDA|HIP|XPU|[A-Z]{3,}) out of memory\. [^\n]*")
_MPS = re.compile(r"\bMPS backend out of memory [^\n]*")
_ASYNC = re.compile(r"\bAllocation on device \d+ would exceed allowed memory\. \(out of memory\)")
_ASYNC_LINE = re.compile(
    r"(?P<what>Currently allocated|Requested|Device limit|Free \(according to CUDA\)|PyTorch limit[^:]*?)\s*: (?P<size>[\d.]+ \w+)"
)
_CPU = re.compile(r"[^\n]*\bDefaultCPUAllocator: [^\n]*")
_PLAIN = re.compile(r"\b(?P<api>CUDA|HIP) (?:driver )?error: out of memory")
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_BACKENDS = {"CUDA": "cuda", "HIP": "rocm", "XPU": "xpu"}
_NO_LIMIT = 1 << 60  # what the text says where no limit was set
_LONGEST = 1 << 14


@dataclass(frozen=True)
class OutOfMemory:
    """A failed allocation; sizes in bytes, None where the text does not tell.

    `backend` is `cuda`, `rocm`, `xpu`, `mps` or `cpu`. `allocated` is what torch's tensors hold, `reserved` what torch
    holds beyond that (in older texts all that torch holds: `held`). `process` is all that this process holds, `others`
    what other processes do; `limit` what a memory fraction allows.
    """

    backend: str
    wanted: int | None = None
    device: int | None = None
    total: int | None = None
    free: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    held: int | None = None
    process: int | None = None
    others: int | None = None
    limit: int | None = None
    private: int | None = None
    plain: bool = False
    """The runtime itself refused (`CUDA error: out of memory`), and no allocator says how much is used."""


@lru_cache(maxsize=1024)
def out_of_memory(text: str) -> OutOfMemory | None:
    """Return what the text of an error says of an allocation that failed, None where it speaks of none."""
    text = text[:_LONGEST]
    if "memory" not in text and "Memory" not in text and "llocat" not in text:
        return None  # of a long line the patterns would ask each place for each end
    for pattern, read in ((_DEVICE, _device), (_MPS, _mps), (_ASYNC, _async), (_CPU, _cpu)):
        found = pattern.search(text)
        if found is not None:
            return read(found[0].strip(), text)
    plain = _PLAIN.search(text)
    return OutOfMemory(_BACKENDS[plain["api"]], plain=True) if plain is not None else None


def size(text: str | None) -> int | None:
    """Return the bytes that `20.00 MiB`, `1.45 GB` or `0 bytes` stand for; MPS writes GB for 2**30, as the others do."""
    found = re.match(r"(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]+)", text or "")
    if found is None:
        return None
    unit = found[2][0].lower() if found[2] != "bytes" else ""
    return int(float(found[1]) * (1 << 10 * _UNITS.get(unit, 0)) + 0.5)


def _device(said: str, text: str) -> OutOfMemory | None:
    del text
    backend = _BACKENDS.get(said.split(" ", 1)[0], said.split(" ", 1)[0].lower())
    read = fields("out_of_memory", "newer", said) or fields("out_of_memory", "older", said)
    if read is None:
        return OutOfMemory(backend, wanted=size(said.partition("Tried to allocate ")[2]))
    others = [s for s in (size(o) for o in read.get("OTHER", ())) if s is not None]
    private = first(read, "PRIVATE")
    limit = size(first(read, "ALLOWED"))
    return OutOfMemory(
        backend,
        wanted=size(read["WANTED"][0]),
        device=int(read["NUMBER"][0][:9]),
        total=size(read["TOTAL"][0]),
        free=size(first(read, "FREE")),
        allocated=size(first(read, "ALLOCATED")),
        reserved=size(first(read, "RESERVED")),
        held=size(first(read, "HELD")),
        process=size(first(read, "OWN")),
        others=sum(others) if others else None,
        limit=limit if limit is not None and limit < _NO_LIMIT else None,
        private=size(private.removeprefix("with ")) if private else None,
    )


def _mps(said: str, text: str) -> OutOfMemory | None:
    del text
    read = fields("out_of_memory", "mps", said)
    if read is None:
        return OutOfMemory("mps")
    return OutOfMemory(
        "mps",
        wanted=size(read["WANTED"][0]),
        allocated=size(read["ALLOCATED"][0]),
        others=size(read["OTHER"][0]),
        limit=size(read["ALLOWED"][0]),
    )


def _async(said: str, text: str) -> OutOfMemory | None:
    read = fields("out_of_memory", "async", said)
    sizes = {found["what"].split(" (")[0]: size(found["size"]) for found in _ASYNC_LINE.finditer(text)}
    limit = sizes.get("PyTorch limit")
    return OutOfMemory(
        "cuda",
        wanted=sizes.get("Requested"),
        device=int(read["NUMBER"][0][:9]) if read is not None else None,
        total=sizes.get("Device limit"),
        free=sizes.get("Free"),
        allocated=sizes.get("Currently allocated"),
        limit=limit if limit is not None and limit < _NO_LIMIT else None,
    )


def _cpu(said: str, text: str) -> OutOfMemory | None:
    del text
    read = fields("out_of_memory", "cpu", said)
    return OutOfMemory("cpu", wanted=int(read["BYTES"][0][:18])) if read is not None else None

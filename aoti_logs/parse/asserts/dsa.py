"""Device-side assertions that c10 collects (`TORCH_USE_CUDA_DSA`), out of the text of a CUDA error.

Format: `grammars/dsa.lark`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from aoti_logs.parse.shape import fields, first

_FOUND = "CUDA device-side assertion failures were found on GPU #"
_AT = re.compile(r"(?P<file>.*):(?P<line>\d{1,9})$")
_MOST = 1000  # failures of one text


@dataclass(frozen=True)
class DsaFailure:
    """One failed assertion, and the launch of its kernel where the registry still held it."""

    gpu: int
    message: str = ""
    file: str | None = None
    line: int | None = None
    function: str | None = None
    thread: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    launch_file: str | None = None
    launch_line: int | None = None
    launch_function: str | None = None
    kernel: str | None = None


@lru_cache(maxsize=256)
def dsa_failures(text: str) -> tuple[DsaFailure, ...]:
    """Return the failed assertions that the text of an error lists."""
    if _FOUND not in text:
        return ()
    gpu = 0
    found: list[DsaFailure] = []
    for raw in text.split("\n"):
        said = raw.strip()
        head = fields("dsa", "found", said) if _FOUND in said else None
        if head is not None:
            gpu = int(head["GPU"][0][:9])
            continue
        item = fields("dsa", "item", said) if said.startswith("Assertion failure ") or " = " in said else None
        if item is None:
            continue
        if "NUMBER" in item:
            if len(found) >= _MOST:
                break
            found.append(DsaFailure(gpu))
        elif found:
            value = first(item, "VALUE") or (item["TRIPLE"][0] if "TRIPLE" in item else "")
            found[-1] = _with(found[-1], item["KEY"][0], value)
    return tuple(f for f in found if f.message or f.file)


def _with(failure: DsaFailure, key: str, value: str) -> DsaFailure:
    at = _AT.match(value)
    file, line = (at["file"], int(at["line"])) if at is not None else (value, None)
    if key.startswith("GPU assertion failure message"):
        return replace(failure, message=value)
    if key.startswith("File containing assertion"):
        return replace(failure, file=file, line=line)
    if key.startswith("Device function"):
        return replace(failure, function=value)
    if key.startswith(("Thread ID", "Block ID")):
        triple = tuple(int(n[:9]) for n in value.strip("[]").split(",")) if value.startswith("[") else None
        return replace(failure, thread=triple) if key.startswith("Thread") else replace(failure, block=triple)
    if key.startswith("File containing kernel launch"):
        return replace(failure, launch_file=file, launch_line=line)
    if key.startswith("Function containing kernel launch"):
        return replace(failure, launch_function=value)
    if key.startswith("Name of kernel"):
        return replace(failure, kernel=value)
    return failure

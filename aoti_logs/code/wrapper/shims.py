"""The C functions of torch that AOTInductor's code calls: their parameters, and whether they return an error code.

`shims.tsv` is written from torch's headers (`include/torch/csrc/inductor/aoti_torch/`) by `fixtures/record/shims.py`.
torch keeps these functions compatible from release to release: one that changes gets another name (`..._v2`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aoti_logs.code.body import Param

_DEVICE = re.compile(r"aoti_torch_(cpu|cuda|xpu|mps)_")
_ERROR_CODE = "AOTITorchError"


@dataclass(frozen=True)
class Shim:
    """A C function. `params` are its parameters in order, with their C types."""

    name: str
    returns: str
    params: tuple[Param, ...]

    @property
    def can_fail(self) -> bool:
        """Tell whether it returns an error code, which its caller must look at."""
        return self.returns == _ERROR_CODE

    @property
    def outputs(self) -> tuple[int, ...]:
        """Return the positions of the tensors that it writes or makes."""
        made = ("out", "ret", "out0", "out1", "out2", "out3")
        return tuple(
            i for i, p in enumerate(self.params) if p.name in made or re.fullmatch(r"ret\d+|ret_\w+", p.name)
        )


def shim(name: str) -> Shim | None:
    """Return what the headers say about a function, or None for one that they do not declare."""
    found = _DEVICE.match(name)
    stem = name if found is None else name.replace(found[0], "aoti_torch_{}_", 1)
    devices, returns, params = _table().get(stem) or _table().get(name) or ("", "", "")
    if not returns or (found is not None and stem in _table() and found[1] not in devices.split()):
        return None
    return Shim(name, returns, tuple(_params(params)))


@cache
def _params(text: str) -> list[Param]:
    params = []
    for part in filter(None, text.split(", ")):
        kind, _, name = part.rpartition(" ")
        params.append(Param(name, kind, kind.endswith("*") or "Handle" in kind))
    return params


@cache
def _table() -> dict[str, tuple[str, str, str]]:
    text = Path(__file__).with_name("shims.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {stem: (devices, returns, params) for stem, devices, returns, params in rows}

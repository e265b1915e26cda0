"""The operators that a kernel of Inductor is named after: `cpp_fused_add_index_relu_0` holds add, index and relu.

Format: torch/_inductor/utils.py `get_fused_kernel_name`: the names of the operators, each once, sorted, joined by `_`;
torch/_inductor/codegen/triton.py and cpp.py put `triton_poi_` or `cpp_` before it and a number behind. `operators.txt` has
the names of torch's own operators (`fixtures/record/operator_names.py` writes it). Names hold `_` themselves, so that a
kernel's name may be read in several ways: then nothing is told, and neither where a part is no operator of torch.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

_KERNEL = re.compile(r"(?:triton_[a-z]{2,8}|cpp)_fused_(\w{1,400}?)_\d{1,9}$")
_LONGEST = 12  # parts of the longest name of an operator
_MANY = 64


@cache
def _operators() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("operators.txt").read_text("utf-8").split())


@lru_cache(maxsize=1024)
def fused_operators(kernel: str) -> tuple[str, ...] | None:
    """Return the operators that a kernel's name lists, None where the name has no single reading."""
    found = _KERNEL.match(kernel)
    if found is None:
        return None
    readings = _readings(tuple(found[1].split("_")))
    return readings[0] if len(readings) == 1 else None


def _readings(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the ways to join the parts to operators that stand in order, each once; some of them where there are many."""
    known = _operators()
    ways: dict[int, list[tuple[str, ...]]] = {len(parts): [()]}  # by the part that they begin at
    for start in range(len(parts) - 1, -1, -1):
        ways[start] = []
        for end in range(start + 1, min(start + _LONGEST, len(parts)) + 1):
            word = "_".join(parts[start:end])
            if word in known:
                ways[start] += [(word, *rest) for rest in ways[end] if not rest or word < rest[0]]
        if len(ways[start]) > _MANY:
            return ways[start]
    return ways[0]

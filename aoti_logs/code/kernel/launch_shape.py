"""Whether every thread of the blocks that printed an assertion failed it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.parse.events import Assertion

_WARP = 32


def threads_of_blocks(assertion: Assertion, wrapper: Wrapper, kernel: str) -> int | None:
    """Return how many threads the blocks that printed have together; None where it is not known.

    An AOTInductor wrapper launches with a fixed number of warps
    (`launchKernel(kernels_.K, grid_0, grid_1, grid_2, WARPS, SHARED, ...)`); torch.compile tunes it.
    That fewer failed says nothing: the others may have had no element to work on.
    """
    if str(assertion.form) != "cuda" or not assertion.n_threads or not assertion.n_blocks:
        return None
    pattern = rb"launchKernel\(\s*kernels_\.%b,[^,;]*,[^,;]*,[^,;]*,\s*(\d+)," % re.escape(kernel.encode())
    found = {int(m[1]) for m in re.finditer(pattern, wrapper.source.data)}
    total = assertion.n_blocks * found.pop() * _WARP if len(found) == 1 else 0
    return total if total >= assertion.n_threads else None

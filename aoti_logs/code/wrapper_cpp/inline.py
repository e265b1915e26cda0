"""Kernels that the entry function itself loads and starts: Triton kernels of torch 2.4 to 2.6.

`CppWrapperCuda.generate_kernel_call` (2.4, `torch/_inductor/codegen/cpp_wrapper_cuda.py`) and its successor in
`cpp_wrapper_gpu.py` wrote `kernels.k = loadKernel("k.cubin", "k_0d1d2", 512, this->cubin_dir_);`, then
`Grid k_grid_0 = Grid(1L, 1L, 1L);` and `launchKernel(kernels.k, k_grid_0.grid_x, ..., 4, 512, kernel_args_var_0, stream);`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Launcher
from aoti_logs.code.wrapper_cpp.text import as_call, string_value

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_cpp.read import EntryBody

_NUMBER = re.compile(r"\d{1,9}")


class InlineLaunches:
    """Writes down how kernels are started.

    Args:
        body: the entry function as read so far.
    """

    def __init__(self, body: EntryBody) -> None:
        self.body = body

    def loaded(self, target: str, value: str, line: int) -> bool:
        """Take a kernel's load; False for any other assignment."""
        call = as_call(value)
        if call is None or call[0] != "loadKernel" or not call[1]:
            return False
        kernel = target.rpartition(".")[2]
        strings = [string_value(part) for part in call[1][:2]]
        shared = next((int(a) for a in call[1][2:3] if _NUMBER.fullmatch(a)), None)
        self.body.launchers[kernel] = Launcher(
            kernel, line, shared_bytes=shared, binary=strings[0], symbol=strings[-1]
        )
        return True

    def started(
        self, kernel: str, arguments: tuple[str, ...], passed: tuple[str, ...], line: int
    ) -> tuple[tuple[str, ...], str | None]:
        """Take `launchKernel(...)` and return its grid and its stream."""
        if len(arguments) < 8:
            return (), None
        variable = arguments[1].partition(".")[0]
        given = as_call(self.body.names.stands_for.get(variable, ""))
        grid = given[1] if given is not None and given[0] == "Grid" else arguments[1:4]
        warps, shared = (int(a) if _NUMBER.fullmatch(a) else None for a in arguments[4:6])
        known = self.body.launchers.get(kernel) or Launcher(kernel, line)
        self.body.launchers[kernel] = replace(
            known, grid=grid, num_warps=warps, shared_bytes=shared, passed=known.passed or passed
        )
        return grid, arguments[7]

"""There is no C++ compiler that works.

## What it says
Inductor tried the C++ compilers that it knows, and none of them ran. The finding quotes which.

## Why it matters
Inductor compiles C++ for CPU kernels and for every AOTInductor model, GPU models too. This is about the
machine: the model does not come into it.

## Example
`InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, '/bin/false')`

## Evidence it needs
The metrics of the compile or the exception in a log.

## What to do
Install g++ or clang++, or set `CXX` to one. In `(None, 'g++')` the first entry stands for a compiler from
conda-forge; the second one did not answer `--version`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase

_TRIED = re.compile(r"'([^']{1,500})'|^Compiler: (\S{1,500}) is not found")


def tell(case: FailureCase) -> Told:
    """Say which compilers were tried."""
    tried = [a or b for a, b in _TRIED.findall(case.failure.message)]
    first = tried[0] if tried else "g++"
    shown = f"`{first}` does not work as one" if tried else "none is configured"
    return Told(
        f"no working C++ compiler: {shown}",
        because=("this is about the machine: the model does not come into it",),
        facts={"compilers_tried": tried},
        fixes=(
            "install g++ (or clang++), or name one that works in CXX; where torch._inductor.config.cpp.cxx is set, there",
        ),
        experiments=(
            Experiment(
                f"{first} --version",
                (),
                "run",
                "torch takes a compiler for working when this ends with code 0",
                "torch/_inductor/cpp_builder.py asks each compiler for its version",
            ),
        ),
    )


RULE = Rule("AL606", "no-cxx-compiler", __doc__ or "")

"""There is no C++ compiler that works.

## What it says
Inductor tried the C++ compilers that it knows, and none of them ran. The finding quotes which.

## Why it matters
Inductor compiles C++ for CPU kernels and for every AOTInductor model, GPU models too. This is about the
machine: the model does not come into it.

## Example
`InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, '/bin/false')`;
`RuntimeError: Compiler: cl is not found.` on Windows; `RuntimeError: Failed to find C compiler.`, which is Triton's: it compiles
a piece of C that launches its kernels.

## Evidence it needs
The metrics of the compile or the exception in a log.

## What to do
Install g++ or clang++, or set `CXX` to one (`CC` for Triton's). On Windows `cl` is only found in a developer command prompt. In `(None, 'g++')` the first entry stands for a compiler from
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

_MACHINE = "this is about the machine: the model does not come into it"
_INSTALL = "install g++ (or clang++), or name one that works in CXX; where torch._inductor.config.cpp.cxx is set, there"
_WINDOWS = (
    "start the program from a developer command prompt of Visual Studio (x64 Native Tools), which has cl in its PATH, "
    "or run vcvars64.bat before; without Visual Studio install its build tools for C++"
)
_OF_TRITON = re.compile(r"Failed to find C compiler")
_TRIED = re.compile(r"'([^']{1,500})'|^Compiler: (\S{1,500}) is not found")


def tell(case: FailureCase) -> Told:
    """Say which compilers were tried."""
    if _OF_TRITON.match(case.failure.message):
        return _no_c_compiler()
    tried = [a or b for a, b in _TRIED.findall(case.failure.message)]
    first = tried[0] if tried else "g++"
    shown = f"`{first}` does not work as one" if tried else "none is configured"
    if case.failure.message.startswith("Compiler: "):
        shown = f"`{first}` is not found"
    return Told(
        f"no working C++ compiler: {shown}",
        because=(_MACHINE,),
        facts={"compilers_tried": tried},
        fixes=(_WINDOWS if first == "cl" else _INSTALL,),
        experiments=(
            Experiment(
                first if first == "cl" else f"{first} --version",
                (),
                "run",
                "torch asks for its help text, and takes it for missing when it cannot be started"
                if first == "cl"
                else "torch takes a compiler for working when this ends with code 0",
                "torch/_inductor/cpp_builder.py asks each compiler for its version",
            ),
        ),
    )


def _no_c_compiler() -> Told:
    return Told(
        "no C compiler: Triton needs one for the code that launches its kernels",
        because=(_MACHINE,),
        facts={"compilers_tried": []},
        fixes=("install gcc (or clang), or name one in CC",),
        experiments=(
            Experiment(
                "command -v gcc clang; echo $CC",
                (),
                "run",
                "Triton takes CC where it is set, and the first of these that is there otherwise",
                "triton/runtime/build.py asks in this order",
            ),
        ),
    )


RULE = Rule("AL606", "no-cxx-compiler", __doc__ or "")

"""Headers and libraries that a machine lacks, and what brings them: compilers only say that they are not there."""

from __future__ import annotations

import re

_HEADER = re.compile(
    r"(?:['‘]?(?P<name>[\w./+-]{1,200}\.(?:h|hpp|cuh))['’]?(?: file)?(?:: No such file or directory| not found)"
    r"|(?P<plain>[\w./+-]{1,200}): No such file or directory$"
    r"|Cannot open include file: '(?P<msvc>[^'\n]{1,200})')"
)
_LIBRARY = re.compile(
    r"(?:cannot find -l:?|unable to find library -l|library ['‘]?(?=\w+['’]? not found))(?P<name>[\w.+-]{1,100})"
    r"|cannot open (?:input )?file '(?P<msvc>[\w.+-]{1,100})'"
)
_BRINGS: tuple[tuple[str, str], ...] = (
    (
        r"(?:.*/)?Python\.h$|pyconfig\.h$|python3?\d*\.lib$",
        (
            "install the development files of this Python (python3-dev, python3.X-dev, python3-devel; in a portable Python "
            "the folders include and libs of a full one)"
        ),
    ),
    (
        r"cuda\.h$|cuda_runtime\w*\.h$",
        "install the CUDA toolkit, or point CUDA_HOME at it: its headers are not found",
    ),
    (
        r"(?:lib)?cuda(?:\.so(?:\.1)?)?$",
        (
            "the driver's library libcuda.so is not found by the linker: put its folder into LIBRARY_PATH (and "
            "TRITON_LIBCUDA_PATH for Triton), or run ldconfig"
        ),
    ),
    (
        r"omp\.h$|(?:lib)?i?omp5?$|(?:lib)?gomp$",
        (
            "install OpenMP for this compiler (libomp with brew or conda on a Mac, libomp-dev for clang), or name a compiler "
            "that has it in CXX"
        ),
    ),
    (
        (
            r"(?:std\w+|stdlib|limits|math|assert|features|errno|algorithm|cmath|cstdint|memory|vector|array|iostream|"
            r"bits/\S+|sys/\S+|crtdefs|corecrt|vcruntime)(?:\.h)?$|(?:lib)?stdc\+\+$|libcmt\.lib$|kernel32\.lib$|c$|m$"
        ),
        (
            "the compiler does not find its own standard library: install it whole (build-essential, or gcc and g++ of one "
            "version; on Windows start from a developer command prompt)"
        ),
    ),
    (
        r"(?:torch|ATen|c10)/\S+$|torch\w*\.lib$|(?:lib)?(?:torch\w*|c10)$",
        "the files of torch's own installation are not found: install torch again",
    ),
)
"""Name of a file to what brings it, the first that fits."""


def missing_file(message: str) -> str | None:
    """Return the header or library that an error of a compiler or linker says is not there."""
    for pattern in (_LIBRARY, _HEADER):
        found = pattern.search(message[:2000])
        if found is not None:
            return next(name for name in found.groups() if name)
    return None


def brings(name: str) -> str | None:
    """Say what brings a file of this name; None for one that is not known."""
    return next((advice for pattern, advice in _BRINGS if re.match(pattern, name)), None)

"""The kernels in tests/triton_kernels: written by torch 2.11 on an H200, recorded by fixtures/record/triton_kernels.py.

Each file is one kernel of Inductor's cache, named after the model that it was compiled for.
"""

from pathlib import Path

from aoti_logs.code.kernel.inside import Inside
from aoti_logs.code.kernel.text import triton_kernels
from aoti_logs.sources.source import Kind, Source

FOLDER = Path(__file__).parent / "triton_kernels"
NAMES = tuple(sorted(p.stem for p in FOLDER.glob("*.txt")))


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text()


def inside_of(text: str) -> Inside:
    """Return the inside of the kernel in the text of a kernel file."""
    (kernel,) = triton_kernels(Source("kernel.py", Kind.TRITON_KERNEL, text.encode))
    return Inside(kernel)


def recorded(name: str) -> Inside:
    return inside_of(text_of(name))

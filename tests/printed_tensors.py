"""Tensors printed by the installed torch itself, in both of the value printer's ways; it needs torch."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def print_cpp(tensors: list[tuple[Any, str | None]]) -> str:
    """Return what `aoti_torch_print_tensor_handle` writes to stdout for each (tensor, message)."""
    import torch

    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    show = library.aoti_torch_print_tensor_handle
    show.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as noise:
        sys.stdout.flush()
        kept = [os.dup(1), os.dup(2)]
        try:
            os.dup2(out.fileno(), 1)
            os.dup2(noise.fileno(), 2)
            for tensor, message in tensors:
                (capsule,) = torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors([tensor])
                show(pointer(capsule, None), message.encode() if message is not None else None)
            ctypes.CDLL(None).fflush(None)
        finally:
            for number, old in enumerate(kept, 1):
                os.dup2(old, number)
                os.close(old)
        out.seek(0)
        return out.read().decode()


def print_python(arguments: list[tuple[Any, str]]) -> str:
    """Return what the Python wrapper's printer writes for each (argument, message)."""
    import contextlib
    import io

    from torch._inductor.codegen.debug_utils import _print_debugging_tensor_value_info

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for argument, message in arguments:
            _print_debugging_tensor_value_info(f"inductor: {message}", argument)
    return out.getvalue()


def run_python(code: str, cwd: Path) -> str:
    """Run a program and return its stdout."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False
    ).stdout

"""The kind of an error that no rule knows: by its text, else by how it reached the log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText


_KINDS: tuple[tuple[str, str], ...] = (
    (
        r"input_handles\[\d+\]: unmatched|input_handles\[\d+\]: dim value|^expected ndim \d+ but got",
        "aoti_input_mismatch",
    ),
    (r"expected (?:in|out)puts vector size to be", "aoti_input_count_mismatch"),
    (r"Error in dlopen", "aoti_dlopen_error"),
    (
        r"zip archive|generated cpp file or so file|File (?:not )?found: .*_compile_flags",
        "aoti_package_error",
    ),
    (r"illegal memory access", "cuda_illegal_memory_access"),
    (r"misaligned address", "cuda_misaligned_address"),
    (r"API call failed at", "aoti_api_call_failed"),
    (r"device-side assert", "cuda_device_assert"),
)
"""Text of an error to the kind of failure that it certainly is; a table, so that it can grow."""


def kind_of(error: ErrorText) -> str:
    """Return the kind of an error, by its text, else by how it reached the log."""
    for pattern, kind in _KINDS:
        if re.search(pattern, error.message):
            return kind
    if error.signal in {"SIGSEGV", "SIGBUS"}:
        return "segfault"
    if error.form is ErrorForm.TERMINATE:
        return "terminate"
    return "python_traceback" if error.form is ErrorForm.PYTHON else "error"

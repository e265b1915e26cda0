"""Read what a failing torch.compile or AOTInductor run left behind, and say why it failed.

>>> run = aoti_logs.load("serve.log", context="build/")
>>> print(run.explain())
>>> run.launches  # a polars DataFrame, as every table
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs._run import Run, load
    from aoti_logs._saved import saved_tensor
    from aoti_logs.errors import LoadError
    from aoti_logs.explain import Explanation, Finding

__version__ = "0.1.0"

__all__ = ["Explanation", "Finding", "LoadError", "Run", "__version__", "load", "saved_tensor"]

_PLACES = {
    "load": "aoti_logs._run",
    "Run": "aoti_logs._run",
    "LoadError": "aoti_logs.errors",
    "Explanation": "aoti_logs.explain",
    "Finding": "aoti_logs.explain",
    "saved_tensor": "aoti_logs._saved",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'aoti_logs' has no attribute {name!r}")

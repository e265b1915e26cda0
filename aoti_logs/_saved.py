"""A tensor that the value printer saved, read on request."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from aoti_logs.errors import LoadError

PathLike = str | os.PathLike[str]


def saved_tensor(file: PathLike | bytes) -> Any:
    """Read a `.pt` file of AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=1; this needs torch.

    It is read with `torch.load(weights_only=True)`, which makes tensors and plain values and runs no code of the
    file. The path is the one given here: a path that a log names is never opened by itself.

    Args:
        file: the file, or its bytes (of an archive's member).

    Returns:
        The `torch.Tensor`, on the CPU.

    Raises:
        aoti_logs.LoadError: torch is not installed, the file cannot be read, or it holds something else.
    """
    name = "these bytes" if isinstance(file, bytes) else os.fspath(file)
    if not isinstance(file, bytes) and not Path(file).is_file():
        raise LoadError(f"there is no file {name}")
    try:
        import torch
    except ImportError:
        raise LoadError(
            "saved tensors are read by torch, which is not installed: pip install 'aoti-logs[torch]'"
        ) from None
    try:
        value = torch.load(
            io.BytesIO(file) if isinstance(file, bytes) else file, map_location="cpu", weights_only=True
        )
    except Exception as error:  # torch raises many types for a file that is none of its own
        said = str(error).strip().partition("\n")[0]
        raise LoadError(f"{name} cannot be read as a saved tensor: {said or type(error).__name__}") from error
    if not isinstance(value, torch.Tensor):
        raise LoadError(f"{name} holds {type(value).__name__}, not a tensor")
    return value

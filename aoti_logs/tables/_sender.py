"""Columns about who sent a line, as launchers, collectors and loggers write it in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from aoti_logs.parse.logs.sender import Sender


def rank() -> Any:
    """Return the column of the rank."""
    return dy.Int64(nullable=True, description="Rank that the line's prefix names.")


def worker() -> Any:
    """Return the column of the worker's name."""
    return dy.String(
        nullable=True, description="Worker, service, unit or container that the line's prefix names."
    )


def process() -> Any:
    """Return the column of the process id."""
    return dy.Int64(nullable=True, description="Process id that the line's prefix names.")


def time() -> Any:
    """Return the column of the time."""
    return dy.String(nullable=True, description="Time in front of the line, as printed there.")


def sent(sender: Sender | None) -> tuple[str | None, int | None, str | None]:
    """Return worker, process and time of a sender."""
    return (None, None, None) if sender is None else (sender.worker, sender.process, sender.time)

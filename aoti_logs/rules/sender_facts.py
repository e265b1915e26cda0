"""Who sent a text, as plain facts: what a launcher, a collector or a logger wrote in front of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs.parse.logs.sender import Sender


def sender_facts(sender: Sender | None) -> dict[str, Any]:
    """Return `prefix` with what the wrapping tells, and the time of it; nothing where it tells nothing.

    Keys: `worker` (name of the worker, service, unit or container), `rank`, `pid`, `pipe` (`stdout`, `stderr`),
    `level` and `time` as printed.
    """
    if sender is None:
        return {}
    told = {
        "worker": sender.worker,
        "rank": sender.rank,
        "pid": sender.process,
        "pipe": sender.pipe,
        "level": sender.level,
        "time": sender.time,
    }
    known = {key: value for key, value in told.items() if value is not None}
    if not known:
        return {}
    return {"prefix": known, **({"time": sender.time} if sender.time is not None else {})}

"""Who sent a line: what a launcher, a log collector or a logger wrote in front of it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Sender:
    """What the wrapping of a line tells; None where it tells nothing.

    `rank` is the rank that the wrapping names (torchrun's own prefix and vLLM's `Worker_TP1` name the local one).
    `worker` is the name of the worker, service, unit or container, names from outside to inside joined by `/`.
    `process` is the process id, `pipe` is `stdout` or `stderr`, `time` is the outermost time as printed, `level` the
    level that the innermost logger gave the message.
    """

    rank: int | None = None
    worker: str | None = None
    process: int | None = None
    pipe: str | None = None
    time: str | None = None
    level: str | None = None

    def around(self, inner: Sender) -> Sender:
        """Return what both tell, where this one's prefix stands before the other's."""
        workers = [w for w in (self.worker, inner.worker) if w is not None]
        return Sender(
            rank=self.rank if inner.rank is None else inner.rank,
            worker="/".join(workers) or None,
            process=self.process if inner.process is None else inner.process,
            pipe=self.pipe or inner.pipe,
            time=self.time or inner.time,
            level=inner.level or self.level,
        )

    @property
    def stream(self) -> Sender:
        """The same without what differs from message to message: lines of one stream follow each other."""
        return replace(self, time=None, level=None)


NOBODY = Sender()

"""Tables of large traces built by other processes, while this one builds those of generated code.

A worker is `python -m aoti_logs._workers`, told what to do in JSON on its standard input. It is no fork, because polars
has threads, and none of `multiprocessing`, which would run a caller's script again. Frames come back as Arrow files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source

SMALLEST = 48_000_000
"""Bytes of traces from which on a worker pays: it takes half a second to start."""
VARIABLE = "AOTI_LOGS_PROCESSES"
"""Environment variable with the number of processes to use, this one included; 1 is none beside it."""


def processes() -> int:
    """Return how many processes may work at once."""
    asked = os.environ.get(VARIABLE, "")
    if asked.isdecimal():
        return max(1, int(asked))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def claim(folder: Path, name: str) -> bool:
    """Take a table for oneself; False when another process has it."""
    try:
        (folder / f"{name}.taken").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@dataclass
class Worker:
    """A process at work.

    Attributes:
        group: numbers of the traces that it reads.
        folder: where it writes one file a table, and one for each that somebody has taken.
        helped: tables of its traces that were built here.
    """

    process: subprocess.Popen[bytes]
    group: tuple[int, ...]
    folder: Path
    helped: dict[str, pl.DataFrame] = field(default_factory=dict)

    def frames(self, tables: Iterable[str]) -> dict[str, pl.DataFrame]:
        """Wait for it and return the tables; empty when it failed, so that they are built here."""
        import polars as pl

        if self.process.wait() != 0:
            return {}
        try:
            return {
                name: self.helped[name]
                if name in self.helped
                else pl.read_ipc((self.folder / f"{name}.arrow").read_bytes())
                for name in tables
            }
        except (OSError, pl.exceptions.PolarsError):
            return {}


class Workers:
    """Processes that build the tables of traces; use it as a context.

    Args:
        traces: the traces, of which those on disk can be given away.
        tables: the tables that are made of traces.
    """

    def __init__(self, traces: Sequence[TraceIndex], tables: Iterable[str]) -> None:
        self._folder = TemporaryDirectory(prefix="aoti-logs-")
        self._workers: list[Worker] = []
        self._traces = traces
        self._tables = tuple(tables)

    def __enter__(self) -> Workers:
        """Start them, where that pays."""
        sources = [trace.source for trace in self._traces]
        for number, group in enumerate(_groups(sources, processes() - 1) if self._tables else []):
            self._workers.append(self._start(number, group))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop those that are still at work, and remove what they wrote."""
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        self._folder.cleanup()

    def __bool__(self) -> bool:
        """Tell whether any were started."""
        return bool(self._workers)

    def frames(self) -> dict[str, pl.DataFrame]:
        """Build what nobody has begun yet, wait for the rest and return all; only tables that are complete."""
        import polars as pl

        from aoti_logs import tables

        # Workers begin with the first table, so here the last is begun with.
        for name in reversed(self._tables):
            for worker in self._workers:
                if claim(worker.folder, name):
                    chosen = [self._traces[number] for number in worker.group]
                    worker.helped[name] = tables.of_traces(name, chosen)
        parts = [worker.frames(self._tables) for worker in self._workers]
        if not parts or not all(parts):
            return {}
        return {name: pl.concat([part[name] for part in parts], rechunk=False) for name in self._tables}

    def _start(self, number: int, group: Sequence[int]) -> Worker:
        from orjson import dumps

        folder = Path(self._folder.name) / str(number)
        folder.mkdir()
        order = {
            "sources": [_described(trace.source) for trace in self._traces],
            "numbers": list(group),
            "tables": self._tables,
            "folder": str(folder),
        }
        process = subprocess.Popen(
            # Without -P a module in the current folder, where somebody's files may lie, came before all others.
            [sys.executable, "-P", "-m", "aoti_logs._workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
        )
        assert process.stdin is not None
        try:
            process.stdin.write(dumps(order))
            process.stdin.close()
        except BrokenPipeError:
            pass
        return Worker(process, tuple(group), folder)


def _groups(traces: Sequence[Source], workers: int) -> list[list[int]]:
    """Share out the traces in their order, so that parts put together are in order too."""
    sizes = [_size(source) for source in traces]
    total = sum(sizes)
    if workers < 1 or not sys.executable or total < SMALLEST or not all(map(can_be_given_away, traces)):
        return []
    groups: list[list[int]] = [[]]
    filled = 0
    for number, size in enumerate(sizes):
        if groups[-1] and filled + size / 2 > total * len(groups) / workers and len(groups) < workers:
            groups.append([])
        groups[-1].append(number)
        filled += size
    return groups


def can_be_given_away(source: Source) -> bool:
    """Tell whether another process finds the same bytes: a plain file, nothing packed, no pipe."""
    from aoti_logs.sources.disk import is_plain
    from aoti_logs.sources.source import Kind

    if source.kind is not Kind.TORCH_TRACE or source.path is None or source.parent is not None:
        return False
    return is_plain(source.path)


def _size(source: Source) -> int:
    try:
        return source.path.stat().st_size if source.path is not None else 0
    except OSError:
        return 0


def _described(source: Source) -> dict[str, Any]:
    return {"path": str(source.path), "name": source.name, "rank": source.rank, "role": str(source.role)}


def work(order: dict[str, Any]) -> None:
    """Build the tables of some traces and write them as Arrow files.

    Args:
        order: `sources`: all traces; `numbers`: those to read, the others only give interned strings;
            `tables`; `folder`: where the files go.
    """
    from aoti_logs import tables
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.disk import plain_trace

    indexes = [
        TraceIndex(plain_trace(Path(s["path"]), s["name"], s["rank"], s["role"]), lambda: indexes)
        for s in order["sources"]
    ]
    folder = Path(order["folder"])
    chosen = [indexes[number] for number in order["numbers"]]
    for name in order["tables"]:
        if claim(folder, name):
            tables.of_traces(name, chosen).write_ipc(folder / f"{name}.arrow")


def main() -> None:
    """Do what standard input says."""
    from orjson import loads

    work(loads(sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()

"""The file that tlparse is given for a trace: the trace itself, or a copy with as little changed as can be."""

from __future__ import annotations

import codecs
from array import array
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.report.heads import heads
from aoti_logs.report.reasons import Reason, sentence
from aoti_logs.report.survey import Survey, mended_line, survey
from aoti_logs.report.text import as_utf8, escaped_as_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.report.tlparse import Options

_CHUNK = 1 << 20


@dataclass(eq=False)
class Trace:
    """A trace that a report is made of.

    Args:
        index: its records.
        options: what tlparse is asked for.
    """

    index: TraceIndex
    options: Options

    @property
    def name(self) -> str:
        """Its name in places of the explanation."""
        return self.index.source.name

    @cached_property
    def survey(self) -> Survey:
        """What has to be changed in it."""
        return survey(self.index.source.data, self.options)

    @cached_property
    def disk_path(self) -> Path | None:
        """The file on disk that holds exactly its bytes, None for what was unpacked or decoded."""
        source = self.index.source
        path, data = source.path, source.data
        try:
            if source.parent is not None or path is None or path.stat().st_size != len(data):
                return None
            with path.open("rb") as file:
                return path if file.read(4096) == bytes(data[:4096]) else None
        except OSError:
            return None


@dataclass(eq=False)
class Feed:
    """What tlparse is given of a trace: all of it, or the records of one rank.

    Attributes:
        trace: the trace.
        part: the rank whose records it holds, None for all records.
        rank: the rank that tlparse is told, by the file's name; None when there is none.
        bad_bytes: bytes that were replaced, known when it was written.
    """

    trace: Trace
    part: int | None = None
    rank: int | None = None
    bad_bytes: int = field(default=0, init=False)

    @property
    def title(self) -> str:
        """How a person knows it."""
        return self.trace.name if self.part is None else f"{self.trace.name}, rank {self.part}"

    @cached_property
    def given_ranks(self) -> array[int]:
        """The rank to give to each line of the survey, -1 for none."""
        seen = self.trace.survey
        ranks = seen.ranks
        given = array("q")
        begun = len(ranks) > 1  # then the records without a rank go to a rank each, from the start
        for rank, process, string in zip(seen.rank, seen.process, seen.string, strict=True):
            begun = begun or rank >= 0
            given.append(self._of_process(process) if begun and rank < 0 and not string else -1)
        return given

    @cached_property
    def _processes(self) -> dict[int, list[int]]:
        seen = self.trace.survey
        ranks: dict[int, dict[int, None]] = {}
        for process, rank in zip(seen.process, seen.rank, strict=True):
            if rank >= 0:
                ranks.setdefault(process, {})[rank] = None
        return {process: list(found) for process, found in ranks.items()}

    def _of_process(self, process: int) -> int:
        return self._processes.get(process, self.trace.survey.ranks)[0]

    def holds(self, number: int) -> bool:
        """Tell whether a line of the survey belongs here."""
        seen = self.trace.survey
        rank = seen.rank[number]
        if self.part is None or rank == self.part:
            return True
        if seen.string[number]:
            return self.part in self._processes.get(seen.process[number], seen.ranks)
        return rank < 0 and self.given_ranks[number] == self.part

    @cached_property
    def changed(self) -> bool:
        """Whether tlparse needs something else than the trace's own bytes."""
        seen = self.trace.survey
        needs_rank = max(self.given_ranks, default=-1) >= 0
        return needs_rank or any(seen.mended) or self.part is not None or not seen.all_utf8

    def write(self, path: Path) -> None:
        """Write what tlparse is given, in pieces."""
        with path.open("wb") as file:
            self.bad_bytes = _Writer(self, file).run()

    def sentences(self) -> list[str]:
        """Say what was changed; complete once it is written."""
        seen = self.trace.survey
        counts = dict(seen.changes)
        counts[Reason.BYTES] = self.bad_bytes
        counts[Reason.RANK_ADDED] = sum(
            rank >= 0 if self.part is None else rank == self.part for rank in self.given_ranks
        )
        return [
            sentence(reason, counts[reason], seen.examples.get(reason, ""))
            for reason in Reason
            if counts.get(reason)
        ]


class _Writer:
    def __init__(self, feed: Feed, file: BinaryIO) -> None:
        self.feed = feed
        self.file = file
        self.data = feed.trace.index.source.data
        self.bad = 0

    def run(self) -> int:
        if not self.feed.changed:
            self._copy(0, len(self.data))
            return self.bad
        at = 0
        for start, end, line in self._edits():
            self._copy(at, start)
            if line is not None:
                self.file.write(as_utf8(line)[0])
                self.bad += as_utf8(bytes(self.data[start:end]))[1]
            at = end
        self._copy(at, len(self.data))
        return self.bad

    def _edits(self) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield ranges of bytes to be replaced (None: by nothing), in order."""
        feed, seen = self.feed, self.feed.trace.survey
        number = 0
        skip_from: int | None = None
        for head in heads(self.data):
            if number == len(seen.start) or head.start != seen.start[number]:
                continue  # no record to tlparse either
            here, number = number, number + 1
            if not feed.holds(here):
                skip_from = head.start if skip_from is None else skip_from
                continue
            if skip_from is not None:
                yield skip_from, head.start, None
                skip_from = None
            rank = feed.given_ranks[here]
            if seen.mended[here] or rank >= 0:
                line, _, _ = mended_line(self.data, head, feed.trace.options, rank if rank >= 0 else None)
                if line is not None:
                    yield head.start, head.end, line
        if skip_from is not None:
            yield skip_from, len(self.data), None

    def _copy(self, start: int, end: int) -> None:
        if self.feed.trace.survey.all_utf8:
            for at in range(start, end, _CHUNK):
                self.file.write(bytes(self.data[at : min(at + _CHUNK, end)]))
            return
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        for at in range(start, end, _CHUNK):
            stop = min(at + _CHUNK, end)
            text = decoder.decode(bytes(self.data[at:stop]), final=stop == end)
            clean, bad = escaped_as_utf8(text)
            self.bad += bad
            self.file.write(clean)

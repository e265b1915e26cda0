"""Which traces a report has, and where in its folder each of them stands."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.report.feed import Feed, Trace
from aoti_logs.sources.opened import rank_of

if TYPE_CHECKING:
    import mmap
    from collections.abc import Sequence

    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.report.tlparse import Options
    from aoti_logs.sources.source import Source

_TAKEN = re.compile(r"dedicated_log_torch_trace_rank_(\d{1,9})(?:_[^/]*)?\.log")
"""The files that `tlparse --all-ranks-html` takes, directly in the folder that it is given."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Slot:
    """A place in the report.

    Attributes:
        folder: its folder, relative to the report's and with a slash at its end; empty for the report's own.
        feed: the trace that is shown there.
    """

    folder: str
    feed: Feed


@dataclass(frozen=True)
class Plan:
    """What is shown where.

    Attributes:
        together: the ranks that tlparse compares on one page (`rank_N/`), or the only trace.
        apart: traces with a report each.
        sentences: what was decided, and why.
    """

    together: tuple[Slot, ...] = ()
    apart: tuple[Slot, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All of them."""
        return self.together + self.apart

    @property
    def ranks(self) -> bool:
        """Whether tlparse is asked for the page of all ranks."""
        return len(self.together) > 1


@dataclass
class _Planner:
    options: Options
    sentences: list[str] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def plan(indexes: Sequence[TraceIndex], options: Options) -> Plan:
    """Decide where each trace is shown.

    Args:
        indexes: the traces.
        options: what tlparse is asked for.
    """
    planner = _Planner(options)
    traces = [Trace(index, options) for index in _distinct(indexes, planner)]
    feeds = [feed for trace in traces for feed in _feeds(trace, planner)]
    if len(feeds) == 1:
        return Plan((Slot("", feeds[0]),), (), tuple(planner.sentences))
    together = _one_each(feeds, planner)
    if len(together) < 2 or options.export:
        if options.export and len(together) > 1:
            planner.say("tlparse -e makes no page of all ranks: each rank has a report of its own")
        folders = {id(feed): f"rank_{feed.rank}/" for feed in together}
        together = []
    else:
        folders = {}
    folders_of_ranks = len(folders) > 1
    apart = [feed for feed in feeds if feed not in together]
    for number, feed in enumerate((f for f in apart if id(f) not in folders), 1):
        folders[id(feed)] = f"process_{number}/"
    if not together and not folders_of_ranks:
        planner.say("tlparse takes one file of one process: each trace has a report of its own")
    return Plan(
        tuple(Slot(f"rank_{feed.rank}/", feed) for feed in together),
        tuple(Slot(folders[id(feed)], feed) for feed in apart),
        tuple(planner.sentences),
    )


def _distinct(indexes: Sequence[TraceIndex], planner: _Planner) -> list[TraceIndex]:
    """Leave out copies: the trace and the raw.log of a report of it. Ranks may have written the same."""
    sizes = Counter(len(index.source.data) for index in indexes)
    alike: dict[object, list[TraceIndex]] = {}
    for index in indexes:
        size = len(index.source.data)
        alike.setdefault((size, _digest(index.source.data)) if sizes[size] > 1 else index, []).append(index)
    kept: list[TraceIndex] = []
    for copies in alike.values():
        by_rank: dict[int | None, TraceIndex] = {}
        for index in sorted(copies, key=lambda index: _named_rank(index.source) is None):
            rank = _named_rank(index.source)
            first = by_rank.setdefault(rank if rank is not None else next(iter(by_rank), None), index)
            if first is not index:
                planner.say(
                    f"{index.source.name} holds the same bytes as {first.source.name} and is shown once"
                )
        kept += by_rank.values()
    return sorted(kept, key=indexes.index)


def _digest(data: bytes | mmap.mmap) -> bytes:
    digest = hashlib.sha256()
    for at in range(0, len(data), _CHUNK):
        digest.update(bytes(data[at : at + _CHUNK]))
    return digest.digest()


def _feeds(trace: Trace, planner: _Planner) -> list[Feed]:
    """Return a feed for a trace, or one for each rank whose records are in it."""
    if not len(trace.index):
        planner.say(f"{trace.name} has no record of TORCH_TRACE: tlparse's pages of it are empty")
    ranks = trace.survey.ranks
    named = _named_rank(trace.index.source)
    if len(ranks) > 1:
        planner.say(
            f"{trace.name} has records of ranks {_listed(ranks)}: tlparse leaves out those of all ranks but "
            "the first, so it was given a file for each rank"
        )
        return [Feed(trace, part=rank, rank=rank) for rank in sorted(ranks)]
    if named is not None and ranks and ranks[0] != named:
        planner.say(
            f"{trace.name} is rank {named} by its name and rank {ranks[0]} by its records; tlparse goes by the name"
        )
    return [Feed(trace, rank=named if named is not None else next(iter(ranks), None))]


def _named_rank(source: Source) -> int | None:
    if source.path is not None:
        # The nearest folder counts (`rank_3/raw.log`), no farther one.
        return rank_of(f"{source.path.parent.name}/{source.name.rpartition('/')[2]}")
    return source.rank


def _listed(ranks: Sequence[int]) -> str:
    shown = [str(rank) for rank in sorted(ranks)[:10]]
    return ", ".join(shown) + (", ..." if len(ranks) > 10 else "")


def _one_each(feeds: list[Feed], planner: _Planner) -> list[Feed]:
    """Return one feed of each rank; tlparse knows no more, and takes no others."""
    of_rank: dict[int, list[Feed]] = {}
    for feed in feeds:
        if feed.rank is not None:
            of_rank.setdefault(feed.rank, []).append(feed)
    chosen = []
    for rank, several in sorted(of_rank.items()):
        latest = max(several, key=_began)
        chosen.append(latest)
        if len(several) > 1 and len(of_rank) > 1:
            others = ", ".join(feed.title for feed in several if feed is not latest)
            planner.say(
                f"rank {rank} has {len(several)} traces: {latest.title}, which began last, is compared with "
                f"the other ranks; tlparse would mix them up; {others} stands apart"
            )
    without = [feed.title for feed in feeds if feed.rank is None]
    if without and len(chosen) > 1:
        planner.say(
            f"{', '.join(without[:10])} {'gives' if len(without) == 1 else 'give'} no rank and stands apart; "
            "tlparse leaves such a file out of its page of all ranks"
        )
    return chosen


def _began(feed: Feed) -> tuple[bool, str, int]:
    """Order the traces of a rank: those of forked children first, then by the time of the first record."""
    index = feed.trace.index
    has_strings = any(True for _ in index.find("str"))
    return has_strings, index[0].time if len(index) else "", len(index)


def taken_by_name(name: str, rank: int | None) -> bool:
    """Tell whether `tlparse --all-ranks-html` takes a file of this name for that rank."""
    found = _TAKEN.fullmatch(name.rpartition("/")[2])
    return found is not None and int(found[1]) == rank

"""Which traces are those of the ranks of one run, and how ranks are named that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from aoti_logs.parse.traces.outcomes import outcomes
from aoti_logs.parse.traces.rank_view import RankView

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from aoti_logs.parse.traces.outcomes import Outcome
    from aoti_logs.parse.traces.rank_view import Key
    from aoti_logs.records.trace import TraceIndex

    Value = TypeVar("Value", bound=Hashable)


def views_of_runs(traces: Sequence[TraceIndex]) -> list[list[RankView]]:
    """Return the ranks that ran at the same time, by rank, one list a run; runs of which one rank is known are left out.

    Only times tell: runs one after the other leave their files in one folder. A rank that has several traces at a time
    (its children's) is left out, since nothing says which one is to be compared.
    """
    from aoti_logs.rules.trace_engine import rank_of

    views = []
    for trace in traces if len(traces) > 1 else ():
        found = outcomes(trace)
        rank = rank_of(trace, found)
        if rank is not None and len(trace):
            views.append(RankView(rank, trace, found))
    runs: list[list[RankView]] = []
    until = ""
    for view in sorted((v for v in views if all(v.times)), key=lambda v: v.times):
        if not runs or view.times[0] > until:
            runs.append([])
            until = ""
        runs[-1].append(view)
        until = max(until, view.times[1])
    return [ranks for run in runs if len(ranks := _once(run)) > 1]


def _once(run: list[RankView]) -> list[RankView]:
    of_rank: dict[int, list[RankView]] = {}
    for view in run:
        of_rank.setdefault(view.rank, []).append(view)
    return [of_rank[rank][0] for rank in sorted(of_rank) if len(of_rank[rank]) == 1]


def alike(values: Mapping[int, Value]) -> dict[Value, list[int]]:
    """Return the ranks of each value, the value of most ranks first."""
    found: dict[Value, list[int]] = {}
    for rank in sorted(values):
        found.setdefault(values[rank], []).append(rank)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def ranks_words(ranks: Iterable[int]) -> str:
    """Name ranks: `rank 3`, `ranks 0 to 6, 8`."""
    numbers = sorted(ranks)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    shown = ", ".join(parts[:6]) + (", ..." if len(parts) > 6 else "")
    return f"rank {shown}" if len(numbers) == 1 else f"ranks {shown}"


def function_of(outcome: Outcome) -> tuple[str, str | None, int | None] | None:
    """Return name, file and line of the function that a compile is of."""
    frame = outcome.frame
    return None if frame is None else (frame.name, frame.file, frame.line)


def function_words(outcome: Outcome) -> str:
    """Name the function of a compile: `` `step` (train.py:20)``, with the user's call where it is one of torch's own."""
    frame = outcome.frame
    if frame is None:
        return "a function that is not named"
    called = outcome.caller
    words = f", called at {_file(called.file)}:{called.line}" if called is not None else ""
    file = _file(frame.file)
    return f"`{frame.name}` ({file}:{frame.line}{words})" if file else f"`{frame.name}`"


def _file(path: str | None) -> str:
    return (path or "").replace("\\", "/").rpartition("/")[2]


def _called(outcome: Outcome) -> tuple[object, ...] | None:
    """Return what tells the function of a compile: torch's wrappers are one function for all that they wrap."""
    function, caller = function_of(outcome), outcome.caller
    return None if function is None else (*function, *(() if caller is None else (caller.file, caller.line)))


def compile_words(key: Key) -> str:
    """Name a compile: `0/1`, with a count where the id was begun before."""
    return key[0] if not key[1] else f"{key[0]} (begun for the {key[1] + 1}. time)"


def shared(views: Sequence[RankView]) -> list[Key]:
    """Return the compiles that several ranks have, of one function as far as that is known, in the order of the first."""
    order: dict[Key, set[object]] = {}
    count: dict[Key, int] = {}
    for view in views:
        for key, outcome in view.compiles.items():
            function = _called(outcome)
            order.setdefault(key, set()).update(() if function is None else (function,))
            count[key] = count.get(key, 0) + 1
    return [key for key, functions in order.items() if count[key] > 1 and len(functions) < 2]

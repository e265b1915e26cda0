"""A run: what was loaded, its tables, and its explanation."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind, Role, Source

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.kernel.inside import Inside
    from aoti_logs.code.model import Kernel
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Audit, Explanation, Finding
    from aoti_logs.ladder import Ladder
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceRecord
    from aoti_logs.rules.checkup import Checkup
    from aoti_logs.rules.comparison import Comparison
    from aoti_logs.sources.opened import Problem
    from aoti_logs.sources.source import Unread

    PathLike = str | os.PathLike[str]

_Spans = list[tuple[str, int, int]]


def load(path: PathLike | Sequence[PathLike], context: PathLike | Sequence[PathLike] | None = None) -> Run:
    """Find and split what a run left behind; nothing is parsed before it is asked for.

    Args:
        path: a log, a folder, a .pt2, a generated source, a .zip/.gz/.zst, `-` for stdin, or
            several of them.
        context: files or folders that are only consulted for evidence.

    Returns:
        The run.

    Raises:
        aoti_logs.LoadError: nothing there can be read; the text says why in one sentence.
    """
    from aoti_logs.sources.find import find

    found = find(_several(path), _several(context))
    problems = tuple(f"{p.path}: {p.sentence}" for p in found.problems)
    return Run(found.subjects, found.context, problems, found.skipped, found.unread, found.problems)


def _silence(source: Source) -> str:
    """Say why a log says nothing."""
    if not len(source.data):
        return "the file is empty"
    return "nothing in it is known as output of torch; `aoti-logs doctor` says how a run is recorded"


def _several(path: PathLike | Sequence[PathLike] | None) -> list[PathLike]:
    if path is None:
        return []
    return list(path) if isinstance(path, list | tuple) else [path]  # type: ignore[list-item]


class Tables(Mapping[str, "pl.DataFrame"]):
    """All tables by name; each is built when first asked for."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._built: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return a table; KeyError for an unknown name."""
        from aoti_logs import tables

        if name not in tables.NAMES:
            raise KeyError(name)
        if name not in self._built:
            self._built[name] = tables.build(name, self._run)
        return self._built[name]

    def items(self) -> ItemsView[str, pl.DataFrame]:
        """Return all tables; those of large traces are built by other processes (`AOTI_LOGS_PROCESSES`)."""
        self._build_all()
        return super().items()

    def values(self) -> ValuesView[pl.DataFrame]:
        """Return all tables, as `items` does."""
        self._build_all()
        return super().values()

    def _build_all(self) -> None:
        from aoti_logs import tables
        from aoti_logs._workers import Workers

        missing = [name for name in tables.NAMES if name not in self._built]
        of_traces = [name for name in tables.from_traces() if name in missing]
        with Workers(self._run.evidence.traces, of_traces) as workers:
            given = set(of_traces) if workers else set()
            for name in missing:
                if name not in given:
                    self[name]
            for name, made in workers.frames().items():
                self._built[name] = tables.with_logs(name, made, self._run)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        from aoti_logs.tables import NAMES

        return iter(NAMES)

    def __len__(self) -> int:
        """Return how many tables there are."""
        from aoti_logs.tables import NAMES

        return len(NAMES)


class Run:
    """What a run left behind, as tables and as an explanation.

    Every table of `tables` is also an attribute (`run.kernels`, `run.launches`).
    """

    def __init__(
        self,
        subjects: Sequence[Source],
        context: Sequence[Source],
        problems: tuple[str, ...],
        skipped: tuple[str, ...] = (),
        unread: tuple[Unread, ...] = (),
        complaints: tuple[Problem, ...] = (),
    ) -> None:
        self.subjects = tuple(subjects)
        self.context = tuple(context)
        self.problems = problems
        """Files that could not be read, with the reason."""
        self.skipped = skipped
        """Names of binary files that nobody reads by themselves: libraries, weights, saved tensors."""
        self._unread = unread
        self._complaints = complaints
        self.tables = Tables(self)
        self._events: dict[str, LogEvents] = {}

    def __repr__(self) -> str:
        """Return how many sources it has."""
        return f"<aoti_logs.Run of {len(self.subjects)} sources, {len(self.context)} for context>"

    def __getattr__(self, name: str) -> pl.DataFrame:
        """Return a table as an attribute."""
        if not name.startswith("_"):
            try:
                return self.tables[name]
            except KeyError:
                pass
        raise AttributeError(f"a run has no table or attribute {name!r}")

    @property
    def files(self) -> tuple[Source, ...]:
        """Files and archive members that were read."""
        return self.subjects + self.context

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """The same with the texts inside traces and logs."""
        return self.evidence.sources

    def size_of(self, source: Source) -> int | None:
        """Return the size of a source in bytes; None for a binary archive member, which is not read."""
        return None if source.kind is Kind.BINARY and source.parent is not None else source.size

    def read(self, source: Source) -> LogEvents:
        """Return what a log says, read once."""
        if source.name not in self._events:
            from aoti_logs.parse.logs.log import read_log

            self._events[source.name] = read_log(source)
        return self._events[source.name]

    def logs(self, *, subjects_only: bool = True) -> Iterator[tuple[Source, LogEvents]]:
        """Yield the logs with their events; those of the context only on request."""
        for source in self.subjects if subjects_only else self.files:
            if source.kind is Kind.LOG:
                yield source, self.read(source)

    @cached_property
    def evidence(self) -> Evidence:
        """Generated code, graphs, names and ranges at hand."""
        from aoti_logs.code.evidence import Evidence

        return Evidence(self.files, self.read, self._unread, self._complaints)

    def spans_of(self, source: Source) -> tuple[_Spans, _Spans]:
        """Return (records, unparsed) of a source as (kind, start, end); together they are all its bytes."""
        if source.kind is Kind.LOG:
            events = self.read(source)
            return (
                [(r.kind, r.span.start, r.span.end) for r in events.records],
                [(u.expected, u.span.start, u.span.end) for u in events.unparsed],
            )
        lead = source.report.lead if source.report is not None else None
        if source.kind is Kind.TORCH_TRACE or lead is not None:
            return self.evidence.trace(lead or source).spans_in(source)
        size = self.size_of(source)
        return ([(str(source.kind), 0, size)], []) if size else ([], [])

    def record(self, source: str, line: int) -> TraceRecord:
        """Return a record of a trace with all of its fields: `envelope`, `text`, `json()`, `frames()`.

        Args:
            source: the trace, as the tables name it in `source`.
            line: any line of the record.

        Raises:
            KeyError: there is no such trace, or no record in that line.
        """
        for trace in self.evidence.traces:
            record = trace.at(source, line)
            if record is not None:
                return record
        raise KeyError(f"no record of a trace in {source}:{line}")

    @cached_property
    def models(self) -> tuple[ModelView, ...]:
        """The distinct wrappers, each with the questions one can ask it (`docs/models.md`)."""
        return tuple(self.views())

    def views(self) -> Iterator[ModelView]:
        """Yield every distinct wrapper with the questions one can ask it."""
        for code in self.evidence.base.wrappers:
            if code.wrapper is not None:
                yield self.evidence.view(code.wrapper)

    def kernel_rows(self) -> Iterator[tuple[str | None, Kernel]]:
        """Yield (wrapper name, kernel) of every distinct kernel definition."""
        for code in self.evidence.base.codes:
            for kernel in code.kernels:
                yield (code.source.name if code.wrapper is not None else None), kernel

    def insides(self, name: str | None = None) -> Iterator[Inside]:
        """Yield the inside of every kernel whose body is at hand: parameters, accesses, checks, slices.

        Args:
            name: only kernels of that name; a name that stands in several texts gives several.
        """
        from aoti_logs.code.kernel.inside import Inside, is_defined

        for _, kernel in self.kernel_rows():
            if (name is None or kernel.name == name) and is_defined(kernel):
                yield Inside(kernel)

    def explain(self, *, rank: int | None = None) -> Explanation:
        """Explain each run log and each trace apart; the evidence serves all of them.

        Args:
            rank: only findings of this rank.
        """
        from aoti_logs.explain import Explanation
        from aoti_logs.plan.next_step import with_next
        from aoti_logs.rules.engine import explain_log
        from aoti_logs.rules.ranks import by_rank
        from aoti_logs.rules.runs import by_run
        from aoti_logs.rules.signature import signed

        findings = []
        unparsed: dict[str, int] = {}
        silent: dict[str, str] = {}
        for source, events in self.logs():
            findings += explain_log(source, events, self.evidence)
            if events.says_nothing:
                silent[source.name] = _silence(source)
            for row in events.unparsed:
                unparsed[row.expected] = unparsed.get(row.expected, 0) + 1
        own = [s for s in self.subjects if s.kind is Kind.TORCH_TRACE or s.leads_report]
        if own:
            from aoti_logs.rules.same_failure import joined
            from aoti_logs.rules.trace_engine import explain_trace

            traces = [self.evidence.trace(s) for s in own]
            findings = joined(findings, [f for trace in traces for f in explain_trace(trace, self.evidence)])
            if len(traces) > 1:
                from aoti_logs.rules.rank_differences import with_differences

                findings = with_differences(findings, traces)
        if any(f.rule == "AL506" for f in findings):
            from aoti_logs.rules.traced_origins import with_origins_at_hand

            findings = with_origins_at_hand(findings, self.evidence.traces)
        if not findings and not own and not any(s.kind is Kind.LOG for s in self.subjects):
            from aoti_logs.rules.al701_model import model_notes

            # Code in a folder is no subject by itself, but all that there is to speak of.
            findings += model_notes(
                [s for s in self.subjects if s.role is Role.SUBJECT] or self.files, self.evidence
            )
        problems = self.problems
        failed = {f.log for f in findings if f.role == "cause"}
        if rank is not None:
            others = [f for f in findings if f.rank not in {rank, None}]
            findings = [f for f in findings if f.rank in {rank, None}]
            if others:
                problems = (*problems, f"{len(others)} findings of other ranks than {rank} are not shown")
        findings = [with_next(f, self) for f in by_run([signed(f, self.evidence) for f in by_rank(findings)])]
        inputs = tuple(s.name for s in self.subjects if s.role is Role.SUBJECT)
        while_reading = [f"{s.name}: {problem}" for s in self.files for problem in s.problems]
        return Explanation(
            inputs,
            tuple(findings),
            unparsed,
            (*problems, *while_reading),
            failed_inputs=tuple(name for name in inputs if name in failed),
            silent={name: why for name, why in silent.items() if name in inputs},
            planner=self._ladder,
        )

    def compare(self, other: Run, names: tuple[str, str] = ("A", "B")) -> Comparison:
        """Say whether this run and another one failed alike.

        Args:
            other: the other run.
            names: what the screen calls them.
        """
        from aoti_logs.code.wrapper_release import exact_release
        from aoti_logs.rules.comparison import compared
        from aoti_logs.rules.signature import signature_of

        sides = []
        for run in (self, other):
            causes = [f for f in run.explain().findings if f.role == "cause"]
            sides.append([(f, signature_of(f, run.evidence)) for f in causes])
        found = [exact_release(run.evidence) for run in (self, other)]
        first, second = (None if v is None else f"{v[0]}.{v[1]}" for v in found)
        return compared(names, sides[0], sides[1], (first, second))

    def _ladder(self, finding: Finding) -> Ladder:
        from aoti_logs.plan import ladder_of

        return ladder_of(finding, self)

    def audit(self) -> Audit:
        """Say what the compiled models that were given will do wrong silently or confusingly, before anything fails.

        Returns:
            Findings (rules AL711 to AL731), by model, warnings first; those of one wrapper's code once.
        """
        from aoti_logs.explain import Audit
        from aoti_logs.rules.audit import audited

        findings, models = audited([s for s in self.files if s.asked], self.evidence)
        inputs = tuple(s.name for s in self.subjects if s.role is Role.SUBJECT)
        while_reading = [f"{s.name}: {problem}" for s in self.files for problem in s.problems]
        return Audit(inputs, findings, {}, (*self.problems, *while_reading), models)

    def doctor(self) -> Checkup:
        """Say which evidence of this run is at hand, which is not, and how to record it.

        Returns:
            One entry a kind of evidence, how much of each log was understood, and which torch the files tell of.
        """
        from aoti_logs.rules.doctor import checkup

        while_reading = [f"{s.name}: {problem}" for s in self.files for problem in s.problems]
        return checkup(self.files, tuple(self.logs()), self.evidence, (*self.problems, *while_reading))

    def timeline(self) -> pl.DataFrame:
        """Return the launches in program order, one row a launch.

        Columns are those of the table `launches`: wrapper, index, kernel, inputs, outputs, sizes.
        """
        return self.tables["launches"].sort("wrapper", "index")

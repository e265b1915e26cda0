"""All evidence at hand, each part read when a question first needs it."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import CodeBase
from aoti_logs.code.names.call_spec import by_call
from aoti_logs.code.names.nearness import by_nearness
from aoti_logs.code.names.python_line import PythonLine, python_lines
from aoti_logs.code.sizes.evidence import SizeEvidence, SizeRecords
from aoti_logs.code.view import ModelView, read_body
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aoti_logs.code.body import Body
    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.index.case_parts import Indexed, IndexSource
    from aoti_logs.code.index.locate import Site
    from aoti_logs.code.model import Kernel, Launch
    from aoti_logs.code.names.graph_shelf import GraphShelf
    from aoti_logs.code.names.witnesses import Witnesses
    from aoti_logs.code.packages.package import Package, PackagedModel
    from aoti_logs.code.wrapper_release import Releases
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.facts import Graph, KernelOrigin, Range, Signature, SourceName, Symbol
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.opened import Problem
    from aoti_logs.sources.source import Place, Unread


class Evidence:
    """Code, graphs, names and ranges from a set of sources.

    Args:
        sources: files and archive members; texts inside traces and logs are found here.
        events: reads a log, for what TORCH_LOGS printed into it.
        unread: files and members that are there and were not read: libraries, weights, damaged ones.
        problems: files and members that could not be read, or not all of them.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        events: Callable[[Source], LogEvents],
        unread: Sequence[Unread] = (),
        problems: Sequence[Problem] = (),
    ) -> None:
        self._given = tuple(sources)
        self._unread = tuple(unread)
        self._problems = tuple(problems)
        self._events = events
        self._traces: dict[str, TraceIndex] = {}
        self._views: dict[str, ModelView] = {}
        self._bodies: dict[tuple[str, int], Body] = {}

    @cached_property
    def traces(self) -> tuple[TraceIndex, ...]:
        """The TORCH_TRACE logs, and the tlparse reports of such that are not there themselves."""
        own = [s for s in self._given if s.kind is Kind.TORCH_TRACE or s.leads_report]
        if not own:
            return ()
        from aoti_logs.records.tlparse.repeats import without_repeats

        return without_repeats(self.trace(s) for s in own)

    def trace(self, source: Source) -> TraceIndex:
        """Return the records of one trace or report (of the file that leads it), indexed once."""
        from aoti_logs.records.tlparse.index import ReportIndex
        from aoti_logs.records.trace import TraceIndex

        if source.name not in self._traces:
            report = source.report if source.leads_report else None
            self._traces[source.name] = (
                TraceIndex(source, lambda: self.traces)
                if report is None
                else ReportIndex(report, lambda: self.traces)
            )
        return self._traces[source.name]

    @cached_property
    def logs(self) -> tuple[tuple[Source, LogEvents], ...]:
        """The logs with what is in them."""
        return tuple((s, self._events(s)) for s in self._given if s.kind is Kind.LOG)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Files, archive members, and the texts inside traces and logs."""
        found = list(self._given)
        if self.traces or any(s.part is not None for s in self._given):
            from aoti_logs.records.tlparse.sources import report_sources
            from aoti_logs.records.trace import trace_sources

            for trace in self.traces:
                found += trace_sources(trace)
            found += report_sources(self._given, self.traces)
        for source, events in self.logs:
            if events.messages:
                from aoti_logs.parse.logs.torch_logs_code import code_in_messages

                found += code_in_messages(events.messages, source)
        return tuple(found)

    @cached_property
    def base(self) -> CodeBase:
        """The generated code."""
        return CodeBase(self.sources)

    @cached_property
    def shelf(self) -> GraphShelf:
        """The FX graphs that were printed, each text read when it is asked for."""
        from aoti_logs.code.names.graph_shelf import GraphShelf

        return GraphShelf(self.sources)

    @cached_property
    def releases(self) -> Releases:
        """The releases of torch that can have compiled the code at hand."""
        from aoti_logs.code.wrapper_release import releases_of

        return releases_of(self)

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Every FX graph that was printed."""
        return self.shelf.all

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """Signatures of exported programs."""
        return self.shelf.all_signatures

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """Value ranges that exported programs print."""
        from aoti_logs.parse.graphs.exported_program import ranges_in_text

        texts = (s for s in self.sources if s.kind in {Kind.LOG, Kind.GRAPH, Kind.JSON})
        return tuple(r for s in texts for r in ranges_in_text(s))

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every `create_symbol`, from traces and from TORCH_LOGS text."""
        from aoti_logs.parse.sizes.symbol import symbols_in_messages

        found = self._traced("create_symbol")
        for _, events in self.logs:
            found += symbols_in_messages(events.messages)
        return tuple(found)

    @cached_property
    def all_symbols(self) -> tuple[Symbol, ...]:
        """The same with the unbacked symbols of traces, which no size of an input stands behind."""
        return (*self.symbols, *self._traced("create_unbacked_symbol"))

    def _traced(self, entry: str) -> list[Symbol]:
        from aoti_logs.parse.sizes.symbol import symbol_from_envelope

        found = []
        for trace in self.traces:
            for r in trace.find(entry):
                symbol = symbol_from_envelope(
                    r.envelope, r.place, trace.source, r.compile_id, r.strings, r.compile
                )
                if symbol is not None:
                    found.append(symbol)
        return found

    @cached_property
    def source_names(self) -> tuple[SourceName, ...]:
        """Inputs in the order in which tracing met them."""
        from aoti_logs.parse.sizes.symbol import source_name_from_envelope

        found = []
        for trace in self.traces:
            for record in trace.find("describe_source"):
                where = partial(_place_of, trace, record.number)
                name = source_name_from_envelope(record.envelope, where, trace.source, record.compile_id)
                if name is not None:
                    found.append(name)
        return tuple(found)

    @cached_property
    def origins(self) -> tuple[KernelOrigin, ...]:
        """Python stacks of kernels from provenance tracking."""
        from aoti_logs.parse.traces.provenance import kernel_origins

        texts = (s for s in self.sources if s.kind is Kind.KERNEL_INFORMATION)
        return tuple(o for s in texts for o in kernel_origins(s))

    @cached_property
    def packages(self) -> tuple[Package, ...]:
        """The packages and folders of AOTInductor's files, each with its models; see `code/packages/package.py`."""
        from aoti_logs.code.packages.find import packages

        return packages(self._given, self._unread, self._problems)

    def view_of(self, model: PackagedModel) -> ModelView | None:
        """Return the questions about a packaged model's wrapper; None when its text is not there."""
        file = model.wrapper_file
        code = None if file is None or file.source is None else self.base.code_of(file.source)
        return None if code is None or code.wrapper is None else self.view(code.wrapper)

    @cached_property
    def _witnesses(self) -> Witnesses:
        from aoti_logs.code.names.witnesses import Witnesses

        return Witnesses(self.shelf, self.symbols, self.source_names)

    @cached_property
    def _size_records(self) -> SizeRecords:
        return SizeRecords(self)

    def copies(self, wrapper: Wrapper) -> tuple[str, ...]:
        """Return the names of all sources that hold a wrapper's text."""
        return self.base.copies(wrapper.source)

    def view(self, wrapper: Wrapper) -> ModelView:
        """Return the questions about one wrapper, with the user's names of its inputs."""
        key = wrapper.source.name
        if key not in self._views:
            names = self._witnesses.names(wrapper, self.copies(wrapper))
            if wrapper.flavour == "aoti_cpp":
                names = by_call(names, wrapper.inputs, wrapper.source)
            told = SizeEvidence(self._size_records, self.copies(wrapper), jit=wrapper.flavour != "aoti_cpp")
            self._views[key] = ModelView(wrapper, self.base, names, told)
        return self._views[key]

    def body(self, kernel: Kernel) -> Body:
        """Return a kernel's body, read once."""
        key = (kernel.source.name, kernel.line)
        if key not in self._bodies:
            self._bodies[key] = read_body(kernel)
        return self._bodies[key]

    def symbol(self, view: ModelView, *symbols: str | None) -> tuple[Symbol | None, bool]:
        """Return the announcement of a symbol that fits a wrapper; None when several contradict.

        The flag is False when it stands where it may be about another compile.
        """
        wanted = {s for s in symbols if s}
        found = [s for s in self.symbols if s.symbol in wanted]
        names = {n.name for n in view.names.values()}
        fitting = [s for s in found if s.input_name in names or not names]
        for group, own in by_nearness(fitting, self.copies(view.wrapper)):
            same = {(s.origin, s.lower, s.upper) for s in group}
            return (group[0] if len(same) == 1 else None), own
        return None, True

    def python_lines(
        self,
        site: Site,
        launch: Launch | None,
        index: Sequence[IndexSource],
        indexed: Sequence[Indexed],
    ) -> tuple[PythonLine, ...]:
        """Return the user's lines that the failing access can come from."""
        name = launch.kernel if launch is not None else site.kernel.name
        copies = self.copies(site.wrapper) if site.wrapper is not None else ()
        return python_lines(launch, name, (index, indexed), (self.origins, self.shelf), copies)


def _place_of(trace: TraceIndex, number: int) -> Place:
    return trace[number].place

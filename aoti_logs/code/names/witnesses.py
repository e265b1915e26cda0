"""All that may name a wrapper's inputs, and the part of it that the wrapper's own compile recorded."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.names.input_names import decide
from aoti_logs.code.names.name_symbols import Told
from aoti_logs.code.names.name_witness import Bench
from aoti_logs.code.names.nearness import AOTI, compile_of_copy, compile_of_witness, in_trace
from aoti_logs.code.names.testimony import WrapperInputs

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.names.graph_shelf import GraphShelf
    from aoti_logs.code.names.input_names import InputName
    from aoti_logs.code.names.nearness import Compile
    from aoti_logs.parse.facts import SourceName, Symbol

_Compiles = tuple[tuple["Compile", ...], ...]
"""Compiles, with those together that cannot be told apart."""


class Witnesses:
    """Graphs, signatures, announced symbols and described sources, of any model."""

    def __init__(
        self,
        graphs: GraphShelf,
        symbols: Sequence[Symbol],
        source_names: Sequence[SourceName],
    ) -> None:
        self._graphs = graphs
        self._every_symbol = symbols
        self._every_source_name = source_names
        self._told: dict[tuple[Compile, ...], Told] = {}
        self._known: dict[Hashable, dict[str, InputName]] = {}

    def names(self, wrapper: Wrapper, copies: Sequence[str]) -> dict[str, InputName]:
        """Return the user's names of a wrapper's inputs.

        What its own compile recorded goes first in any case (`input_names`), so where that names
        every input the rest is not asked. Where it does not, as for what a backward graph gets from
        its forward graph, a trace's other compiles are asked only if they are of the same code (frame):
        it holds thousands of others.
        """
        about = WrapperInputs(tuple(wrapper.inputs), tuple(wrapper.sizes), tuple(wrapper.checks))
        labels = _labels(copies)
        if labels and all(mark is not None for together in labels for _, mark in together[-1:]):
            return self._read(about, wrapper.flavour, labels, copies)
        # Where no compile is known, wrappers that say the same and lie in the same places have the same names.
        key = (about, wrapper.flavour, frozenset(map(_standing, copies)))
        if key not in self._known:
            self._known[key] = self._read(about, wrapper.flavour, labels, copies)
        return self._known[key]

    def _read(
        self, about: WrapperInputs, flavour: str, labels: _Compiles, copies: Sequence[str]
    ) -> dict[str, InputName]:
        names = decide(about, flavour, (self._bench_of(labels),), copies)
        if all(i.name in names for i in about.inputs):
            return names
        akin = self._of_same_code(labels)
        if akin is None:
            return decide(about, flavour, (self.everything,), copies)
        return decide(about, flavour, (self._bench_of(akin, self._every_record), self._outside), copies)

    @cached_property
    def everything(self) -> Bench:
        """All witnesses."""
        return Bench(self._graphs.all, self._graphs.all_signatures, self._every_record)

    @cached_property
    def _every_record(self) -> Told:
        return Told(self._every_symbol, self._every_source_name)

    @cached_property
    def _outside(self) -> Bench:
        """What stands in no trace."""
        texts = [t for t in self._graphs.texts if not in_trace(t)]
        graphs = [g for t in texts for g in self._graphs.of(t)]
        signatures = [s for t in texts for s in self._graphs.signatures_of(t)]
        symbols = [s for s in self._every_symbol if not in_trace(s.source)]
        return Bench(graphs, signatures, Told(symbols, ()), self._every_record)

    def _of_same_code(self, labels: _Compiles) -> _Compiles | None:
        """Return the compiles of the same frames in the same traces; None where the trace does not tell."""
        found: dict[Compile, None] = {}
        for together in labels:
            [(name, mark)] = together if len(together) == 1 else [("", None)]
            if mark is None or (name, mark) not in self._order:
                return None
            found |= dict.fromkeys(self._frames[name, _frame(mark)])
        return (tuple(sorted(found, key=self._order.__getitem__)),) if found else None

    @cached_property
    def _order(self) -> dict[Compile, int]:
        """The compiles of traces, by where their first record of each kind stands."""
        texts = (compile_of_witness(t, t.compile_id) for t in self._graphs.texts if in_trace(t))
        traced = dict.fromkeys((*self._source_names, *self._symbols, *texts))
        return {compiled: number for number, compiled in enumerate(traced)}

    @cached_property
    def _frames(self) -> dict[tuple[str, str], list[Compile]]:
        found: dict[tuple[str, str], list[Compile]] = defaultdict(list)
        for name, mark in self._order:
            if mark is not None:
                found[name, _frame(mark)].append((name, mark))
        return found

    def _bench_of(self, compiles: _Compiles, spellings: Told | None = None) -> Bench:
        graphs = self._graphs.of_compiles(compiles)
        texts = {id(g.source): g.source for g in graphs}.values()
        signatures = [s for text in texts for s in self._graphs.signatures_of(text)]
        return Bench(graphs, signatures, self._told_by(compiles), spellings)

    def _told_by(self, compiles: _Compiles) -> Told:
        """Return the records of some compiles."""
        every = dict.fromkeys(c for together in compiles for c in together)
        recorded = tuple(c for c in every if c in self._symbols or c in self._source_names)
        if recorded not in self._told:
            symbols = [s for c in recorded for s in self._symbols.get(c, ())]
            names = [n for c in recorded for n in self._source_names.get(c, ())]
            told = Told(symbols, names)
            if all(mark is not None for _, mark in recorded):
                return told
            # Those of all AOTInductor compiles of a trace are the same.
            self._told[recorded] = told
        return self._told[recorded]

    @cached_property
    def _symbols(self) -> dict[Compile, list[Symbol]]:
        found: dict[Compile, list[Symbol]] = defaultdict(list)
        for symbol in self._every_symbol:
            found[compile_of_witness(symbol.source, symbol.compile_id)].append(symbol)
        return dict(found)

    @cached_property
    def _source_names(self) -> dict[Compile, list[SourceName]]:
        found: dict[Compile, list[SourceName]] = defaultdict(list)
        for name in self._every_source_name:
            found[compile_of_witness(name.source, name.compile_id)].append(name)
        return dict(found)


def _labels(copies: Sequence[str]) -> _Compiles:
    """Return the compiles that copies of a text are labelled with (`trace.log#output_code[0/0]`).

    What a trace holds outside of all compiles may be about any AOTInductor compile in it.
    """
    found: dict[tuple[Compile, ...], None] = {}
    for copy in copies:
        if "#" in copy:
            name, mark = compile_of_copy(copy)
            aoti = mark is not None and mark.startswith(AOTI)
            found[((name, None), (name, mark)) if aoti else ((name, mark),)] = None
    return tuple(found)


def _frame(mark: str) -> str:
    """Return the frame of a compile id: that of `0/1_2` is `0`, of `!0/1/0` is `!0/1`."""
    return mark.rpartition("/")[0] or mark


def _standing(copy: str) -> Compile:
    """Return all of a copy's name that nearness looks at: its trace and compile, or its folders."""
    if "#" in copy:
        return compile_of_copy(copy)
    end = max(copy.rfind("/"), copy.rfind("!")) + 1
    return copy[:end], ""

"""All that may name a wrapper's inputs, and the part of it that the wrapper's own compile recorded."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.input_names import decide
from aoti_logs.code.name_symbols import Told
from aoti_logs.code.name_witness import Bench
from aoti_logs.code.nearness import AOTI, compile_of_copy, compile_of_witness
from aoti_logs.code.testimony import WrapperInputs

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.graph_shelf import GraphShelf
    from aoti_logs.code.input_names import InputName
    from aoti_logs.code.nearness import Compile
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
        self._last: tuple[_Compiles, Bench] | None = None
        self._last_told: tuple[tuple[Compile, ...], Told] | None = None
        self._known: dict[Hashable, dict[str, InputName]] = {}

    def names(self, wrapper: Wrapper, copies: Sequence[str]) -> dict[str, InputName]:
        """Return the user's names of a wrapper's inputs.

        What its own compile recorded goes first in any case (`input_names`), so where that names
        every input the rest is not asked: a trace holds thousands of compiles, each with graphs.
        Wrappers that say the same and lie in the same places are asked about once.
        """
        about = WrapperInputs(tuple(wrapper.inputs), tuple(wrapper.sizes), tuple(wrapper.checks))
        key = (about, wrapper.flavour, frozenset(map(_standing, copies)))
        if key not in self._known:
            names = decide(about, wrapper.flavour, self._of_compiles(_labels(copies)), copies)
            if any(i.name not in names for i in wrapper.inputs):
                names = decide(about, wrapper.flavour, self.everything, copies)
            self._known[key] = names
        return self._known[key]

    @cached_property
    def everything(self) -> Bench:
        """All witnesses."""
        told = Told(self._every_symbol, self._every_source_name)
        return Bench(self._graphs.all, self._graphs.all_signatures, told)

    def _of_compiles(self, compiles: _Compiles) -> Bench:
        if self._last is None or self._last[0] != compiles:
            graphs = self._graphs.of_compiles(compiles)
            texts = {id(g.source): g.source for g in graphs}.values()
            signatures = [s for text in texts for s in self._graphs.signatures_of(text)]
            self._last = compiles, Bench(graphs, signatures, self._told_by(compiles))
        return self._last[1]

    def _told_by(self, compiles: _Compiles) -> Told:
        """Return the records of some compiles; those of all AOTInductor compiles of a trace are the same."""
        every = dict.fromkeys(c for together in compiles for c in together)
        recorded = tuple(c for c in every if c in self._symbols or c in self._source_names)
        if self._last_told is None or self._last_told[0] != recorded:
            symbols = [s for c in recorded for s in self._symbols.get(c, ())]
            names = [n for c in recorded for n in self._source_names.get(c, ())]
            self._last_told = recorded, Told(symbols, names)
        return self._last_told[1]

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


def _standing(copy: str) -> Compile:
    """Return all of a copy's name that nearness looks at: its trace and compile, or its folders."""
    if "#" in copy:
        return compile_of_copy(copy)
    end = max(copy.rfind("/"), copy.rfind("!")) + 1
    return copy[:end], ""

"""All that may name a wrapper's inputs, and the part of it that the wrapper's own compile recorded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.input_names import input_names
from aoti_logs.code.nearness import compile_of_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.codebase import Wrapper
    from aoti_logs.code.input_names import InputName
    from aoti_logs.code.nearness import Witness
    from aoti_logs.parse.facts import Graph, Signature, SourceName, Symbol

_Compile = tuple[str, str | None]
"""The trace or log that holds a record, and its compile id."""


@dataclass
class _Told:
    graphs: list[Graph] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    source_names: list[SourceName] = field(default_factory=list)


@dataclass(frozen=True)
class Witnesses:
    """Graphs, signatures, announced symbols and described sources, of any model."""

    graphs: Sequence[Graph]
    signatures: Sequence[Signature]
    symbols: Sequence[Symbol]
    source_names: Sequence[SourceName]

    def names(self, wrapper: Wrapper, copies: Sequence[str]) -> dict[str, InputName]:
        """Return the user's names of a wrapper's inputs.

        What its own compile recorded goes first in any case (`input_names`), so where that names
        every input the rest is not asked: a trace holds thousands of compiles, each with graphs.
        """
        names = self._of_compile(copies)._ask(wrapper, copies)
        if any(i.name not in names for i in wrapper.inputs):
            names = self._ask(wrapper, copies)
        return names

    def _ask(self, wrapper: Wrapper, copies: Sequence[str]) -> dict[str, InputName]:
        return input_names(
            wrapper.inputs,
            wrapper.sizes,
            wrapper.flavour,
            graphs=self.graphs,
            signatures=self.signatures,
            symbols=self.symbols,
            source_names=self.source_names,
            copies=copies,
            checks=wrapper.checks,
        )

    @cached_property
    def _compiles(self) -> dict[_Compile, _Told]:
        found: dict[_Compile, _Told] = defaultdict(_Told)
        for graph in self.graphs:
            found[_compile(graph, graph.compile_id)].graphs.append(graph)
        for symbol in self.symbols:
            found[_compile(symbol, symbol.compile_id)].symbols.append(symbol)
        for name in self.source_names:
            found[_compile(name, name.compile_id)].source_names.append(name)
        return dict(found)

    @cached_property
    def _signatures(self) -> dict[str, list[Signature]]:
        found: dict[str, list[Signature]] = defaultdict(list)
        for signature in self.signatures:
            found[signature.source.name].append(signature)
        return dict(found)

    def _of_compile(self, copies: Sequence[str]) -> Witnesses:
        told = [self._compiles[key] for key in _labels(copies) if key in self._compiles]
        graphs = [g for t in told for g in t.graphs]
        sources = dict.fromkeys(g.source.name for g in graphs)
        return Witnesses(
            graphs,
            [s for name in sources for s in self._signatures.get(name, ())],
            [s for t in told for s in t.symbols],
            [n for t in told for n in t.source_names],
        )


def _compile(witness: Witness, compile_id: str | None) -> _Compile:
    return (witness.source.parent or witness.source).name, compile_id


def _labels(copies: Sequence[str]) -> list[_Compile]:
    """Return the compiles that copies of a text are labelled with (`trace.log#output_code[0/0]`)."""
    return list(dict.fromkeys(compile_of_copy(copy) for copy in copies if "#" in copy))

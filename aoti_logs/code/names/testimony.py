"""What a witness says about a wrapper's inputs, and what makes it believable."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.names.graph_inputs import Compared, agrees
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.model import InputCheck, ModelInput, Size
    from aoti_logs.parse.facts import Graph
    from aoti_logs.sources.source import Place, Source

_BACKED = re.compile(r"s\d+")
_TANGENT = re.compile(r"tangents_\d+")
_PRIMAL = re.compile(r"primals_\d+")


@dataclass(frozen=True)
class Testimony:
    """Names by generated name, each with its place, from one witness. Lower `rank` is heard first."""

    names: dict[str, tuple[str, Place]]
    rank: int
    strength: Confidence
    why: str
    source: Source
    compile_id: str | None = None
    measures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Sizes by generated name (`graph_inputs.measures`), where the witness prints them."""


@dataclass(frozen=True)
class WrapperInputs:
    """What a wrapper itself says about its inputs."""

    inputs: tuple[ModelInput, ...]
    sizes: tuple[Size, ...]
    checks: tuple[InputCheck, ...]

    @cached_property
    def tensors(self) -> tuple[ModelInput, ...]:
        """Inputs that are tensors."""
        return tuple(i for i in self.inputs if not i.scalar)

    @cached_property
    def backward(self) -> bool:
        """Whether it is a backward graph: of what it gets, only `primals_N` are the caller's."""
        return any(_TANGENT.fullmatch(i.name) for i in self.inputs)

    @cached_property
    def given(self) -> frozenset[str]:
        """Names of the inputs that a caller gives; others are what the forward graph saved, and gradients."""
        names = (i.name for i in self.inputs)
        return frozenset(n for n in names if not self.backward or _PRIMAL.fullmatch(n))

    @cached_property
    def of_caller(self) -> WrapperInputs:
        """The same of the inputs that a caller gives."""
        if not self.backward:
            return self
        return WrapperInputs(tuple(i for i in self.inputs if i.name in self.given), self.sizes, self.checks)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Backed size symbols."""
        return frozenset(s.symbol for s in self.sizes if _BACKED.fullmatch(s.symbol))

    @cached_property
    def compared(self) -> Compared:
        """The sizes that a witness must not contradict."""
        return Compared.of(self.inputs, self.sizes, self.checks)


def proof(wrapper: WrapperInputs, shapes: Sequence[tuple[str, ...] | None]) -> Confidence | None:
    """Return the strength of a match by order: None when it is contradicted, or nothing supports it.

    A wrapper with size symbols needs one of them on the witness's side: equal counts alone would let
    any model speak. Without symbols the count, and static sizes that do not differ, are all there is.
    """
    agreed = agrees(shapes, wrapper.compared)
    if agreed is False or (agreed is None and wrapper.symbols):
        return None
    return Confidence.PROVEN if agreed else Confidence.LIKELY


def compile_of(graph: Graph) -> tuple[int, str | None]:
    """Return what graphs and records of one compile have in common: the trace or log, and the compile id."""
    return id(graph.source.parent or graph.source), graph.compile_id

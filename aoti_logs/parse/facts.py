"""What compile-time evidence says about a model: symbols, graphs, signatures, provenance.

The same fact comes from a TORCH_TRACE record, from TORCH_LOGS text, from a debug folder, a package
or a printed ExportedProgram; each carries the place that says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.sources.source import Place, Source


@dataclass(frozen=True)
class Symbol:
    """A shape symbol as `create_symbol` announces it.

    `origin` is the expression that measures it (`L['table'].size()[0]`); `input_name` and `dim`
    are taken from it when it is a size of a local (`table`, 0). `lower` and `upper` are the value
    range at creation, None for infinity. `hint` is the example's value.
    """

    symbol: str
    origin: str
    place: Place
    source: Source
    hint: int | None = None
    lower: int | None = None
    upper: int | None = None
    input_name: str | None = None
    dim: int | None = None
    stride: bool = False
    user_frame: str | None = None
    """`file:line in function` of the user's code, where the record tells."""
    compile_id: str | None = None
    duck: bool = False
    """True for "duck sized": an older symbol with the same example value stands for this size too;
    `hint`, `lower` and `upper` are then unknown."""
    range: tuple[str, ...] = ()
    """Both limits as printed (`2`, `int_oo`); empty where none are."""
    compile: str | None = None
    """Readable id of the compile: without attempt, `aoti/0` for AOTInductor's first."""
    unbacked: bool = False
    """True for a value that is known only when the code runs."""


@dataclass(frozen=True)
class Range:
    """A value range that an ExportedProgram prints or a later record refines (`s70: VR[0, 4096]`)."""

    symbol: str
    lower: int | None
    upper: int | None
    place: Place
    source: Source


@dataclass(frozen=True)
class SignatureInput:
    """An input of an ExportedProgram: `kind` is `USER_INPUT`, `PARAMETER`, `BUFFER`, ...;
    `target` is the module path of a lifted parameter (`emb.weight`).
    """

    name: str
    kind: str
    target: str | None
    argument: str = ""
    """`tensor`, `sym_int`, `constant`, ... where the text tells; constants are no run-time input."""


@dataclass(frozen=True)
class Signature:
    """The graph signature of an ExportedProgram, inputs in order."""

    inputs: tuple[SignatureInput, ...]
    place: Place
    source: Source

    @property
    def user_inputs(self) -> tuple[str, ...]:
        """Names of the user's inputs in order."""
        return tuple(i.name for i in self.inputs if i.kind == "USER_INPUT")


class Placeholder(NamedTuple):
    """A graph input: `name`, its annotation (`i64[s95][1]cpu`, `Sym(s70)`) and what it stands for.

    `line` counts from 0 at the line where the graph begins; `Graph.place_of` gives the place.
    `aot_index` is the number in `PlainAOTInput(idx=N)`, `user_name` the name a user gave where the
    graph itself tells it (`L_table_` is `table` through its comment, an export graph uses it).
    """

    name: str
    annotation: str | None
    line: int
    aot_index: int | None = None
    user_name: str | None = None


class Placeholders(tuple[Placeholder, ...]):
    """The inputs of a graph in order; graphs with the same head share them."""

    @cached_property
    def by_name(self) -> dict[str, Placeholder]:
        """The same by name."""
        return {p.name: p for p in self}

    @cached_property
    def of_dynamo(self) -> bool:
        """Whether Dynamo named some of them after their sources (`L_x_`)."""
        return any(p.name.startswith(("L_", "G_")) for p in self)


@dataclass(frozen=True)
class GraphNode:
    """A node with the Python line it came from (`# File: FILE:LINE in FUNCTION, code: CODE`)."""

    name: str
    target: str
    args: tuple[str, ...]
    """Names of nodes that it reads, in order, repeats kept."""
    file: str | None
    line: int | None
    function: str | None
    code: str | None
    place: Place


@dataclass(frozen=True)
class GraphBody:
    """What the statements of a graph say."""

    nodes: tuple[GraphNode, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Graph:
    """An FX graph printed as Python. `stage` is the trace's name for it (`aot_inference_graph`,
    `before_pre_grad_graph`, `dynamo_output_graph`, `inductor_post_grad_graph`, `exported_program`).

    Its inputs are read at once, its statements (`read_body`) when first asked for: a trace holds
    thousands of graphs, and few questions go beyond their inputs. `first_line` is the line of its
    `def forward`, in `source`.
    """

    stage: str
    placeholders: Placeholders
    first_line: int
    read_body: Callable[[], GraphBody] = field(repr=False, compare=False)
    source: Source
    compile_id: str | None = None

    def place_of(self, placeholder: Placeholder) -> Place:
        """Return where an input of the graph stands."""
        return self.source.place(self.first_line + placeholder.line)

    @cached_property
    def _body(self) -> GraphBody:
        return self.read_body()

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """Its nodes, inputs and attributes of modules left out."""
        return self._body.nodes

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """(node name, module path) of `tok_weight = self.tok.weight` lines."""
        return self._body.attributes


@dataclass(frozen=True)
class KernelOrigin:
    """Python stacks and graph nodes of one kernel launch, from provenance tracking."""

    kernel: str
    handle: int | None
    stacks: tuple[str, ...]
    pre_grad_nodes: tuple[str, ...]
    post_grad_nodes: tuple[str, ...]
    place: Place
    source: Source


@dataclass(frozen=True)
class NodeMapping:
    """`inductor_provenance_tracking_node_mappings`: names to names, both ways kept as printed."""

    pre_to_post: tuple[tuple[str, tuple[str, ...]], ...]
    kernel_to_post: tuple[tuple[str, tuple[str, ...]], ...]
    place: Place
    source: Source


class SourceName(NamedTuple):
    """A `describe_source` record: an input's Dynamo source (`L['tokens']`) in order of appearance.

    `where` tells its place when somebody asks: a trace holds very many, and few are quoted.
    """

    origin: str
    input_name: str | None
    where: Callable[[], Place]
    source: Source
    compile_id: str | None = None

    @property
    def place(self) -> Place:
        """Where the record stands."""
        return self.where()

"""The parts of an index case: the bound and its sizes, the index and what it selects from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Expr, Name, evaluate
from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aoti_logs.code.index.numbers import Known
    from aoti_logs.code.model import Argument, InputCheck, Launch, Size
    from aoti_logs.code.view import Tensor
    from aoti_logs.parse.facts import Symbol


@dataclass(frozen=True)
class BoundTerm:
    """One size in a bound: parameter, what the launch gives for it, and what that measures."""

    param: str
    argument: Argument
    symbol: str | None
    chain: tuple[Size, ...]
    tensor: Tensor | None
    dim: int | None
    announced: Symbol | None
    """`create_symbol` of the symbol, when the evidence holds one that fits this wrapper."""
    checks: tuple[InputCheck, ...]
    known: Known | None
    range_strength: Confidence = Confidence.PROVEN
    """LIKELY when the announcement stands where it may be about another compile."""
    derived: bool = False
    """True when the size is computed from the tensor's size, not equal to it."""

    @property
    def lower(self) -> int | None:
        """Smallest size the code was compiled for."""
        return self._limit(CheckKind.MIN, self.announced.lower if self.announced else None)

    @property
    def upper(self) -> int | None:
        """Largest size the code was compiled for; None for no limit."""
        return self._limit(CheckKind.MAX, self.announced.upper if self.announced else None)

    def _limit(self, kind: CheckKind, otherwise: int | None) -> int | None:
        for check in self.checks:
            if check.kind is kind and check.expected.lstrip("-").isdigit():
                return int(check.expected)
        return otherwise

    @property
    def has_range(self) -> bool:
        """True when any evidence tells the compiled range."""
        return bool(self.checks) or self.announced is not None

    @property
    def shown(self) -> str:
        """What it is in the user's words: `events.size(0)`."""
        if self.tensor is not None and self.dim is not None and not self.derived:
            return f"{self.tensor.shown}.size({self.dim})"
        return self.symbol or self.argument.text


@dataclass(frozen=True)
class Bound:
    """The upper bound of a check. `value` is a literal one, `terms` the sizes in a symbolic one."""

    text: str
    expr: Expr | None
    value: int | None
    terms: tuple[BoundTerm, ...] = ()

    @property
    def known(self) -> int | None:
        """Its value in this run, when every size in it is known."""
        if self.value is not None:
            return self.value
        return self.with_sizes({t.symbol: t.known.value for t in self.terms if t.symbol and t.known})

    def with_sizes(self, sizes: Mapping[str, int]) -> int | None:
        """Return its value with sizes put in for symbols, None when one is missing."""
        values: dict[str, int] = {}
        for term in self.terms:
            given = term.argument.value if term.argument.value is not None else Name(term.symbol or "")
            value = evaluate(given, sizes)
            if value is not None:
                values[term.param] = value
        return evaluate(self.expr, values) if self.expr is not None else None


@dataclass(frozen=True)
class IndexSource:
    """Where the failing index comes from: a tensor read by the kernel, or a loop variable."""

    tensor: Tensor | None
    ptr: str | None
    loop: str | None
    extent: Expr | None
    extent_terms: tuple[BoundTerm, ...]
    produced_by: Launch | None
    roots: tuple[Tensor, ...]
    dtype: str | None
    """How the kernel reads the index (`*i64`, `const int64_t*`)."""
    covers: bool = False
    """True when the kernel reads every element of the tensor as an index: only then does an extreme
    value of the whole tensor prove that such an index was used."""


@dataclass(frozen=True)
class Indexed:
    """What the index selects from. `rows` is the extent of the indexed dimension as written."""

    tensor: Tensor
    ptr: str
    write: bool
    line: int
    dim: int | None
    rows: str | None

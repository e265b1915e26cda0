"""One failed bounds check with all that the evidence says about it, before any judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Expr, Name, Num, Op, evaluate, names
from aoti_logs.code.launch_shape import threads_of_blocks
from aoti_logs.code.locate import Hints, Site, launch_of, locate
from aoti_logs.code.model import ArgumentKind, CheckKind
from aoti_logs.code.numbers import Known, Numbers
from aoti_logs.code.slice import Slice, checks_with, operand_of, slice_check
from aoti_logs.code.view import ModelView, Tensor
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Argument, InputCheck, Launch, Size
    from aoti_logs.code.python_line import PythonLine
    from aoti_logs.parse.events import Assertion, LogEvents
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
        if self.tensor is not None and self.dim is not None:
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
        values = {t.param: t.known.value for t in self.terms if t.known is not None}
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


@dataclass(frozen=True)
class Indexed:
    """What the index selects from. `rows` is the extent of the indexed dimension as written."""

    tensor: Tensor
    ptr: str
    write: bool
    line: int
    dim: int | None
    rows: str | None


@dataclass(frozen=True)
class IndexCase:
    """Everything known about one failed bounds check."""

    assertion: Assertion
    sites: tuple[Site, ...]
    site: Site | None
    """The only site, or the first of equal ones (`strength` then says POSSIBLE)."""
    view: ModelView | None
    launches: tuple[Launch, ...]
    launch_strength: Confidence
    launch_why: str
    slice: Slice | None
    bound: Bound | None
    index: tuple[IndexSource, ...]
    indexed: tuple[Indexed, ...]
    numbers: Numbers
    python: tuple[PythonLine, ...]
    threads: int | None
    """How many threads the blocks have that printed, where the wrapper tells it."""
    checks_on: bool | None
    """AOTI_RUNTIME_CHECK_INPUTS as the log's command line sets it; None when nothing tells."""

    @property
    def launch(self) -> Launch | None:
        """The launch that is quoted: the only one, or the first of several."""
        return self.launches[0] if self.launches else None

    @property
    def strength(self) -> Confidence:
        """How well the way from assertion to launch is known."""
        if self.site is None:
            return Confidence.UNKNOWN
        parts = [self.site.strength, self.site.wrapper_strength, self.launch_strength]
        order = [Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN]
        return max(parts, key=order.index)

    @property
    def compiled(self) -> str | None:
        """`aoti_cpp`, `jit_python`, `jit_cpp`, or None without a wrapper."""
        return self.view.wrapper.flavour if self.view else None


def build_case(assertion: Assertion, events: LogEvents, evidence: Evidence) -> IndexCase:
    """Join an assertion with the code and the facts at hand."""
    hints = Hints.of([f for s in events.stacks for f in s.frames])
    sites = locate(assertion, evidence.base, hints)
    numbers = Numbers.before(events, assertion.first.start)
    checks_on = _checks_on(events)
    if not sites:
        bound = _bound_of_text(assertion)
        return IndexCase(
            assertion,
            (),
            None,
            None,
            (),
            Confidence.UNKNOWN,
            "",
            None,
            bound,
            (),
            (),
            numbers,
            (),
            None,
            checks_on,
        )
    site = sites[0]
    view = evidence.view(site.wrapper) if site.wrapper is not None else None
    launches, strength, why = launch_of(site, hints)
    body = evidence.body(site.kernel)
    check = next((c for c in checks_with(body, assertion.message) if c.line == site.line), None)
    check = check or next(iter(checks_with(body, assertion.message)), None)
    sliced = slice_check(body, check) if check is not None else None
    launch = launches[0] if launches else None
    joiner = _Joiner(view, launch, numbers, evidence)
    bound = joiner.bound(assertion, sliced) or _bound_of_text(assertion)
    index = joiner.index(sliced, body) if sliced is not None else ()
    indexed = joiner.indexed(sliced, bound) if sliced is not None else ()
    python = evidence.python_lines(site, launch, index, indexed) if view is not None else ()
    name = launch.kernel if launch is not None else site.kernel.name
    threads = threads_of_blocks(assertion, site.wrapper, name) if site.wrapper is not None else None
    return IndexCase(
        assertion, sites, site, view, launches, strength, why, sliced, bound, index, indexed, numbers,
        python, threads, checks_on,
    )  # fmt: skip


def _checks_on(events: LogEvents) -> bool | None:
    for note in events.notes:
        if note.kind == "command":
            facts = dict(note.facts)
            if "AOTI_RUNTIME_CHECK_INPUTS" in facts:
                return not facts["AOTI_RUNTIME_CHECK_INPUTS"].startswith("0")
    return None


def _bound_of_text(assertion: Assertion) -> Bound | None:
    text = assertion.text
    if text is None or text.bound is None:
        return None
    from aoti_logs.code.cpp_expr import parse_cpp

    return Bound(text.bound, parse_cpp(text.bound), text.bound_value)


@dataclass(frozen=True)
class _Joiner:
    """Binds what a kernel's body says to what its launch gives."""

    view: ModelView | None
    launch: Launch | None
    numbers: Numbers
    evidence: Evidence

    def _argument(self, param: str) -> Argument | None:
        if self.launch is None:
            return None
        return next((a for a in self.launch.arguments if a.param == param), None)

    def bound(self, assertion: Assertion, sliced: Slice | None) -> Bound | None:
        upper = operand_of(sliced.check)[2] if sliced is not None else None
        if upper is None:
            return None
        text = assertion.text.bound if assertion.text and assertion.text.bound else str(upper)
        if isinstance(upper, Num):
            return Bound(text, upper, int(upper.value))
        return Bound(text, upper, None, self.terms(upper))

    def terms(self, expr: Expr) -> tuple[BoundTerm, ...]:
        found = []
        for name in sorted(names(expr)):
            argument = self._argument(name)
            if argument is None:
                continue
            symbols: list[str | None] = [*sorted(names(argument.value))] if argument.value is not None else []
            found += [self.term(name, argument, symbol) for symbol in symbols or [argument.name]]
        return tuple(found)

    def term(self, param: str, argument: Argument, symbol: str | None) -> BoundTerm:
        view = self.view
        chain = view.size_chain(symbol) if view is not None and symbol else ()
        last = chain[-1] if chain else None
        announced = (
            self.evidence.symbol(view, symbol, last.symbol if last else None) if view and symbol else None
        )
        tensor, dim = None, None
        if view is not None and last is not None and last.tensor and not last.stride:
            tensor, dim = view.named(last.tensor, ArgumentKind.INPUT), last.dim
        elif view is not None and announced is not None and announced.input_name:
            # torch.compile passes sizes as arguments of their own; the symbol's origin names the tensor.
            arg = next((a for a, n in view.names.items() if n.name == announced.input_name), None)
            entry = view.inputs.get(arg or "")
            if arg is not None and entry is not None and not entry.scalar:
                tensor = view.named(arg, ArgumentKind.INPUT)
            else:
                tensor = Tensor(announced.input_name, ArgumentKind.OTHER, None, announced.input_name)
            dim = announced.dim
        checks: tuple[InputCheck, ...] = ()
        if view is not None and tensor is not None and dim is not None:
            checks = tuple(view.limits(tensor.arg, dim).values())
        known = None
        if symbol is not None and self.launch is not None:
            known = self.numbers.symbol(symbol, self.launch.kernel)
        if known is None and tensor is not None and dim is not None:
            known = self.numbers.extent(tensor.arg, tensor.name, dim)
        return BoundTerm(param, argument, symbol, chain, tensor, dim, announced, checks, known)

    def index(self, sliced: Slice, body: object) -> tuple[IndexSource, ...]:
        found = []
        for origin in sliced.origins:
            if origin.kind == "load":
                found.append(self._loaded(origin.name, body))
            elif origin.kind == "loop" and not any(o.kind == "load" for o in sliced.origins):
                terms = self.terms(sliced.extent) if sliced.extent is not None else ()
                found.append(IndexSource(None, None, origin.name, sliced.extent, terms, None, (), None))
        unique: dict[tuple[str | None, str | None], IndexSource] = {}
        for source in found:
            unique.setdefault((source.ptr, source.loop), source)
        return tuple(unique.values())

    def _loaded(self, ptr: str, body: object) -> IndexSource:
        param = body.param(ptr) if hasattr(body, "param") else None
        dtype = param.dtype if param else None
        argument = self._argument(ptr)
        if argument is None or self.view is None or self.launch is None:
            return IndexSource(None, ptr, None, None, (), None, (), dtype)
        tensor = self.view.tensor(argument)
        produced, roots = None, tuple[Tensor, ...]()
        if tensor.kind not in {ArgumentKind.INPUT, ArgumentKind.CONSTANT}:
            produced = self.view.producer(tensor.arg, self.launch.index)
            roots = self.view.roots(tensor.arg, self.launch.index)
        return IndexSource(tensor, ptr, None, None, (), produced, roots, dtype)

    def indexed(self, sliced: Slice, bound: Bound | None) -> tuple[Indexed, ...]:
        found: dict[str, Indexed] = {}
        for access in sliced.accesses:
            argument = self._argument(access.ptr)
            if argument is None or self.view is None:
                continue
            tensor = self.view.tensor(argument)
            dim, rows = self._dimension(tensor, access.factor, bound)
            found.setdefault(access.ptr, Indexed(tensor, access.ptr, access.write, access.line, dim, rows))
        return tuple(found.values())

    def _dimension(
        self, tensor: Tensor, factor: Expr | None, bound: Bound | None
    ) -> tuple[int | None, str | None]:
        """Return which dimension an access with this factor walks along, and its extent."""
        shape = tensor.shape
        if shape is None or not shape:
            return None, None
        if factor is not None:
            wanted = self._number(factor)
            stride: Expr = Num(1)
            for dim in range(len(shape) - 1, -1, -1):
                if wanted is not None and self._number(stride) == wanted and shape[dim] != "1":
                    return dim, shape[dim]
                stride = Op("*", (stride, _as_expr(shape[dim])))
        if bound is not None and bound.value is not None and shape.count(str(bound.value)) == 1:
            dim = shape.index(str(bound.value))
            return dim, shape[dim]
        symbols = {t.symbol for t in bound.terms} if bound is not None else set()
        fits = [d for d, s in enumerate(shape) if s in symbols]
        return (fits[0], shape[fits[0]]) if len(fits) == 1 else (None, None)

    def _number(self, expr: Expr) -> str | None:
        """Return a value to compare strides by: the number, or the symbol behind a parameter."""
        value = evaluate(expr, {})
        if value is not None:
            return str(value)
        parts = []
        for name in sorted(names(expr)):
            argument = self._argument(name)
            parts.append(argument.text if argument is not None else name)
        literal = evaluate(_without_names(expr), {})
        return f"{literal}*{'*'.join(sorted(parts))}" if literal is not None and parts else None


def _without_names(expr: Expr) -> Expr:
    if isinstance(expr, Name):
        return Num(1)
    if isinstance(expr, Op) and expr.op == "*":
        return Op("*", tuple(_without_names(a) for a in expr.args))
    return expr


def _as_expr(extent: str) -> Expr:
    return Num(int(extent)) if extent.isdigit() else Name(extent)

"""Binds what a kernel's body says to what its launch gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Expr, Name, Num, Op, evaluate, names
from aoti_logs.code.index.case_parts import Bound, BoundTerm, Indexed, IndexSource
from aoti_logs.code.kernel.slice import Slice, operand_of
from aoti_logs.code.model import ArgumentKind
from aoti_logs.code.view import ModelView, Tensor
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.index.numbers import Numbers
    from aoti_logs.code.model import Argument, InputCheck, Launch
    from aoti_logs.parse.events import Assertion


@dataclass(frozen=True)
class Joiner:
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
        """Return the upper bound of the check, its sizes bound to arguments."""
        upper = operand_of(sliced.check)[2] if sliced is not None else None
        if upper is None:
            return None
        text = assertion.text.bound if assertion.text and assertion.text.bound else str(upper)
        if isinstance(upper, Num):
            return Bound(text, upper, int(upper.value))
        return Bound(text, upper, None, self.terms(upper))

    def terms(self, expr: Expr) -> tuple[BoundTerm, ...]:
        """Return the sizes in an expression."""
        found = []
        for name in sorted(names(expr)):
            argument = self._argument(name)
            if argument is None:
                continue
            symbols: list[str | None] = [*sorted(names(argument.value))] if argument.value is not None else []
            found += [self.term(name, argument, symbol) for symbol in symbols or [argument.name]]
        return tuple(found)

    def term(self, param: str, argument: Argument, symbol: str | None) -> BoundTerm:
        """Follow one size to what it measures."""
        view = self.view
        chain = view.size_chain(symbol) if view is not None and symbol else ()
        last = chain[-1] if chain else None
        announced, own = (
            self.evidence.symbol(view, symbol, last.symbol if last else None)
            if view and symbol
            else (None, True)
        )
        tensor, dim, derived = None, None, False
        if view is not None and last is not None and last.tensor and not last.stride:
            tensor, dim = view.named(last.tensor, ArgumentKind.INPUT), last.dim
        elif view is not None and last is not None and last.value is not None:
            # `s52 = (1.0/2.0)*arg1_1_size_0`: measured on a tensor, but not its size.
            measured = [view.sizes[n] for n in names(last.value) if n in view.sizes and view.sizes[n].tensor]
            if len(measured) == 1:
                tensor, dim, derived = view.named(measured[0].tensor or ""), measured[0].dim, True
        elif view is not None and announced is not None and announced.input_name and not view.is_aot:
            # torch.compile passes sizes as arguments of their own; the symbol's origin names the tensor.
            arg = next((a for a, n in view.names.items() if n.name == announced.input_name), None)
            entry = view.inputs.get(arg or "")
            if arg is not None and entry is not None and not entry.scalar:
                tensor = view.named(arg, ArgumentKind.INPUT)
            else:
                tensor = Tensor(announced.input_name, ArgumentKind.OTHER, None, announced.input_name)
            dim = announced.dim
        checks: tuple[InputCheck, ...] = ()
        if view is not None and tensor is not None and dim is not None and not derived:
            checks = tuple(view.limits(tensor.arg, dim).values())
        known = None
        if symbol is not None and self.launch is not None:
            known = self.numbers.symbol(symbol, self.launch.kernel)
        if known is None and tensor is not None and dim is not None and not derived:
            known = self.numbers.extent(tensor.arg, tensor.name, dim)
        strength = Confidence.PROVEN if own or checks else Confidence.LIKELY
        return BoundTerm(
            param, argument, symbol, chain, tensor, dim, announced, checks, known, strength, derived
        )

    def index(self, sliced: Slice, body: object) -> tuple[IndexSource, ...]:
        """Return where the index comes from."""
        found = []
        for origin in sliced.origins:
            if origin.kind == "load":
                found.append(self._loaded(origin.name, body, sliced))
            elif origin.kind == "loop":
                extent = dict(sliced.extents).get(origin.name)
                terms = self.terms(extent) if extent is not None else ()
                found.append(IndexSource(None, None, origin.name, extent, terms, None, (), None))
        unique: dict[tuple[str | None, str | None], IndexSource] = {}
        for source in found:
            unique.setdefault((source.ptr, source.loop), source)
        return tuple(unique.values())

    def _loaded(self, ptr: str, body: object, sliced: Slice) -> IndexSource:
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
        covers = (
            sliced.direct is not None
            and sliced.direct.ptr == ptr
            and sliced.reach is not None
            and tensor.shape is not None
            and len(tensor.shape) == 1
            and self._number(sliced.reach) == self._number(_as_expr(tensor.shape[0])) is not None
        )
        return IndexSource(tensor, ptr, None, None, (), produced, roots, dtype, covers)

    def indexed(self, sliced: Slice, bound: Bound | None) -> tuple[Indexed, ...]:
        """Return what the index selects from, nearest access first."""
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
        """Return which dimension an access with this factor walks along, and its extent.

        The factor is the stride of that dimension. Without known strides only a size that the
        tensor has once tells the dimension.
        """
        shape = tensor.shape
        if shape is None or not shape or self.view is None:
            return None, None
        fits = [d for d, extent in enumerate(shape) if self._is_bound(extent, bound)]
        strides = self.view.strides.get(tensor.arg)
        if factor is not None and strides is not None and len(strides) == len(shape):
            wanted = self._number(factor)
            fits = [d for d in fits if wanted is not None and self._number(_as_expr(strides[d])) == wanted]
        return (fits[0], shape[fits[0]]) if len(fits) == 1 else (None, None)

    @staticmethod
    def _is_bound(extent: str, bound: Bound | None) -> bool:
        """Tell whether an extent is what the check compares with, or a size in it (a slice, a join)."""
        if bound is None:
            return False
        if bound.value is not None:
            return extent == str(bound.value)
        return extent in {t.symbol for t in bound.terms}

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
    from aoti_logs.code.cpp.expr import parse_cpp

    return parse_cpp(extent)

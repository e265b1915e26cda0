"""A value in a kernel as an expression over loop variables, lanes and sizes: all definitions in between put in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque
from aoti_logs.code.kernel.slice_scope import inner

if TYPE_CHECKING:
    from aoti_logs.code.kernel.slice_scope import Scope

    Block = tuple[int, ...]

_LANES = re.compile(r"^(?:[xyz]|r\d*_?)index$")
_MOST_NODES = 3000
_DEEPEST = 120
ZERO, ONE = Num(0), Num(1)


@dataclass(frozen=True)
class Variable:
    """A name that takes many values while a kernel runs.

    `kind` is `loop` for a loop's variable, `lane` for an index over the elements that Triton's blocks cover, `program`
    for a program id. It runs from `start` to `stop` (excluded) in steps of `step`; a `stop` of None is not told.
    `mask` is the name of the mask that switches off lanes from `stop` on.
    """

    name: str
    kind: str
    line: int
    start: Expr = ZERO
    stop: Expr | None = None
    step: Expr = ONE
    mask: str | None = None


@dataclass
class Expansion:
    """What was met on the way: `variables` by name, `sizes` (scalar parameters), and `problems`, which say in words
    why the expression is not the whole truth about the value. `loads` are the reads that it depends on.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    nodes: int = 0

    def problem(self, text: str) -> None:
        """Note why the value is not known; each reason once."""
        if text not in self.problems:
            self.problems.append(text)


class Expander:
    """Puts definitions into expressions of one kernel.

    Args:
        scope: the definitions of its body.
        vectors: a loop that steps over several elements handles each of them (C++ kernels of `at::vec`).
    """

    def __init__(self, scope: Scope, *, vectors: bool) -> None:
        self.scope = scope
        self.vectors = vectors

    def expand(self, expr: Expr, at: int, block: Block) -> tuple[Expr, Expansion]:
        """Return the expression as it is at a statement, and what was met.

        Args:
            expr: an expression of the statement.
            at: the statement's place in the body.
            block: the block in which its names are looked up.
        """
        met = Expansion()
        return self._expr(expr, at, block, met, 0), met

    def _expr(self, expr: Expr, at: int, block: Block, met: Expansion, depth: int) -> Expr:
        met.nodes += 1
        if met.nodes > _MOST_NODES or depth > _DEEPEST:
            met.problem("the expression is too long")
            return expr
        step = depth + 1
        match expr:
            case Name(id=name):
                return self._name(name, at, block, met, step)
            case Op(op=op, args=args):
                return Op(op, tuple(self._expr(a, at, block, met, step) for a in args))
            case Load():
                met.loads.append(expr)
                met.problem(f"it is read from memory ({expr})")
                return expr
            case Call(func="tl.program_id", args=(Num(value=axis), *_)):
                return self._meet(Variable(f"program_id({axis})", "program", 0), met)
            case Call(func="tl.arange", args=(start, stop)):
                low, high = self._expr(start, at, block, met, step), self._expr(stop, at, block, met, step)
                if self.scope.body.axes:
                    met.problem(f"along which axis arange({low}, {high}) runs is not known")
                return self._meet(Variable(f"arange({low}, {high})", "lane", 0, low, high), met)
            case Call(args=args) if args:
                return replace(expr, args=tuple(self._expr(a, at, block, met, step) for a in args))
            case Item(base=base, index=index):
                return Item(self._expr(base, at, block, met, step), self._expr(index, at, block, met, step))
            case Opaque(text=text):
                met.problem(f"{text} is not understood")
                return expr
            case _:
                return expr

    def _name(self, name: str, at: int, block: Block, met: Expansion, depth: int) -> Expr:
        found = self.scope.definitions(name, at, block)
        loop = self.scope.loop(name, at, block)
        if loop is not None and not found:
            stop = None if loop.stop is None else self._inside(loop.stop, at, loop.scope, depth)
            start = self._inside(loop.start, at, loop.scope, depth)
            step = (
                Num(1)
                if self.vectors or loop.step is None
                else self._inside(loop.step, at, loop.scope, depth)
            )
            return self._meet(Variable(name, "loop", loop.line, start, stop, step), met)
        if len(found) > 1 or (found and found[0][0] >= at):
            met.problem(f"{name} has several values")
            return Name(name)
        if not found:
            return self._leaf(name, met)
        position, assign = found[0]
        if _LANES.match(name) and not isinstance(assign.value, Name) and self._is_lane(name):
            return self._meet(self._lane(name, position, inner(assign), assign.line, depth), met)
        return self._expr(assign.value, position, inner(assign), met, depth)

    def _leaf(self, name: str, met: Expansion) -> Expr:
        param = self.scope.body.param(name)
        if param is not None and not param.pointer:
            met.sizes.add(name)
        elif "." not in name and "::" not in name:
            met.problem(f"{name} is not known" if param is None else f"{name} is a pointer")
        return Name(name)

    def _is_lane(self, name: str) -> bool:
        """Tell the index of Inductor's own kernels, which have a numel for each."""
        numel = name.removesuffix("index") + "numel"
        return self.scope.body.param(numel) is not None or numel in self.scope.by_target

    def _lane(self, name: str, at: int, block: Block, line: int, depth: int) -> Variable:
        prefix = name.removesuffix("index")
        stop = self._inside(Name(prefix + "numel"), at, block, depth)
        return Variable(name, "lane", line, Num(0), stop, Num(1), prefix + "mask")

    def _inside(self, expr: Expr, at: int, block: Block, depth: int) -> Expr:
        """Expand a bound; its own problems show when it is evaluated."""
        return self._expr(expr, at, block, Expansion(), depth + 1)

    def _meet(self, variable: Variable, met: Expansion) -> Expr:
        before = met.variables.setdefault(variable.name, variable)
        if before != variable:
            met.problem(f"{variable.name} stands for several loops")
        return Name(variable.name)

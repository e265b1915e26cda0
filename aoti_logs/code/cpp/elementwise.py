"""What a vectorised C++ expression means for one element.

`at::vec::Vectorized<float>::loadu(in_ptr0 + i, 16)` is `in_ptr0[i]` for each element; a lambda that fills
`tmpbuf` lane by lane is the value of one lane. What torch/_inductor/codegen/cpp.py adds only for the
width of vectors (CppVecKernel, CppTile2DKernel) is taken off here; conversions stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from aoti_logs.code.cpp.expr import strip_casts
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque, names

if TYPE_CHECKING:
    from aoti_logs.code.body import Param

_POINTER_CASTS = {"cast", "reinterpret_cast", "const_cast", "static_cast"}


@dataclass
class Frame:
    """A lambda while it is read.

    `buffers` are its local arrays with the value of one element (None before it is known), `lanes`
    the variables of its loops, `conditions` the `if`s around the statement (None for a shortcut
    that changes no element), `returns` what it gives back under which conditions.
    """

    parent: Frame | None = None
    buffers: dict[str, Expr | None] = field(default_factory=dict)
    lanes: set[str] = field(default_factory=set)
    conditions: list[Expr | None] = field(default_factory=list)
    returns: list[tuple[Expr | None, Expr]] = field(default_factory=list)

    def buffer(self, name: str) -> Frame | None:
        """Return the frame whose local array this is."""
        frame: Frame | None = self
        while frame is not None and name not in frame.buffers:
            frame = frame.parent
        return frame

    def lane(self, name: str) -> bool:
        """Tell whether the name counts lanes."""
        return name in self.lanes or (self.parent is not None and self.parent.lane(name))

    def mask(self) -> Expr | None:
        """Return the condition under which the current statement runs, None for always."""
        known = [c for c in self.conditions if c is not None]
        return reduce(lambda a, b: Op("&&", (a, b)), known) if known else None

    def result(self) -> Expr | None:
        """Return what the lambda gives back; several returns make one conditional."""
        if not self.returns:
            return None
        value = self.returns[-1][1]
        for condition, earlier in reversed(self.returns[:-1]):
            if condition is not None:
                value = Op("?:", (condition, earlier, value))
        return value


class Names:
    """What a name stands for in one kernel: memory, a local variable, a lambda."""

    def __init__(self, params: tuple[Param, ...]) -> None:
        self.pointers = {p.name for p in params if p.pointer}
        self.scalars = {p.name for p in params if not p.pointer}
        self.local: dict[str, list[tuple[int, ...]]] = {}
        self.lambdas: dict[str, tuple[int, int]] = {}
        """Lambdas that are called by name later, with the range of statements that they hold."""

    def declare(self, name: str, scope: tuple[int, ...]) -> None:
        """Record a local variable of a block."""
        self.local.setdefault(name, []).append(scope)

    def scope_of(self, name: str, scope: tuple[int, ...]) -> tuple[int, ...]:
        """Return the innermost block around `scope` that declares the name; () for a parameter."""
        around = [s for s in self.local.get(name, ()) if scope[: len(s)] == s]
        return max(around, key=len, default=())

    def memory(self, name: str) -> bool:
        """Tell whether the name is a pointer to a tensor. In a torn kernel, whose head is missing,
        everything that is not declared in the body is.
        """
        if name in self.pointers:
            return True
        return name not in self.local and name not in self.scalars and "::" not in name


def elementwise(expr: Expr, known: Names, frame: Frame | None = None) -> Expr:
    """Return what the expression is for one element."""
    match expr:
        case Name(id=name) if frame is not None:
            return _local(name, frame)
        case Item(base=Name(id=name), index=index):
            return _item(name, index, known, frame)
        case Item(base=base, index=index):
            return Item(elementwise(base, known, frame), elementwise(index, known, frame))
        case Op(op=op, args=args):
            return _fold(op, tuple(elementwise(a, known, frame) for a in args), args)
        case Call():
            return _call(expr, known, frame)
        case _:
            return expr


def _local(name: str, frame: Frame) -> Expr:
    if frame.lane(name):
        return Num(0)
    owner = frame.buffer(name)
    return (owner.buffers[name] if owner is not None else None) or Name(name)


def _fold(op: str, args: tuple[Expr, ...], before: tuple[Expr, ...]) -> Expr:
    """Drop a lane that became 0: `x1 + 0` is `x1`, `64*0` is 0. What was 0 before stays."""
    if op in {"+", "*"} and len(args) == 2:
        for gone, other in ((0, 1), (1, 0)):
            if args[gone] == Num(0) and before[gone] != Num(0):
                return args[other] if op == "+" else Num(0)
    return Op(op, args)


def _item(name: str, index: Expr, known: Names, frame: Frame | None) -> Expr:
    if frame is not None:
        owner = frame.buffer(name)
        if owner is not None:
            return owner.buffers[name] or Name(name)
    where = strip_casts(elementwise(index, known, frame))
    if known.memory(name):
        return Load(name, where, None if frame is None else frame.mask())
    if frame is not None and any(map(frame.lane, names(index))):
        return Name(name)
    return Item(Name(name), where)


def _call(call: Call, known: Names, frame: Frame | None) -> Expr:
    func, args = call.func, call.args
    if func == "()" and len(args) == 1:
        return elementwise(args[0], known, frame)
    if func in known.lambdas and not args:
        return Name(func)
    if func == ".loadu" and len(args) > 1:
        found = read(args[1], known, frame)
        if isinstance(found, Load):
            return Load(found.ptr, found.index, strip_casts(elementwise(args[0], known, frame)))
        return found or call
    if func.endswith("::loadu") or (
        func.endswith("VecMask::from") and args and _address(args[0], known, frame)
    ):
        found = read(args[0], known, frame) if args else None
        if found is not None:
            return found
    if (func.endswith("::arange") and args) or (func == ".is_masked" and len(args) == 2):
        return elementwise(args[0], known, frame)
    if func.endswith("::set") and len(args) == 3:
        return elementwise(args[1], known, frame)
    if func == ".data" and len(args) == 1:
        return elementwise(args[0], known, frame)
    inner = tuple(elementwise(a, known, frame) for a in args)
    return Call(func, inner, call.types, call.keywords)


@dataclass(frozen=True)
class Place:
    """Where an address points: `kind` is `memory`, `buffer` (array of a lambda) or `local`."""

    kind: str
    name: str
    index: Expr


def place(expr: Expr, known: Names, frame: Frame | None) -> Place | None:
    """Return what an address (`out_ptr0 + i`, `&out_ptr0[i]`, `tmpbuf.data()`) points to, or None."""
    match expr:
        case Call(func=func, args=(one,)) if func in _POINTER_CASTS:
            return place(one, known, frame)
        case Call(func=".data", args=(one,)):
            return place(one, known, frame)
        case Op(op="&", args=(Item(base=Name(id=name), index=index),)):
            return _place(name, index, known, frame)
        case Name(id=name):
            return _place(name, Num(0), known, frame)
        case Op(op="+", args=(left, right)):
            before = place(left, known, frame)
            if before is None:
                return None
            more = strip_casts(elementwise(right, known, frame))
            where = more if before.index == Num(0) else Op("+", (before.index, more))
            return Place(before.kind, before.name, where)
        case _:
            return None


def _place(name: str, index: Expr, known: Names, frame: Frame | None) -> Place | None:
    where = strip_casts(elementwise(index, known, frame))
    if frame is not None and frame.buffer(name) is not None:
        return Place("buffer", name, where)
    if known.memory(name):
        return Place("memory", name, where)
    return Place("local", name, where) if name in known.local else None


def _address(expr: Expr, known: Names, frame: Frame | None) -> bool:
    """Tell an address from a value: of a local variable only `x.data()` and `x + i` are addresses."""
    found = place(expr, known, frame)
    return found is not None and (found.kind != "local" or not isinstance(expr, Name))


def read(expr: Expr, known: Names, frame: Frame | None) -> Expr | None:
    """Return the element that stands at an address, None when the expression is no address."""
    found = place(expr, known, frame)
    if found is None:
        return None
    if found.kind == "buffer" and frame is not None:
        return _local(found.name, frame)
    if found.kind == "local":
        return Name(found.name) if found.index == Num(0) else Item(Name(found.name), found.index)
    return Load(found.name, found.index, None if frame is None else frame.mask())


def condition_of(expr: Expr) -> tuple[Expr, Expr | None]:
    """Split the condition of a check into what is tested and the mask that excuses a lane.

    The text is `(lower <= x) & (x < upper)`, for masked lanes `(...) | ~(mask)`, for vectors
    `(at::vec::VecMask<int64_t,2>(...)).all_masked()` (common.py, cpp.py: `indirect_assert`).
    """
    expr = strip_casts(_lanes_off(expr))
    match expr:
        case Op(op="|" | "||", args=(tested, Op(op="~" | "!", args=(mask,)))):
            return tested, mask
        case _:
            return expr, None


def _lanes_off(expr: Expr) -> Expr:
    match expr:
        case Call(func=".all_masked", args=(one,)):
            return _lanes_off(one)
        case Call(func=func, args=args, types=types):
            return Call(func, tuple(map(_lanes_off, args)), types)
        case Op(op=op, args=args):
            return Op(op, tuple(map(_lanes_off, args)))
        case _:
            return expr


def message_of(args: tuple[Expr, ...]) -> str:
    """Return the text that a check prints: its literals joined, what is computed at run time in braces."""
    parts = []
    for arg in args:
        if isinstance(arg, Opaque) and arg.text.startswith('"'):
            parts.append(arg.text[1:-1].replace('" "', "").replace('\\"', '"').replace("\\\\", "\\"))
        else:
            parts.append("{" + str(arg) + "}")
    return "".join(parts)

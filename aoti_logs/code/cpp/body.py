"""A C++ kernel's body as statements in program order, meant for one element.

Blocks are numbered among their neighbours; a statement's scope is the path of these numbers, for an
assignment that of the block that declares the variable, for a loop that of the loop's own block (where its
variable is visible). Statements of lambdas belong to the block that the lambda stands in: the name of a
masked body (`auto tmp5 = [&] {...}`) has the value that the body returns. Its local arrays (`tmpbuf`) and
its loops over lanes do not appear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.body import Body, Guard, Loop, Statement
from aoti_logs.code.cpp.blocks import Control, Lambda, Piece, Plain, outline
from aoti_logs.code.cpp.effects import Effects
from aoti_logs.code.cpp.elementwise import Frame, Names, elementwise
from aoti_logs.code.cpp.expr import strip_casts
from aoti_logs.code.cpp.statement import Branch, For, Return, Set, Simple, parse_function, parse_statement
from aoti_logs.code.cpp.tree import LAMBDA, has_parameters
from aoti_logs.code.expr import Call, Expr, Item, Name, Num, Op, Opaque

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Source

_SMALL = 1 << 25
_HINTS = {"C10_LIKELY", "C10_UNLIKELY", "likely", "unlikely"}


def cpp_body(source: Source, line: int, end_line: int) -> Body:
    """Read the kernel whose definition begins at a line.

    Args:
        source: generated C++, or Python that has it in quotes (`cpp_pybinding([...], r'''...''')`).
        line: where the definition begins (`extern "C" void cpp_fused_add_0(...`), from 1.
        end_line: the last line that may belong to it; what follows its closing brace is not read.

    Returns:
        The body; its statements have line numbers of the source. A torn kernel gives what is there.
    """
    if source.size < _SMALL:
        text = "\n".join(source.lines_from(line, end_line))
    else:
        text = "\n".join(source.line_text(n) for n in range(line, end_line + 1))
    return body_of(text, line)


def body_of(text: str, line: int = 1) -> Body:
    """Read the kernel that a text begins with; its first line has the number `line`."""
    shape = outline(text, line)
    function = parse_function(shape.head)
    unread = list(shape.unread)
    if function is None:
        unread.append((shape.line, shape.head))
    params = () if function is None else function.params
    reader = _Reader(Names(params), unread)
    if shape.block is not None:
        reader.pieces(shape.block.items, (), None)
    name = "" if function is None else function.name
    return Body(name, params, tuple(reader.statements), tuple(sorted(reader.unread)))


class _Reader:
    def __init__(self, known: Names, unread: list[tuple[int, str]]) -> None:
        self.known = known
        self.unread = unread
        self.statements: list[Statement] = []
        self.blocks: dict[tuple[int, ...], int] = {}
        self.effects = Effects(known, self.statements)

    def inner(self, scope: tuple[int, ...]) -> tuple[int, ...]:
        """Return the path of the next block in a block."""
        number = self.blocks.get(scope, 0)
        self.blocks[scope] = number + 1
        return (*scope, number)

    def pieces(self, items: tuple[Piece, ...], scope: tuple[int, ...], frame: Frame | None) -> None:
        """Read pieces in order; heads (`for`, `if`, `else`) go with the piece after them."""
        heads: list[Control] = []
        before: Expr | None = None
        for item in items:
            if isinstance(item, Control):
                heads.append(item)
                continue
            within, opened, before = self.heads(heads, scope, frame, before)
            if isinstance(item, Plain):
                self.plain(item, within, frame)
            else:
                own = frame is not None or (bool(heads) and within != scope)
                self.pieces(item.items, within if own else self.inner(within), frame)
            if frame is not None:
                del frame.conditions[len(frame.conditions) - opened :]
            heads = []
        if heads:  # torn off before what they control
            self.heads(heads, scope, frame, before)

    def heads(
        self, heads: list[Control], scope: tuple[int, ...], frame: Frame | None, before: Expr | None
    ) -> tuple[tuple[int, ...], int, Expr | None]:
        """Open the scopes and conditions of control heads.

        Args:
            heads: `for`, `if`, `else` that stand before one piece.
            scope: the scope that they stand in.
            frame: the lambda that they stand in.
            before: the condition of the `if` whose piece is the one before them.

        Returns:
            The inner scope, how many conditions were opened in the frame, and the condition that an `else` after
            the piece would negate.
        """
        opened = 0
        tested: Expr | None = None
        for head in heads:
            parsed = parse_statement(head.text)
            if frame is None:
                scope = self.inner(scope)
            if isinstance(parsed, For):
                if not self.loop(parsed, head.line, scope, frame):
                    self.unread.append((head.line, head.text))
            elif isinstance(parsed, Branch):
                condition = self.branch(parsed.condition, frame)
                tested = condition if tested is None or condition is None else Op("||", (tested, condition))
                opened += self.opened(condition, head, scope, frame)
            elif head.text == "else" and before is not None:
                # After `else if` an `else` needs both conditions to fail.
                tested = before
                opened += self.opened(Op("!", (before,)), head, scope, frame)
            elif parsed is None and head.text not in {"else", "do", "try"}:
                self.unread.append((head.line, head.text))
        return scope, opened, tested

    def branch(self, condition: Expr, frame: Frame | None) -> Expr | None:
        """Return the condition of an `if` or `while` for one element; None for one that only saves time."""
        return (
            condition_of_branch(condition, self.known) if frame is None else self.shortcut(condition, frame)
        )

    def opened(
        self, condition: Expr | None, head: Control, scope: tuple[int, ...], frame: Frame | None
    ) -> int:
        """Open a condition; return how many the frame got."""
        if frame is not None:
            frame.conditions.append(condition)
            return 1
        if head.text.startswith("while"):
            self.statements.append(Loop("", Num(0), None, head.line, scope))
        elif condition is not None:
            self.statements.append(Guard(condition, head.line, scope))
        return 0

    def shortcut(self, condition: Expr, frame: Frame) -> Expr | None:
        """Return the condition for one element; None for `mask.all_zero()`, which only saves time."""
        if isinstance(condition, Call) and condition.func == ".all_zero":
            return None
        return strip_casts(elementwise(condition, self.known, frame))

    def loop(self, head: For, line: int, scope: tuple[int, ...], frame: Frame | None) -> bool:
        """Read the head of a loop; False when it is not a counting one."""
        first = head.first.sets if head.first is not None else ()
        if head.first is None and head.step is not None:
            # `for (; d < size; d++)` goes on with a variable from before: only its step assigns.
            done = [
                self.effects.apply(s.target, s.op, s.value, None, line, scope, frame) for s in head.step.sets
            ]
            return all(done)
        if isinstance(head.over, Call) and head.over.func.endswith("irange") and head.over.args:
            *begin, end = head.over.args
            bounds = [strip_casts(elementwise(e, self.known)) for e in (begin[0] if begin else Num(0), end)]
            return self.counted(first[0].target, bounds[0], bounds[1], line, scope)
        if len(first) != 1 or not isinstance(first[0].target, Name) or first[0].value is None:
            return False
        var = first[0].target.id
        if frame is not None:
            frame.lanes.add(var)
            return True
        start = strip_casts(elementwise(first[0].value, self.known))
        stop: Expr | None = None
        match head.condition:
            case Op(op="<" | "!=", args=(Name(id=name), limit)) if name == var:
                stop = strip_casts(elementwise(limit, self.known))
            case Op(op="<=", args=(Name(id=name), limit)) if name == var:
                stop = Op("+", (strip_casts(elementwise(limit, self.known)), Num(1)))
        step = None if head.step is None else _step(var, head.step.sets, self.known)
        return self.counted(first[0].target, start, stop, line, scope, step)

    def counted(
        self,
        var: Expr,
        start: Expr,
        stop: Expr | None,
        line: int,
        scope: tuple[int, ...],
        step: Expr | None = None,
    ) -> bool:
        """Add a loop over whole numbers; False when it declares more than a name."""
        if not isinstance(var, Name):
            return False
        self.known.declare(var.id, scope)
        self.statements.append(Loop(var.id, start, stop, line, scope, step))
        return True

    def plain(self, item: Plain, scope: tuple[int, ...], frame: Frame | None) -> None:
        """Read one statement, the lambdas in it first."""
        before = len(self.statements)
        values = [self.lambda_(one, scope, frame) for one in item.lambdas if not has_parameters(one.capture)]
        for one in item.lambdas:
            if has_parameters(one.capture):
                self.pieces(one.items, self.inner(scope), None)
        parsed = parse_statement(item.text)
        filled = iter(values)
        if isinstance(parsed, Return):
            if frame is not None and parsed.value is not None:
                value = elementwise(_fill(parsed.value, filled), self.known, frame)
                frame.returns.append((frame.mask(), value))
        elif isinstance(parsed, Simple):
            for part in parsed.sets:
                if _is_lambda(part.value) and isinstance(part.target, Name):
                    self.known.lambdas[part.target.id] = (before, len(self.statements))
                target = _fill(part.target, filled)
                given = None if part.value is None else _fill(part.value, filled)
                if not self.effects.apply(target, part.op, given, part.type, item.line, scope, frame):
                    self.unread.append((item.line, item.text))
        elif parsed is None:
            self.unread.append((item.line, item.text))

    def lambda_(self, item: Lambda, scope: tuple[int, ...], frame: Frame | None) -> Expr | None:
        """Read a lambda in place; return what it gives back."""
        own = Frame(frame)
        if frame is not None:
            own.conditions = list(frame.conditions)
        self.pieces(item.items, scope, own)
        return own.result()


def condition_of_branch(condition: Expr, known: Names) -> Expr:
    """Return the condition of an `if` for one element, without hints for the compiler (`C10_LIKELY`)."""
    while isinstance(condition, Call) and condition.func in _HINTS and len(condition.args) == 1:
        condition = condition.args[0]
    return strip_casts(elementwise(condition, known))


def _step(var: str, sets: tuple[Set, ...], known: Names) -> Expr | None:
    """Return what a loop's variable grows by: `x0 += 16` and `x0++`."""
    match sets:
        case (Set(target=Name(id=name), op="+=", value=value),) if name == var and value is not None:
            return strip_casts(elementwise(value, known))
        case (Set(target=Op(op="++", args=(Name(id=name),))),) if name == var:
            return Num(1)
        case _:
            return None


def _is_lambda(expr: Expr | None) -> bool:
    return isinstance(expr, Call) and expr.func == LAMBDA


def _fill(expr: Expr, values: Iterator[Expr | None]) -> Expr:
    """Put what lambdas give back in place of their placeholders, in order of text."""
    match expr:
        case Call(func=func, args=()) if func == LAMBDA:
            return next(values, None) or Opaque("[&]{}")
        case Call(func=func, args=args, types=types, keywords=keywords):
            return Call(func, tuple(_fill(a, values) for a in args), types, keywords)
        case Op(op=op, args=args):
            return Op(op, tuple(_fill(a, values) for a in args))
        case Item(base=base, index=index):
            return Item(_fill(base, values), _fill(index, values))
        case _:
            return expr

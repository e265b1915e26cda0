"""What one C++ statement does: assign, store, check, or nothing that a value could come from."""

from __future__ import annotations

from dataclasses import replace

from aoti_logs.code.body import Assign, Check, Statement, Store
from aoti_logs.code.cpp.elementwise import (
    Frame,
    Names,
    Place,
    condition_of,
    elementwise,
    message_of,
    place,
    read,
)
from aoti_logs.code.cpp.expr import strip_casts
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque, names, walk

Scope = tuple[int, ...]


class Effects:
    """Appends to `statements` what statements do; names are looked up in `known`."""

    def __init__(self, known: Names, statements: list[Statement]) -> None:
        self.known = known
        self.statements = statements

    def apply(
        self,
        target: Expr,
        op: str,
        value: Expr | None,
        type_: str | None,
        line: int,
        scope: Scope,
        frame: Frame | None,
    ) -> bool:
        """Add what `type target op value` does; False when it is not understood."""
        if value is None:
            return (
                self._declare(target, type_, scope, frame)
                if type_
                else self._effect(target, line, scope, frame)
            )
        given, results = _by_address(value)
        arrays = [n for n in results if frame is not None and frame.buffer(n) is not None]
        meant = elementwise(given if arrays else value, self.known, frame)
        self._mask_lambdas(meant)
        if not self._assign(target, op, value, meant, type_, line, scope, frame):
            return False
        for name in results:
            owner = frame.buffer(name) if frame is not None else None
            if owner is not None:
                owner.buffers[name] = meant
            elif name in self.known.local:
                self._add(name, meant, line, scope)
        return True

    def _add(self, name: str, value: Expr, line: int, scope: Scope) -> None:
        declared = self.known.scope_of(name, scope)
        self.statements.append(Assign(name, value, line, declared, None if scope == declared else scope))

    def _declare(self, target: Expr, type_: str, scope: Scope, frame: Frame | None) -> bool:
        name = target.base if isinstance(target, Item) else target
        if not isinstance(name, Name):
            return False
        if frame is not None and (isinstance(target, Item) or "std::array" in type_):
            frame.buffers[name.id] = None
        else:
            self.known.declare(name.id, scope)
        return True

    def _assign(
        self,
        target: Expr,
        op: str,
        value: Expr,
        meant: Expr,
        type_: str | None,
        line: int,
        scope: Scope,
        frame: Frame | None,
    ) -> bool:
        if isinstance(target, Name):
            if type_ is not None:
                self.known.declare(target.id, scope)
                if isinstance(value, Name) and value.id in self.known.pointers:
                    self.known.pointers.add(target.id)
            if isinstance(meant, Opaque) and target.id in self.known.lambdas:
                return True
            self._add(target.id, _combined(op, Name(target.id), meant), line, scope)
            return True
        if type_ is not None and isinstance(target, Item) and isinstance(target.base, Name):
            self.known.declare(target.base.id, scope)
            self._add(target.base.id, meant, line, scope)
            return True
        where = self._target(target, frame)
        return where is not None and self._write(where, op, meant, line, scope, frame)

    def _target(self, target: Expr, frame: Frame | None) -> Place | None:
        match target:
            case Item(base=Name()):
                return place(Op("&", (target,)), self.known, frame)
            case Op(op="*", args=(address,)):
                return place(address, self.known, frame)
            case _:
                return None

    def _write(
        self,
        where: Place,
        op: str,
        value: Expr,
        line: int,
        scope: Scope,
        frame: Frame | None,
        *,
        atomic: str = "",
    ) -> bool:
        if where.kind == "memory":
            stored = _combined(op, Load(where.name, where.index), value)
            mask = None if frame is None else frame.mask()
            self.statements.append(
                Store(where.name, where.index, stored, line, bool(atomic), scope, mask, atomic)
            )
        elif where.kind == "local":
            self._add(where.name, _combined(op, Name(where.name), value), line, scope)
        else:
            owner = frame.buffer(where.name) if frame is not None else None
            if owner is None:
                return False
            before = owner.buffers[where.name]
            owner.buffers[where.name] = value if before is None else _combined(op, before, value)
        return True

    def _effect(self, expr: Expr, line: int, scope: Scope, frame: Frame | None) -> bool:
        """Read an expression that stands alone."""
        match expr:
            case Call(func=func, args=(tested, *texts)) if func.endswith("CHECK"):
                self._check(tested, tuple(texts), line, scope, frame)
                return True
            case Op(op="?:", args=(tested, _, Op(op=",", args=(Call(func="throw", args=(error,)), *_)))):
                texts = list(error.args) if isinstance(error, Call) else [error]
                self._check(tested, tuple(texts), line, scope, frame)
                return True
            case Call(func=".store", args=(value, address, *_)):
                return self._store(address, elementwise(value, self.known, frame), line, scope, frame)
            case Call(func=func, args=(address, value, *_)) if func.endswith("::_store"):
                return self._store(address, elementwise(value, self.known, frame), line, scope, frame)
            case Call(func=func, args=(Op(op="&") as address, value, *_)) if func.startswith("atomic_add"):
                return self._store(
                    address, elementwise(value, self.known, frame), line, scope, frame, atomic=func
                )
            case Call(func=func, args=(base, index, value, *_)) if func.startswith("atomic_add"):
                meant = elementwise(value, self.known, frame)
                return self._store(Op("+", (base, index)), meant, line, scope, frame, atomic=func)
            case Call(func=func, args=(source, _, address, *_), types=types) if func.endswith(
                "transpose_mxn"
            ):
                tile = read(source, self.known, frame)
                atomic = func if "true" in types else ""
                return tile is not None and self._store(address, tile, line, scope, frame, atomic=atomic)
            case Op(op="++" | "--" as op, args=(Name(id=name),)):
                self._add(name, Op(op[0], (Name(name), Num(1))), line, scope)
                return True
            case _:
                return self._harmless(expr, frame)

    def _store(
        self,
        address: Expr,
        value: Expr,
        line: int,
        scope: Scope,
        frame: Frame | None,
        *,
        atomic: str = "",
    ) -> bool:
        where = place(address, self.known, frame)
        return where is not None and self._write(where, "=", value, line, scope, frame, atomic=atomic)

    def _check(
        self, tested: Expr, texts: tuple[Expr, ...], line: int, scope: Scope, frame: Frame | None
    ) -> None:
        condition, mask = condition_of(elementwise(tested, self.known, frame))
        if mask is None and frame is not None:
            mask = frame.mask()
        self.statements.append(Check(message_of(texts), condition, line, mask, scope))

    def _harmless(self, expr: Expr, frame: Frame | None) -> bool:
        """Tell whether a call cannot change a value: it gets neither memory nor an address."""
        if any(isinstance(e, Op) and e.op == "&" and len(e.args) == 1 for e in walk(expr)):
            return False
        for name in names(expr):
            if name in self.known.pointers or (frame is not None and frame.buffer(name) is not None):
                return False
        return True

    def _mask_lambdas(self, value: Expr) -> None:
        """In `mask ? tmp5() : other` checks and loads in the body of tmp5 are done only where mask is true."""
        for node in walk(value):
            if not (isinstance(node, Op) and node.op == "?:"):
                continue
            mask = strip_casts(node.args[0])
            for name in names(node.args[1]) & self.known.lambdas.keys():
                for at in range(*self.known.lambdas[name]):
                    self.statements[at] = _masked(self.statements[at], mask)


def _masked(statement: Statement, mask: Expr) -> Statement:
    match statement:
        case Check(mask=None):
            return replace(statement, mask=mask)
        case Assign(value=Load(mask=None) as load):
            return replace(statement, value=replace(load, mask=mask))
        case _:
            return statement


def _combined(op: str, before: Expr, value: Expr) -> Expr:
    """Return the new value of `before op value` (`+=`)."""
    return value if op == "=" else Op(op[:-1], (before, value))


def _by_address(value: Expr) -> tuple[Expr, list[str]]:
    """Return a call without the variables whose address it gets, and these (`std::frexp(x, &tmp1)`)."""
    kept, found = [], []
    for arg in value.args if isinstance(value, Call) else ():
        match arg:
            case Op(op="&", args=(Name(id=name),)) | Op(op="&", args=(Item(base=Name(id=name)),)):
                found.append(name)
            case _:
                kept.append(arg)
    return (replace(value, args=tuple(kept)) if isinstance(value, Call) else value), found

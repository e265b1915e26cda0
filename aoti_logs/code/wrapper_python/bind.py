"""Calls in a Python wrapper bound to the parameters of their kernels, by position and by keyword.

Nothing is bound where the numbers do not fit: the launch then says why (`Launch.unbound`).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Name, Num
from aoti_logs.code.model import Argument, ArgumentKind, Backend, Launch
from aoti_logs.code.triton.body import to_expr
from aoti_logs.code.wrapper_python.text import core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aoti_logs.code.body import Param
    from aoti_logs.code.expr import Expr
    from aoti_logs.code.model import Kernel
    from aoti_logs.code.wrapper.bind import Names
    from aoti_logs.code.wrapper_python.forms import CallForm
    from aoti_logs.code.wrapper_python.read import RawCall

_Given = tuple[str | None, ast.expr, str]
_LAUNCHER_WORDS = frozenset({"stream", "grid", "threads", "group_size", "error_buf_idx", "warmup"})
"""Keywords that only the launcher takes."""
_LANGUAGES = ((re.compile(r"triton_\w+"), Backend.TRITON), (re.compile(r"cpp_fused\w*"), Backend.CPP))


@dataclass(frozen=True)
class _Fit:
    """What is known of the parameters of a call."""

    params: tuple[Param, ...] = ()
    """Those of the arguments given by position."""
    by_name: Mapping[str, Param] = field(default_factory=dict)
    why: str | None = None
    operator: bool = False
    """True for a call whose parameters are not in the text; its keywords are still names of parameters."""
    beyond: tuple[str, ...] = ()
    """What is given to the launcher behind the arguments, as written."""


def bound(
    index: int,
    raw: RawCall,
    names: Names,
    kernel: Kernel | None,
    form: CallForm | None,
    grids: Mapping[str, tuple[str, ...]],
) -> Launch:
    """Return a call with its arguments bound.

    Args:
        index: its number in program order.
        raw: the call as found.
        names: what the names of the wrapper stand for.
        kernel: the kernel called; None for operators and for kernels that are defined elsewhere.
        form: how that kernel is called.
        grids: functions of the file that compute a grid, with what they return.
    """
    placed = [a for a in raw.arguments if a[0] is None]
    worded = [(a[0], a) for a in raw.arguments if a[0] is not None]
    fit = _fit(raw, placed, [word for word, _ in worded], form)
    arguments = []
    for place, given in enumerate(placed):
        param = fit.params[place] if place < len(fit.params) else None
        arguments.append(_argument(place, param, None, given, raw, names))
    for word, given in worded:
        place = len(arguments)
        if word in _LAUNCHER_WORDS and not fit.operator:
            arguments.append(Argument(place, None, given[2], ArgumentKind.OTHER))
        else:
            alone = word if fit.operator else None
            arguments.append(_argument(place, fit.by_name.get(word), alone, given, raw, names))
    backend = Backend.EXTERN if kernel is None else kernel.backend
    if kernel is None and not fit.operator:
        backend = _language(raw) or Backend.EXTERN
    return Launch(
        index,
        raw.callee if kernel is None else kernel.name,
        backend,
        raw.line,
        raw.text,
        tuple(arguments),
        True,
        raw.handle,
        raw.source_nodes,
        None,
        raw.outputs,
        raw.branch,
        raw.subgraph,
        _grid(worded, fit, grids),
        _stream(raw, placed),
        fit.why,
        raw.within,
    )


def _fit(raw: RawCall, placed: Sequence[_Given], words: Sequence[str], form: CallForm | None) -> _Fit:
    if form is None:
        if _language(raw) is None:
            return _Fit(operator=True)
        return _Fit(why="the kernel is not defined in this text")
    passed = [a for a in placed if not isinstance(a[1], ast.Starred)]
    starred = tuple(a[2].lstrip("*") for a in placed if isinstance(a[1], ast.Starred))
    # `*mm_grid(...)` is the grid, which stands behind the arguments; without it each of its parts is given.
    count = len(passed) if starred else len(passed) - len(form.extra)
    own = [w for w in words if w not in _LAUNCHER_WORDS]
    params, why = form.fitting(count, own)
    by_name = {} if why is not None else {p.name: p for p in form.every}
    behind = starred
    if not starred and form.extra and why is None and form.extra[0].startswith("_grid"):
        behind = tuple(text for _, _, text in passed[count:])
    return _Fit(params, by_name, why, beyond=behind)


def _language(raw: RawCall) -> Backend | None:
    """Return the language of a kernel that Inductor named; None for operators."""
    found = next((b for pattern, b in _LANGUAGES if pattern.fullmatch(raw.callee)), None)
    return Backend.TRITON if raw.run and found is None else found


def _grid(
    worded: Sequence[tuple[str, _Given]], fit: _Fit, grids: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    for word, (_, node, text) in worded:
        if word not in {"grid", "threads"} or fit.operator:
            continue
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(ast.unparse(e) for e in elements)
            case ast.Name(id=name) if name in grids:
                return grids[name]
        return (text,)
    return fit.beyond


def _stream(raw: RawCall, placed: Sequence[_Given]) -> str | None:
    """Return the stream; a CUTLASS kernel takes it as its last argument (`c_void_p(stream0)`)."""
    if raw.stream is not None or not placed:
        return raw.stream
    last = core(placed[-1][1], {})
    return last if last is not None and re.fullmatch(r"(?:raw_)?stream\d*", last) else None


def _argument(
    place: int, param: Param | None, word: str | None, given: _Given, raw: RawCall, names: Names
) -> Argument:
    """Return an argument with its kind and the name behind it; `word` names the parameter of an operator."""
    _, node, text = given
    name = word if param is None else param.name
    dtype = (param.dtype or None) if param is not None else None
    match node:
        case ast.Constant(value=bool(value)):
            return Argument(place, name, text, ArgumentKind.LITERAL, None, Num(int(value)), dtype)
        case ast.Constant(value=int(value) | float(value)):
            return Argument(place, name, text, ArgumentKind.LITERAL, None, Num(value), dtype)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return Argument(place, name, text, ArgumentKind.LITERAL, None, Num(-value), dtype)
        case (
            ast.Constant()
            | ast.List()
            | ast.Tuple()
            | ast.Dict()
            | ast.Lambda()
            | ast.JoinedStr()
            | ast.Attribute()
            | ast.Starred()
        ):
            return Argument(place, name, text, ArgumentKind.OTHER, None, None, dtype)
    behind = core(node, names.stands_for, raw.cells)
    if behind is not None:
        behind = raw.meanings.get(behind, behind)
        kind = names.kind(behind)
        size = Name(behind) if kind is ArgumentKind.SIZE else None
        return Argument(place, name, text, kind, None if kind is ArgumentKind.OTHER else behind, size, dtype)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    sized = {n for n in used if names.kind(n) is ArgumentKind.SIZE}
    single = sized.pop() if len(sized) == 1 and len(used) == 1 else None
    return Argument(
        place,
        name,
        text,
        ArgumentKind.EXPRESSION,
        None if single is None else raw.meanings.get(single, single),
        _meant(node, text, used, raw.meanings),
        dtype,
    )


def _meant(node: ast.expr, text: str, used: set[str], meanings: Mapping[str, str]) -> Expr:
    """Return an expression with the symbols of the caller put in for those of a subgraph."""
    if used.isdisjoint(meanings):
        return to_expr(node)
    try:
        again = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return to_expr(node)
    for inner in ast.walk(again):
        if isinstance(inner, ast.Name):
            inner.id = meanings.get(inner.id, inner.id)
    return to_expr(again)

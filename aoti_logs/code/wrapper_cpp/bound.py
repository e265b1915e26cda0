"""A call of a C++ wrapper bound to what it calls: parameters, grid, stream, the value that a size had there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Name
from aoti_logs.code.model import Argument, ArgumentKind, Launch
from aoti_logs.code.wrapper.bind import LAUNCHER_PARAMS, SYMBOL, argument

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_cpp.kernels import Target
    from aoti_logs.code.wrapper_cpp.read import EntryBody, RawLaunch

_WORD = re.compile(r"[A-Za-z_]\w*")
_STREAM = re.compile(r"stream\d*")


def bound(index: int, raw: RawLaunch, target: Target, read: EntryBody) -> Launch:
    """Return the launch number `index`; where its arguments do not fit, none is bound and it says why."""
    body = raw.body or read
    texts = raw.split()
    unbound = target.misfit(texts) if texts or raw.arguments is not None else "the call is damaged"
    dtypes = dict(target.dtypes)
    arguments = []
    for position, text in enumerate(texts):
        name = target.params[position].name if unbound is None and position < len(target.params) else None
        if name in LAUNCHER_PARAMS:
            arguments.append(Argument(position, None, text, ArgumentKind.OTHER))
            continue
        param = None if name is None or target.is_launchers(name) else name
        one = argument(position, param, text, body.names, dtypes.get(param) if param else None)
        arguments.append(_with_value(one, body, index))
    return Launch(
        index,
        raw.kernel,
        target.backend,
        raw.line,
        raw.text,
        tuple(arguments),
        raw.checked,
        raw.handle,
        raw.source_nodes,
        raw.stack,
        raw.outputs,
        raw.branch,
        raw.subgraph,
        raw.grid or _grid(target, texts, unbound=unbound is not None),
        next((text for text in reversed(texts) if _STREAM.fullmatch(text)), raw.stream),
        unbound,
        raw.within,
    )


def _with_value(one: Argument, body: EntryBody, index: int) -> Argument:
    """Put in what a variable of the wrapper alone (`triton_poi_fused_0_xnumel`) was set to before the call."""
    if one.kind is not ArgumentKind.SIZE or one.name is None or SYMBOL.fullmatch(one.name):
        return one
    size = body.size_at(one.name, index)
    if size is None:
        return one
    value = size.value if size.alias_of is None else Name(size.alias_of)
    return one if value is None else replace(one, value=value)


def _grid(target: Target, texts: tuple[str, ...], *, unbound: bool) -> tuple[str, ...]:
    """Return the blocks as `call_<kernel>` computes them; those that the call itself gives are put in."""
    if target.launcher is None or unbound:
        return ()
    given = {p.name: t for p, t in zip(target.params, texts, strict=False) if target.is_launchers(p.name)}
    if not given:
        return target.launcher.grid
    return tuple(
        given.get(part) or _WORD.sub(lambda m: f"({given[m[0]]})" if m[0] in given else m[0], part)
        for part in target.launcher.grid
    )

"""An ExportedProgram saved as JSON (`models/*.json` of a package, `serialized_exported_program.json`).

Format: torch/_export/serde/schema.py. Only names, ranges and stacks are read.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.facts import (
    Graph,
    GraphBody,
    GraphNode,
    Placeholder,
    Placeholders,
    Range,
    Signature,
    SignatureInput,
)
from aoti_logs.parse.python.stack_text import frames_of_stack, user_frame
from aoti_logs.parse.text import json_object, limit

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_NAMES = {
    "parameter": "parameter_name",
    "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
    "custom_obj": "custom_obj_name",
}


def signature(source: Source) -> Signature | None:
    """Return the program's signature; None when the source is no saved program."""
    program = _program(source)
    specs = _at(program, "graph_module", "signature", "input_specs")
    if not isinstance(specs, list):
        return None
    inputs = [_input(s) for s in specs if isinstance(s, dict) and len(s) == 1]
    return Signature(tuple(inputs), _place(source), source)


def ranges(source: Source) -> tuple[Range, ...]:
    """Return the program's range constraints; none when the source is no saved program."""
    found = _at(_program(source), "range_constraints")
    if not isinstance(found, dict):
        return ()
    place = _place(source)
    return tuple(
        Range(symbol, limit(str(r.get("min_val"))), limit(str(r.get("max_val"))), place, source)
        for symbol, r in found.items()
        if isinstance(r, dict)
    )


@lru_cache(maxsize=16)  # asked once a wrapper
def graph(source: Source) -> Graph | None:
    """Return the program's graph; each node has the user's innermost frame of its stack."""
    program = _program(source)
    nodes = _at(program, "graph_module", "graph", "nodes")
    inputs = _at(program, "graph_module", "graph", "inputs")
    if not isinstance(nodes, list) or not isinstance(inputs, list):
        return None
    told = signature(source)
    users = set(told.user_inputs) if told else set()
    targets = {i.name: i.target for i in told.inputs} if told else {}
    placeholders = [
        Placeholder(
            name, _annotation(program, name), 0, user_name=name if name in users else targets.get(name)
        )
        for i in inputs
        if (name := _name(i))
    ]
    body = partial(_body, nodes, source)
    return Graph("exported_program", Placeholders(placeholders), 1, body, source)


def _body(nodes: list[Any], source: Source) -> GraphBody:
    return GraphBody(tuple(_nodes(nodes, source)))


_SYMBOL = re.compile(r"Symbol\('(\w+)'[^()]*\)")


def _annotation(program: dict[str, Any], name: str) -> str | None:
    """Return a tensor's shape as graphs print it (`tensor[s23, 4]`; the dtype is a number there)."""
    sizes = _at(program, "graph_module", "graph", "tensor_values", name, "sizes")
    if not isinstance(sizes, list):
        return None
    parts = [str(_at(s, "as_int") if isinstance(_at(s, "as_int"), int) else _expression(s)) for s in sizes]
    return f"tensor[{', '.join(parts)}]"


def _expression(size: object) -> str:
    return _SYMBOL.sub(r"\1", str(_at(size, "as_expr", "expr_str") or "?"))


def _program(source: Source) -> dict[str, Any]:
    if source.data[:1] != b"{" or source.data.find(b'"graph_module"') < 0:
        return {}
    return json_object(source)


def _at(value: object, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _place(source: Source) -> Any:
    return source.place(1)


def _input(spec: dict[str, Any]) -> SignatureInput:
    [(kind, value)] = spec.items()
    argument = _at(value, "arg")
    name = _name(argument) or (_at(value, "name") if isinstance(_at(value, "name"), str) else "") or ""
    target = _at(value, _NAMES.get(kind, ""))
    form = next(iter(argument), "") if isinstance(argument, dict) else ""
    return SignatureInput(
        name=name,
        kind="USER_INPUT" if kind in {"user_input", "constant_input"} else kind.upper(),
        target=target if isinstance(target, str) else None,
        argument="tensor"
        if kind in _NAMES
        else "constant"
        if kind == "constant_input"
        else form.removeprefix("as_"),
    )


def _name(argument: object) -> str | None:
    """Return the name in `{"as_tensor": {"name": "ids"}}`, `{"name": "p_w"}`, `{"as_sym_int": {"as_name": "s0"}}`."""
    todo = [argument]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            for key in ("name", "as_name"):
                if isinstance(value.get(key), str):
                    return str(value[key])
            todo.extend(v for v in value.values() if isinstance(v, dict))
    return None


def _names(argument: object) -> list[str]:
    found: list[str] = []
    todo = [argument]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            todo.extend(reversed(value))
        elif isinstance(value, dict):
            name = value.get("name", value.get("as_name"))
            if isinstance(name, str):
                found.append(name)
            else:
                todo.extend(reversed(list(value.values())))
    return found


def _nodes(nodes: list[Any], source: Source) -> list[GraphNode]:
    found = []
    place = _place(source)
    for node in nodes:
        outputs = _names(_at(node, "outputs"))
        inputs = _at(node, "inputs")
        name = _at(node, "name")
        if not outputs or not isinstance(node, dict):
            continue
        args = [n for i in (inputs if isinstance(inputs, list) else []) for n in _names(_at(i, "arg"))]
        stack = _at(node, "metadata", "stack_trace")
        frames = frames_of_stack(stack) if isinstance(stack, str) else ()
        file, line, function, code = user_frame(frames) or (frames or ((None, None, None, None),))[-1]
        found.append(
            GraphNode(
                name=name if isinstance(name, str) else outputs[0],
                target=str(_at(node, "target") or ""),
                args=tuple(args),
                file=file,
                line=line,
                function=function,
                code=code,
                place=place,
            )
        )
    return found

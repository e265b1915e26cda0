"""The operator and arguments that a LoweringException names, with buffer, device, dtype and shape of each tensor.

The text is made by torch/_inductor/exc.py (OperatorIssue.operator_str), the arguments write themselves in
torch/_inductor/ir.py.
"""

from __future__ import annotations

import re
from typing import Any

from aoti_logs.parse.compiles.failure import Lowered, LoweredTensor
from aoti_logs.parse.python.repr import Call, Text, calls, plain, read_repr
from aoti_logs.parse.shape import fields, first

_GLUED = re.compile(r"^( *\)\))[A-Za-z_][\w.]*: .*$")
_BODY = re.compile(r"^ *def \w+\(.*?^ *,$", re.MULTILINE | re.DOTALL)
_LONGEST = 4096
_MOST = 500


def read_lowered(core: str) -> Lowered | None:
    """Read `target:`, `args[N]:` and `kwargs:`; None where no operator is named."""
    target: str | None = None
    kwargs: str | None = None
    args: list[tuple[int, str]] = []
    for row in core.split("\n")[:_MOST]:
        line = _GLUED.sub(r"\1", row)
        words = line.strip()[:_LONGEST]
        # The same may follow once more, glued to the last argument, and then where the node comes from.
        if target and (not line.startswith("  ") or words.startswith("target: ")):
            break
        if target and words.startswith("kwargs: "):
            kwargs = words.removeprefix("kwargs: ")
            continue
        if not words.startswith(("target: ", "args[")) or not line.startswith("  "):
            if args and words and line.startswith("  ") and len(args[-1][1]) < _LONGEST:
                args[-1] = (args[-1][0], f"{args[-1][1]}\n{line.removeprefix('  ')}")
            continue
        found = fields("exception_text", "argument", words)
        if found is None:
            continue
        if "TARGET_NAME" in found:
            target = target or found["TARGET_NAME"][0]
        else:
            args.append((int(found["INDEX"][0][:6]), first(found, "VALUE") or ""))
    if not target:
        return None
    return Lowered(target, tuple(args), tuple(t for n, text in args if (t := _tensor(n, text))), kwargs)


def _tensor(index: int, text: str) -> LoweredTensor | None:
    """Return what an argument says of its tensor; None for a plain value."""
    if "(" not in text:
        return None
    value = read_repr(_BODY.sub("body,", text))
    layout = name = None
    for call in calls(value):
        if layout is None and call.name.endswith("Layout"):
            layout = call
        if name is None and isinstance(call.get("name"), str):
            name = call.get("name")
        if call.name in {"Pointwise", "Reduction", "Scan", "Sort", "Scatter"} and layout is None:
            layout = Call(call.name, call.values, (("size", call.get("ranges")),))
    if layout is None and name is None:
        return None
    values = layout.values if layout is not None else ()
    return LoweredTensor(
        index,
        name,
        _device(values[0]) if values else None,
        str(plain(values[1])) if len(values) > 1 else None,
        _sizes(layout.get("size")) if layout is not None else None,
        _sizes(layout.get("stride")) if layout is not None else None,
    )


def _device(value: Any) -> str:
    if isinstance(value, Call) and value.name == "device":  # device(type='cuda', index=0)
        kind, index = value.get("type"), value.get("index")
        return f"{kind}:{index}" if index is not None else str(kind)
    return str(plain(value))


def _sizes(value: Any) -> tuple[int | str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(v if isinstance(v, int) else v.text if isinstance(v, Text) else str(plain(v)) for v in value)

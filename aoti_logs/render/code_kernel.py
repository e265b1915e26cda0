"""One kernel on a screen: parameters, checks, and every launch with its arguments bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.body import Check, Store
from aoti_logs.code.expr import Load, walk
from aoti_logs.code.kernel.slice import slice_check
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.wrapper.argument_text import behind
from aoti_logs.render.code_overview import TENSORS, aligned, described

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.body import Body
    from aoti_logs.code.model import Argument, Kernel, Launch
    from aoti_logs.code.view import ModelView

_LAUNCHES_SHOWN = 8


def kernel_screen(view: ModelView, name: str, *, body: bool = False, everything: bool = False) -> list[str]:
    """Return the lines of a kernel's screen.

    Args:
        view: the model.
        name: the kernel, as launches call it.
        body: also its source text.
        everything: all of its launches.
    """
    kernel = view.definition(name)
    launches = view.wrapper.launches_of(name)
    lines = [f"kernel {name}"]
    if kernel is None:
        lines.append("  its body is not at hand")
    else:
        place = kernel.source.place(kernel.line, kernel.end_line)
        lines.append(f"  {kernel.backend}, {place.source}:{place.line}-{place.end_line}")
        read = view.body(name)
        lines += ["", "parameters", *aligned(list(_parameters(kernel, read)))]
        if read is not None and read.checks:
            lines += ["", "checks", *_checks(read)]
        if read is not None and read.unread:
            lines += [
                "",
                "not read",
                *(f"  line {n}: {t.splitlines()[0][:120]}" for n, t in read.unread[:20]),
            ]
    lines += ["", f"launches: {len(launches):,}"]
    shown = launches if everything else launches[:_LAUNCHES_SHOWN]
    for launch in shown:
        lines += launch_lines(view, launch)
    if len(launches) > len(shown):
        lines.append(f"  and {len(launches) - len(shown):,} more (--all)")
    if body and kernel is not None:
        text = kernel.source.lines_from(kernel.line, kernel.end_line)
        lines += ["", "body", *(f"{n:>6} | {t}" for n, t in enumerate(text, kernel.line))]
    return lines


def _parameters(kernel: Kernel, body: Body | None) -> Iterator[list[str]]:
    stored: set[str] = set()
    loaded: set[str] = set()
    for statement in body.statements if body is not None else ():
        parts = [getattr(statement, part, None) for part in ("value", "index", "condition", "mask", "stop")]
        loaded |= {e.ptr for p in parts if p is not None for e in walk(p) if isinstance(e, Load)}
        if isinstance(statement, Store):
            stored.add(statement.ptr)
    for position, param in enumerate(kernel.params):
        used = [word for word, names in (("read", loaded), ("written", stored)) if param.name in names]
        yield [str(position), param.name, param.dtype, " and ".join(used)]


def _checks(body: Body) -> Iterator[str]:
    seen: dict[str, list[Check]] = {}
    for check in body.checks:
        seen.setdefault(check.message, []).append(check)
    for message, checks in seen.items():
        yield f"  line {', '.join(str(c.line) for c in checks)}: {message}"
        found = slice_check(body, checks[0])
        if found is None:
            continue
        if found.value is not None:
            yield f"      {found.operand} is {found.value}" + (
                f", {found.wraps} added when negative" if found.wraps is not None else ""
            )
        indexed = dict.fromkeys(a.ptr for a in found.accesses)
        if indexed:
            yield f"      it indexes {', '.join(indexed)}"


def launch_lines(view: ModelView, launch: Launch) -> Iterator[str]:
    """Yield a launch and its arguments, one a line, each with what it is for the user."""
    place = view.wrapper.source.place(launch.line)
    where = f", in {' > '.join(launch.branch)}" if launch.branch else ""
    yield f"  launch {launch.index}, {place.source}:{place.line}{where}"
    if launch.unbound:
        yield f"      not bound to parameters: {launch.unbound}"
    if launch.grid:
        yield f"      grid {', '.join(launch.grid)}"
    if launch.source_nodes:
        yield f"      from {', '.join(launch.source_nodes)}"
    cpp = view.wrapper.flavour != "jit_python"
    # What only the launcher is given stands in the grid.
    whole = launch.backend is Backend.EXTERN or launch.unbound is not None
    rows = [
        [
            f"    {a.param if a.param is not None else '-'}",
            " ".join(behind(a, cpp=cpp).split()),
            _meaning(view, a),
        ]
        for a in launch.arguments
        if a.kind is not ArgumentKind.OTHER and (whole or a.param is not None)
    ]
    yield from aligned(rows)
    written = view.written_by(launch)
    if written:
        yield f"      writes {', '.join(view.named(n).shown for n in written)}"


def _meaning(view: ModelView, argument: Argument) -> str:
    if argument.kind in TENSORS:
        tensor = view.tensor(argument)
        kind = {ArgumentKind.INPUT: "input", ArgumentKind.CONSTANT: "constant"}.get(tensor.kind, "")
        index = f" {tensor.input_index}" if tensor.input_index is not None else ""
        name = tensor.name if tensor.name and tensor.name != tensor.arg else ""
        return "  ".join(filter(None, [f"{kind}{index}", name, described(view, tensor.arg)]))
    if argument.name is None:
        return ""
    chain = view.size_chain(argument.name)
    parts = [" ".join(size.text.split()) for size in chain]
    if chain and chain[-1].tensor is not None and chain[-1].dim is not None:
        what = "stride" if chain[-1].stride else "dim"
        parts.append(f"{what} {chain[-1].dim} of {view.named(chain[-1].tensor).shown}")
    found = ", ".join(parts)
    return f"where {found}" if found and argument.kind is ArgumentKind.EXPRESSION else found

"""A compiled model on a screen: what goes in, what is launched in which order, what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.model_facts import headline, unchecked
from aoti_logs.code.wrapper.argument_text import behind, only_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.model import Argument, Launch
    from aoti_logs.code.view import ModelView

LAUNCHES_SHOWN = 60
_ROWS_SHOWN = 40
TENSORS = frozenset({ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT})


def overview(view: ModelView, *, everything: bool = False) -> Iterator[str]:
    """Yield the lines of a model's screen.

    Args:
        view: the model.
        everything: also what is cut off by default: later launches and rows.
    """
    wrapper = view.wrapper
    yield headline(view)
    yield f"  {wrapper.source.name}"
    yield from _section("inputs", list(_inputs(view)), everything=everything)
    yield from _section("constants", list(_constants(view)), everything=everything)
    yield from _section("sizes", list(_sizes(view)), everything=everything)
    yield from _launches(view, everything=everything)
    named = [[str(i), name, _where_from(view, name)] for i, name in enumerate(wrapper.outputs)]
    yield from _section("outputs", named, everything=everything)
    yield from _attention(view)


def _section(title: str, rows: list[list[str]], *, everything: bool) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield title
    shown = rows if everything else rows[:_ROWS_SHOWN]
    yield from aligned(shown)
    if len(rows) > len(shown):
        yield f"  and {len(rows) - len(shown):,} more (--all)"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with their columns under each other; the last column may be as long as it likes."""
    width: dict[int, int] = {}
    for row in rows:
        for at, cell in enumerate(row[:-1]):
            width[at] = max(width.get(at, 0), min(len(cell), 48))
    for row in rows:
        cells = [cell.ljust(width.get(at, 0)) for at, cell in enumerate(row[:-1])]
        yield ("  " + "  ".join([*cells, row[-1]])).rstrip()


def described(view: ModelView, name: str) -> str:
    """Return dtype and extents of a tensor, as far as the code tells them."""
    shape = view.shapes.get(name)
    dtype = view.dtypes.get(name, "")
    if shape is None or not dtype:
        life = view.buffer(name)
        if life is not None:
            shape, dtype = shape or life.shape, dtype or (life.dtype or "")
    return " ".join(filter(None, [dtype, f"[{', '.join(shape)}]" if shape is not None else ""]))


def _inputs(view: ModelView) -> Iterator[list[str]]:
    for entry in view.wrapper.inputs:
        named = view.names.get(entry.name)
        user = "" if named is None or named.name == entry.name else named.name
        what = "a size" if entry.scalar else described(view, entry.name)
        yield [str(entry.index), entry.name, user, what]


def _constants(view: ModelView) -> Iterator[list[str]]:
    for constant in view.wrapper.constants:
        yield [str(constant.index), constant.name, constant.fqn or "", described(view, constant.name)]


def _sizes(view: ModelView) -> Iterator[list[str]]:
    for symbol, size in view.sizes.items():
        measured = ""
        if size.tensor is not None and size.dim is not None:
            what = "stride" if size.stride else "dim"
            measured = f"{what} {size.dim} of {view.named(size.tensor).shown}"
        yield [symbol, " ".join(size.text.split())[:100], measured]


def _launches(view: ModelView, *, everything: bool) -> Iterator[str]:
    launches = view.wrapper.launches
    if not launches:
        return
    yield ""
    yield "launches, in program order"
    shown = launches if everything else launches[:LAUNCHES_SHOWN]
    branch: tuple[str, ...] = ()
    for launch in shown:
        if launch.branch != branch:
            branch = launch.branch
            yield f"  {' > '.join(branch)}:" if branch else "  always:"
        yield f"  {launch.index:>4}  {call_text(view, launch)}"
    if len(launches) > len(shown):
        yield f"  and {len(launches) - len(shown):,} more (--all)"


def call_text(view: ModelView, launch: Launch) -> str:
    """Return a launch as `buf2 = kernel(ids, emb.weight; s70)` with the user's names."""
    written = list(view.written_by(launch))
    only_out = only_written(view, launch)
    tensors = [
        view.tensor(a).shown
        for a in launch.arguments
        if a.kind in TENSORS and a.name and a.name not in only_out and not _made_here(launch, a)
    ]
    cpp = view.wrapper.flavour != "jit_python"
    sizes = [behind(a, cpp=cpp) for a in launch.arguments if is_size(a)]
    inside = "; ".join(filter(None, [", ".join(dict.fromkeys(tensors)), ", ".join(sizes)]))
    left = ", ".join(view.named(n).shown for n in written)
    return f"{left + ' = ' if left else ''}{launch.kernel}({inside})"


def _made_here(launch: Launch, argument: Argument) -> bool:
    return launch.backend is Backend.EXTERN and argument.name in launch.outputs


def is_size(argument: Argument) -> bool:
    """Tell whether an argument is a number that the kernel itself is given."""
    return argument.param is not None and argument.kind in {
        ArgumentKind.SIZE,
        ArgumentKind.LITERAL,
        ArgumentKind.EXPRESSION,
    }


def _where_from(view: ModelView, name: str) -> str:
    launch = view.producer(name, len(view.wrapper.calls))
    tensor = view.named(name)
    made = f"launch {launch.index} {launch.kernel}" if launch is not None else ""
    return "  ".join(filter(None, [tensor.name or "", described(view, name), made]))


def _attention(view: ModelView) -> Iterator[str]:
    """Name what deserves a look: ignored error codes, and what could not be read."""
    lines = [
        f"  launch {launch.index}: {launch.kernel} ignores its error code (line {launch.line}): when it fails, its result is missing and nothing says so"
        for launch in unchecked(view)
    ]
    unread = view.wrapper.unread
    lines += [f"  not read: line {line}: {text.splitlines()[0][:120]}" for line, text in unread[:10] if text]
    if len(unread) > 10:
        lines.append(f"  and {len(unread) - 10:,} more statements that were not read")
    if lines:
        yield ""
        yield "attention"
        yield from lines

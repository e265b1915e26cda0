"""How a caller passes the inputs of an AOTInductor model: `batch['lengths']`, `pair[0]`, `scale=`.

The wrapper holds the call specification of the exported program (`in_spec_`, JSON of `torch.utils._pytree`): which
containers and keywords its inputs stand in, but no names of positional arguments. An exported graph has those, run
together (`batch_lengths`: `placeholder_naming_pass` in `torch/_export/utils.py`); both together give the expression.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aoti_logs.code.names.input_names import InputName
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aoti_logs.code.model import ModelInput
    from aoti_logs.sources.source import Source

_START = b"in_spec_ = "
_TEXT = re.compile(rb'in_spec_ = (?:R"\((?P<raw>.*?)\)"|"(?P<escaped>(?:[^"\\\n]|\\.)*)");', re.DOTALL)
_LONGEST = 1 << 22
_MOST = 100_000
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_LISTS = frozenset({"builtins.list", "builtins.tuple"})
_OTHER = re.compile(r"[^a-zA-Z0-9]")


@dataclass(frozen=True)
class Leaf:
    """A leaf of the arguments: `root` is the number of a positional argument, or a keyword; `steps` lead on from there."""

    root: int | str
    steps: tuple[int | str, ...]

    @property
    def inside(self) -> str:
        """The steps as Python writes them: `['lengths']`, `[0]`."""
        return "".join(f"[{step!r}]" for step in self.steps)

    @property
    def run_together(self) -> str:
        """The steps as an exported graph's input names them, each behind a `_`."""
        return "".join(f"_{_OTHER.sub('_', str(step))}" for step in self.steps).lower()


@dataclass(frozen=True)
class CallSpec:
    """The leaves in the caller's order, and the line that tells."""

    leaves: tuple[Leaf, ...]
    line: int


def call_spec(source: Source) -> CallSpec | None:
    """Return the call specification in a C++ wrapper; None where there is none, or one of unknown containers."""
    data = source.data
    at = data.find(_START)
    found = _TEXT.match(data, at, min(len(data), at + _LONGEST)) if at >= 0 else None
    if found is None:
        return None
    text = (found["raw"] if found["raw"] is not None else found["escaped"]).decode("utf-8", "replace")
    try:
        if found["raw"] is None:
            text = json.loads(f'"{text}"')
        spec = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match spec:
        case [_, {"type": "builtins.tuple", "children_spec": [args, keywords]}]:
            leaves = _leaves(args, keywords)
            return None if leaves is None else CallSpec(leaves, source.line_at(at))
    return None


def _leaves(args: Any, keywords: Any) -> tuple[Leaf, ...] | None:
    """Return the leaves in order; None where a container is unknown."""
    positional, named = _children(args), _children(keywords)
    if positional is None or named is None:
        return None
    todo: list[tuple[int | str, tuple[int | str, ...], Any]] = [
        (root, (), child) for root, child in reversed([*positional, *named])
    ]
    found: list[Leaf] = []
    while todo and len(found) < _MOST:
        root, steps, node = todo.pop()
        if not isinstance(node, dict):
            return None
        if node.get("type", "") is None:
            found.append(Leaf(root, steps))
            continue
        children = _children(node)
        if children is None:
            return None
        todo += [(root, (*steps, key), child) for key, child in reversed(children)]
    return None if todo else tuple(found)


def _children(node: Any) -> list[tuple[int | str, Any]] | None:
    match node:
        case {"type": kind, "children_spec": [*children]} if kind in _LISTS:
            return list(enumerate(children))
        case {"type": kind, "context": str(context), "children_spec": [*children]} if kind in _DICTS:
            try:
                keys = json.loads(context)
            except (ValueError, RecursionError):
                return None
            if not isinstance(keys, list) or len(keys) != len(children):
                return None
            return (
                list(zip(keys, children, strict=True)) if all(type(k) in {str, int} for k in keys) else None
            )
    return None


def by_call(
    names: Mapping[str, InputName], inputs: Sequence[ModelInput], source: Source
) -> dict[str, InputName]:
    """Return the names with containers written as in Python, and with those that only the call tells.

    Nothing changes where the number of leaves is not the number of inputs (constants among the arguments), or where a
    name is not made as torch makes it.

    Args:
        names: the user's names by generated name.
        inputs: the wrapper's inputs.
        source: the wrapper.
    """
    spec = call_spec(source)
    if spec is None or len(spec.leaves) != len(inputs):
        return dict(names)
    pairs = list(zip(inputs, spec.leaves, strict=True))
    bases = _bases(names, pairs)
    made = dict(names)
    for entry, leaf in pairs:
        known = names.get(entry.name)
        base = leaf.root if isinstance(leaf.root, str) else bases.get(leaf.root)
        if known is None:
            if isinstance(leaf.root, str) or any(isinstance(step, str) for step in leaf.steps):
                shown = f"{base if base is not None else f'args[{leaf.root}]'}{leaf.inside}"
                place = source.place(spec.line)
                made[entry.name] = InputName(shown, place, Confidence.PROVEN, "in_spec_ of the wrapper")
        elif base is not None and leaf.steps and known.name == f"{base}{leaf.run_together}":
            made[entry.name] = replace(known, name=f"{base}{leaf.inside}")
    return made


def _bases(names: Mapping[str, InputName], pairs: Sequence[tuple[ModelInput, Leaf]]) -> dict[int | str, str]:
    """Return the name of each positional argument, where all inputs in it agree on one."""
    found: dict[int | str, set[str | None]] = {}
    for entry, leaf in pairs:
        known = names.get(entry.name)
        if isinstance(leaf.root, int) and known is not None:
            whole, tail = known.name, leaf.run_together
            base = whole.removesuffix(tail) if whole.endswith(tail) and len(whole) > len(tail) else None
            found.setdefault(leaf.root, set()).add(base if base and base.isidentifier() else None)
    return {root: base for root, bases in found.items() if len(bases) == 1 and (base := next(iter(bases)))}

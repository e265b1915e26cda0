"""The ranks compile one function for tensors of different shapes.

## What it says
Which input of which compile has another shape or element type on some ranks, and which operation is the first whose result
differs. Where the compiled code calls collectives it is a warning.

## Why it matters
`all_reduce`, `all_gather` and `reduce_scatter` take tensors of one shape from all ranks. Torch does not compare them: NCCL
waits until the timeout or mixes the data up, Gloo complains of lengths in bytes (AL321). Without collectives on such a tensor
it is no fault: ranks may have batches of their own.

## Example
`x` is `float32 [32, 16]` on rank 0 and `float32 [24, 16]` on rank 1, and `all_reduce_` reduces what is computed of it.

## Evidence it needs
The traces of several ranks, written at the same time: `describe_tensor` (torch 2.6 and later) has the inputs. Shapes of
operations are recorded with `torch._inductor.config.log_tlparse` only (torch 2.9 and later), `all_reduce_` without any shape.
How long an operation is thought to take differs from rank to rank and is not compared. A size that was made dynamic is
compared as it was at that compile.

## What to do
Give all ranks the same sizes: `drop_last=True`, padding, or `torch.distributed.algorithms.join`. To gather tensors of
different sizes, exchange the sizes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.rank_views import alike, compile_words, function_of, function_words, ranks_words, shared
from aoti_logs.rules.recompile_words import plain
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.traces.rank_view import Key, RankView

_SHOWN = 6
_MOST = 20
_Groups = dict[str, list[int]]
_ONE_SHAPE = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "broadcast")
"""How collectives are named that need one shape from all ranks; an `all_to_all` takes sizes of its own from each."""


def other_tensors(views: Sequence[RankView]) -> list[Finding]:
    """Return one finding for the compiles that the ranks made for different tensors."""
    found: list[tuple[Key, str, _Groups]] = []
    for key in shared(views):
        found += [(key, source, groups) for source, groups in _inputs(views, key)]
    compiles = list(dict.fromkeys(key for key, _, _ in found))
    operations = [told for key in shared(views) if (told := _operation(views, key)) is not None]
    if not found and not operations:
        return []
    key = compiles[0] if compiles else operations[0][0]
    outcome = next(v.compiles[key] for v in views if key in v.compiles)
    calling = sorted(
        {
            n
            for k in (compiles or [key])
            for v in views
            if k in v.schedules
            for n in v.schedules[k].names
            if n.startswith(_ONE_SHAPE)
        }
    )
    title = _title(key, function_words(outcome), found, operations)
    links = [_input_link(views, *told) for told in found[:_SHOWN]]
    links += [_operation_link(views, *told) for told in operations[:2]]
    because = (
        (
            f"that code calls {', '.join(f'`{n}`' for n in calling[:3])}: all ranks of its group must give it one shape",
        )
        if calling
        else ()
    )
    function = function_of(outcome)
    return [
        Finding(
            rule="AL326",
            kind="rank_tensors_differ",
            role="note",
            severity="warning" if calling else "note",
            confidence=Confidence.PROVEN,
            title=title,
            facts={
                "ranks": [v.rank for v in views],
                "compile_id": key[0],
                "function": function[0] if function else None,
                "inputs": [_facts(*told) for told in found[:_MOST]],
                "operation": operations[0][1] if operations else None,
                "collectives": calling,
            },
            log=views[0].trace.source.name,
            chain=tuple(links),
            verdicts=(Verdict("AL326", title, Confidence.PROVEN, because, fixes=_fixes(calling)),),
            notes=("whether a collective gets a tensor whose shape differs is not recorded",)
            if calling
            else (),
        )
    ]


def _fixes(calling: list[str]) -> tuple[str, ...]:
    return (
        ("give all ranks the same sizes (drop_last=True, padding), or exchange the sizes first",)
        if calling
        else ()
    )


def _inputs(views: Sequence[RankView], key: Key) -> list[tuple[str, _Groups]]:
    known = {v.rank: v.inputs[key] for v in views if key in v.inputs}
    sources = dict.fromkeys(source for shapes in known.values() for source in shapes)
    found = []
    for source in sources:
        groups = alike({rank: shapes[source][0] for rank, shapes in known.items() if source in shapes})
        if len(groups) > 1:
            found.append((source, groups))
    return found


def _operation(views: Sequence[RankView], key: Key) -> tuple[Key, str, _Groups] | None:
    """Return the first operation whose result differs, where the ranks schedule the same ones."""
    known = {v.rank: v.operations[key] for v in views if v.operations.get(key)}
    if len({tuple(op.name for op in ops) for ops in known.values()}) != 1:
        return None
    for at, first in enumerate(next(iter(known.values()))):
        groups = alike({rank: ops[at].outputs for rank, ops in known.items()})
        if len(groups) > 1:
            return key, first.name, groups
    return None


def _title(
    key: Key, function: str, found: list[tuple[Key, str, _Groups]], operations: list[tuple[Key, str, _Groups]]
) -> str:
    name, groups = (
        (f"`{plain(found[0][1])}`", found[0][2])
        if found
        else (f"the result of `{operations[0][1]}`", operations[0][2])
    )
    title = f"the ranks compiled {function} for different tensors (compile {compile_words(key)}): {name} is {_each(groups)}"
    return title + (f"; and {several(len(found) - 1, 'more input')}" if len(found) > 1 else "")


def _each(groups: _Groups) -> str:
    parts = [f"{value or 'not known'} on {ranks_words(ranks)}" for value, ranks in list(groups.items())[:4]]
    return ", ".join(parts) + (", ..." if len(groups) > 4 else "")


def _input_link(views: Sequence[RankView], key: Key, source: str, groups: _Groups) -> Link:
    last = list(groups.values())[-1][0]
    record = next(v for v in views if v.rank == last).inputs[key][source][1]
    return Link("tensor", f"compile {compile_words(key)}, {source}: {_each(groups)}", record.place)


def _operation_link(views: Sequence[RankView], key: Key, name: str, groups: _Groups) -> Link:
    last = list(groups.values())[-1][0]
    record = next(v for v in views if v.rank == last).operations[key][0].record
    return Link(
        "result",
        f"compile {compile_words(key)}, {name} is the first that differs: {_each(groups)}",
        record.place,
    )


def _facts(key: Key, source: str, groups: _Groups) -> dict[str, Any]:
    tensors = [{"tensor": value, "ranks": ranks} for value, ranks in list(groups.items())[:_MOST]]
    return {"compile_id": key[0], "source": source, "tensors": tensors}


RULE = Rule("AL326", "rank-tensors-differ", __doc__ or "")

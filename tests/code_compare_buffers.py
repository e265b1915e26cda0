"""Differences between what is read from generated code and what Inductor knew: buffers, who wrote and who reads them.

Each function returns the differences as sentences; none is the wish.
"""

from typing import Any

from aoti_logs.code.model import ArgumentKind
from tests.code_extents import same_extents
from tests.code_truth import Compiled, expected_arguments

TENSORS = {ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT}


def buffers(c: Compiled) -> list[str]:
    """Each buffer is born where Inductor wrote it, with its type, shape and strides; reuse and ends are told."""
    found = []
    born: dict[str, list[Any]] = {}
    for buffer in c.wrapper.buffers:
        born.setdefault(buffer.name, []).append(buffer)
    ended: dict[str, list[int]] = {}
    for release in c.wrapper.releases:
        ended.setdefault(release.name, []).append(release.line)
    for event in c.events:
        rows, name = event["rows"], str(event.get("name"))
        if not rows:
            continue
        match event.get("line"):
            case "AllocateLine":
                mine = [b for b in born.get(name, ()) if rows[0] <= b.line <= rows[-1]]
                if not mine:
                    found.append(f"no birth of {name} in lines {rows}: {event['text']}")
                    continue
                facts = c.facts(name)
                if not facts:  # a workspace: Inductor has no buffer for it
                    continue
                if mine[0].shape is None or not same_extents(mine[0].shape, facts.get("size", [])):
                    found.append(f"{name}: shape {mine[0].shape}, not {facts.get('size')}")
                if mine[0].stride is None or not same_extents(mine[0].stride, facts.get("stride", [])):
                    found.append(f"{name}: strides {mine[0].stride}, not {facts.get('stride')}")
                if f"torch.{mine[0].dtype}" != facts.get("dtype"):
                    found.append(f"{name}: type {mine[0].dtype}, not {facts.get('dtype')}")
            case "ReuseLine":
                mine = [
                    b for b in born.get(event["new"], ()) if b.line in rows and b.alias_of == event["old"]
                ]
                if not mine:
                    found.append(f"{event['new']} reuses {event['old']}: {born.get(event['new'])}")
            case "FreeLine" | "FreeIfNotReusedLine":
                if not set(ended.get(name, ())) & set(rows):
                    found.append(f"no end of {name} in lines {rows}")
    for graph in c.truth["graphs"]:
        for name, facts in graph["buffers"].items():
            for buffer in born.get(name, ()):
                if buffer.view or "size" not in facts:
                    continue
                if buffer.shape is not None and not same_extents(buffer.shape, facts["size"]):
                    found.append(f"{name}: shape {buffer.shape}, not {facts['size']} (line {buffer.line})")
                if buffer.stride is not None and not same_extents(buffer.stride, facts["stride"]):
                    found.append(
                        f"{name}: strides {buffer.stride}, not {facts['stride']} (line {buffer.line})"
                    )
                if buffer.dtype is not None and f"torch.{buffer.dtype}" != facts["dtype"]:
                    found.append(f"{name}: type {buffer.dtype}, not {facts['dtype']} (line {buffer.line})")
    return found


def written(c: Compiled) -> list[str]:
    """Each launch writes the buffers that Inductor made its outputs."""
    found = []
    for event, got in c.calls:
        if len(got) != 1:
            continue
        launch = got[0]
        have = set(c.view.written_by(launch))
        if event["line"] == "KernelCallLine":
            if not event["mark"] or "bound" not in event["mark"]:
                continue
            want = wrote(c, event)
            workspace = {w["outer"] for w in event["mark"]["bound"].get("workspace", ())}
            if have - workspace != want:
                found.append(f"{launch.kernel} writes {sorted(have)}, not {sorted(want)}")
        else:
            want = wrote(c, event) | {event["name"]}
            if not have <= want or not (have or event["name"] not in launch.text):
                found.append(f"{launch.kernel} writes {sorted(have)}, not {sorted(want)}")
            missing = set(event.get("mutates", ())) - have
            if missing:
                found.append(f"{launch.kernel} does not write {sorted(missing)}: {launch.text[:150]}")
    return found


def producers(c: Compiled) -> list[str]:
    """The producer of each tensor that a launch takes is the last call before it that wrote it."""
    found = []
    last: dict[str, int] = {}
    for event, got in c.calls:
        if len(got) != 1 or c.subgraph(event) is not None:
            continue
        launch = got[0]
        for argument in launch.arguments:
            name = argument.name
            if name is None or argument.kind not in TENSORS or name not in last:
                continue
            producer = c.view.producer(name, launch.index)
            if producer is None or producer.index != last[name]:
                found.append(
                    f"{launch.kernel}[{launch.index}]: {name} from "
                    f"{producer and (producer.index, producer.kernel)}, not {last[name]}"
                )
        for name in wrote(c, event):
            last[name] = launch.index
    return found


def wrote(c: Compiled, event: dict[str, Any]) -> set[str]:
    """The buffers that a call writes, as Inductor knows it."""
    if event["line"] != "KernelCallLine":
        real = {k: v for g in c.truth["graphs"] for k, v in g["real_names"].items()}
        made = {real.get(n, n) for n in event.get("outputs", ())}
        return made | set(event.get("mutates", ())) | c.parts(event["name"])
    args = (event["mark"] or {}).get("bound", {})
    inplace = args.get("inplace", {})
    return {v["names"][-1] for v in inplace.values()} | {
        k for k in args.get("output", {}) if k not in inplace
    }


def readers(c: Compiled) -> list[str]:
    """The values of each output of a fused kernel are made from what Inductor's nodes read for it, and all of that.

    Operands that only choose elements (indices, conditions) are no values; they are integers or truth values here.
    """
    found = []
    for event, got in c.calls:
        mark = event.get("mark")
        if len(got) != 1 or not mark or not mark.get("nodes") or "bound" not in mark:
            continue
        launch, graph = got[0], c.graphs[mark["graph"]]
        real = graph["real_names"]
        memory = {n: v["names"][-1] for v in mark["bound"].get("inplace", {}).values() for n in v["names"]}
        taken = {outer for outer, _ in expected_arguments(mark)}
        direct: dict[str, set[str]] = {}
        kept: set[str] = set()
        for leaf in (graph["leaves"][n] for n in mark["nodes"]):
            sources = {memory.get(r, r) for d in leaf["reads"] for r in [real.get(d["name"], d["name"])]}
            for dep in leaf["writes"]:
                name = real.get(dep["name"], dep["name"])
                name = memory.get(name, name)
                direct.setdefault(name, set()).update(sources)
                if dep.get("mode") or dep["name"] in real:
                    kept.add(name)  # what was there before stays in part
        for output in direct:
            if output not in taken:
                continue
            whole = closure(output, direct)
            have = set(c.view.read_by(launch, output))
            wrong = have - whole - {output}
            values = {n for n in whole & taken if "float" in (c.dtype(n) or "") and n not in direct}
            lost = set() if output in kept else values - closure_of(have, direct, whole)
            if wrong or lost:
                told = f"wrong {sorted(wrong)}, lost {sorted(lost)}"
                found.append(f"{launch.kernel}: {output} is made from {sorted(have)}: {told}")
    return found


def closure(name: str, direct: dict[str, set[str]]) -> set[str]:
    """Everything that a buffer is made from within one kernel, intermediate buffers included."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for source in direct.get(todo.pop(), ()):
            if source not in found:
                found.add(source)
                todo.append(source)
    return found


def closure_of(names: set[str], direct: dict[str, set[str]], within: set[str]) -> set[str]:
    """The names and, of those that the kernel itself makes, what they are made from."""
    found = set(names)
    for name in names & within:
        found |= closure(name, direct)
    return found

"""Differences between what is read from generated code and what Inductor knew: kernels, calls, inputs, sizes.

Each function returns the differences as sentences; none is the wish. `TOPICS` names them all.
"""
# ruff: noqa: PERF401 -- one difference after the other reads better than nested comprehensions

import re

from aoti_logs.code.model import ArgumentKind, Backend
from tests.code_compare_buffers import buffers, producers, readers, written
from tests.code_truth import NAME, Compiled, expected_arguments


def launches(c: Compiled) -> list[str]:
    """Each call that Inductor wrote is one launch, in the same order, and there are no others."""
    found = []
    for event, got in c.calls:
        name = event.get("kernel") or event.get("python") or event.get("cpp") or event.get("op")
        if not event["rows"]:
            found.append(f"text of {name} not found: {event.get('text')}")
        elif len(got) != 1:
            found.append(f"{name} has {[x.kernel for x in got]} for {event['text'][-1].strip()[:200]}")
    extra = c.other_launches(c.calls)
    found += [f"a launch that Inductor did not write as a call: {x.kernel}: {x.text[:200]}" for x in extra]
    indices = [x.index for x in c.wrapper.launches]
    if indices != list(range(len(indices))):
        found.append(f"indices {indices}")
    lines = [x.line for x in c.wrapper.launches]
    if c.is_cpp and lines != sorted(lines):
        found.append("launches are not in the order of the text")
    return found


def arguments(c: Compiled) -> list[str]:
    """Each argument of a kernel is what Inductor gave, bound to the parameter that Inductor gave it for."""
    found = []
    for event, got in c.calls:
        if event["line"] != "KernelCallLine" or len(got) != 1:
            continue
        launch = got[0]
        if launch.kernel != event["kernel"]:
            found.append(f"{event['kernel']} is called {launch.kernel}")
        args = event["args"]
        if len(launch.arguments) < len(args):
            found.append(f"{launch.kernel}: {len(launch.arguments)} arguments of {len(args)}")
            continue
        pairs = expected_arguments(event["mark"]) if event["mark"] else []
        for position, (text, argument) in enumerate(zip(args, launch.arguments, strict=False)):
            if argument.param is None and argument.kind is ArgumentKind.OTHER:
                continue  # for the launcher only: a size that the grid is computed from
            if NAME.fullmatch(text) and argument.name != text:
                found.append(f"{launch.kernel}[{position}] {text}: {argument}")
            if position < len(pairs) and pairs[position][0] == text and argument.param != pairs[position][1]:
                found.append(f"{launch.kernel}[{position}] {pairs[position]}: {argument}")
            if position < len(pairs) and pairs[position][0] != text:
                found.append(f"{launch.kernel}[{position}] Inductor: {pairs[position]} but {text}")
    return found


def kinds(c: Compiled) -> list[str]:
    """Inputs are inputs, constants are constants, sizes are sizes and all else that has memory is a buffer."""
    found = []
    for _, got in c.calls:
        for launch in got if len(got) == 1 else ():
            graph = c.graphs.get(launch.subgraph) or c.graphs[None]
            for argument in launch.arguments:
                name = argument.name
                if name is None:
                    continue
                main = c.graphs[None]
                if name in main["constants"]:
                    wanted = {ArgumentKind.CONSTANT}
                elif name in main["inputs"]:
                    wanted = {ArgumentKind.SIZE if c.is_scalar(name) else ArgumentKind.INPUT}
                elif name in graph["buffers"] or name in graph["inputs"]:
                    wanted = {ArgumentKind.BUFFER, ArgumentKind.INPUT}
                else:
                    continue
                if argument.kind not in wanted:
                    found.append(f"{launch.kernel}: {argument.kind} for {name}, not {wanted}")
    return found


def kernels(c: Compiled) -> list[str]:
    """The kernels are those that Inductor defined, with its parameters and their types."""
    found = []
    wanted = {e["kernel"] for e in c.events if e.get("line") == "KernelDefinitionLine"}
    called = {e["kernel"] for e, _ in c.calls if e["line"] == "KernelCallLine"}
    if called - set(c.wrapper.kernel_names):
        found.append(f"kernels not known: {sorted(called - set(c.wrapper.kernel_names))}")
    if set(c.wrapper.kernel_names) - wanted - called:
        found.append(f"no kernels: {sorted(set(c.wrapper.kernel_names) - wanted - called)}")
    for event, _ in c.calls:
        if event["line"] != "KernelCallLine":
            continue
        kernel = c.view.definition(event["kernel"])
        if kernel is None:
            found.append(f"{event['kernel']} has no definition")
            continue
        types = {p.name: p.dtype for p in kernel.params}
        signature = event.get("signature", {})
        for name, dtype in signature.items():
            if name in types and types[name] != dtype and not (dtype == "constexpr" and not types[name]):
                found.append(f"{event['kernel']}: {name} is {types[name]}, not {dtype}")
        if kernel.backend is Backend.CPP and [p.dtype for p in kernel.params] != event["types"]:
            found.append(f"{event['kernel']}: types {[p.dtype for p in kernel.params]}, not {event['types']}")
        inner = [i for _, i in expected_arguments(event["mark"])] if event["mark"] else []
        if [p.name for p in kernel.params][: len(inner)] != inner:
            found.append(f"{event['kernel']}: parameters {[p.name for p in kernel.params]}, not {inner}")
    return found


def extern(c: Compiled) -> list[str]:
    """Calls of operators name the buffers that Inductor made them from and for."""
    found = []
    for event, got in c.calls:
        if event["line"] == "KernelCallLine" or len(got) != 1:
            continue
        launch = got[0]
        if launch.backend is not Backend.EXTERN:
            found.append(f"{launch.kernel} is {launch.backend}")
        names = {a.name for a in launch.arguments if a.name}
        for name in event.get("inputs", ()):
            if name not in names and not names & set(c.facts(name).get("aliases", ())):
                found.append(f"{launch.kernel}: input {name} missing in {sorted(names)}: {launch.text[:160]}")
    return found


def outputs(c: Compiled) -> list[str]:
    """The model returns what Inductor returns, in its order."""
    wanted = c.graphs[None]["output_refs"]
    got = list(c.wrapper.outputs)
    if len(wanted) != len(got):
        return [f"outputs {got}, not {wanted}"]
    return [f"output {a}, not {b}" for a, b in zip(got, wanted, strict=True) if NAME.fullmatch(b) and a != b]


def inputs(c: Compiled) -> list[str]:
    """The inputs have the names and the order of the graph's, the constants are the graph's."""
    found = []
    wanted = list(c.graphs[None]["inputs"])
    got = [i.name for i in c.wrapper.inputs]
    if wanted != got:
        found.append(f"inputs {got}, not {wanted}")
    for entry in c.wrapper.inputs:
        if entry.scalar != c.is_scalar(entry.name):
            found.append(f"{entry.name} scalar={entry.scalar}")
    constants = c.graphs[None]["constants"]
    known = {k.name: k for k in c.wrapper.constants}
    found += [f"constant {n} is not known" for n in constants if n not in known]
    found += [f"constant {n} is not one" for n in known if n not in constants]
    for name, facts in constants.items():
        constant = known.get(name)
        if constant is None or not c.is_cpp or constant.shape is None:
            continue
        if list(constant.shape) != facts["size"] or f"torch.{constant.dtype}" != facts["dtype"]:
            found.append(f"{constant} but {facts}")
    return found


def sizes(c: Compiled) -> list[str]:
    """Symbols that data defines are unbacked sizes, and every size in a call has a definition."""
    found = []
    known = {s.symbol: s for s in c.wrapper.sizes}
    for event in c.events:
        if event.get("line") == "UnbackedSymbolDefsLine":
            for symbol in event.get("symbols", ()):
                if symbol not in known or not known[symbol].unbacked:
                    found.append(f"{symbol} is no unbacked size: {known.get(symbol)}")
    for launch in c.wrapper.launches:
        for argument in launch.arguments:
            if argument.kind is ArgumentKind.SIZE and argument.name and argument.name not in known:
                found.append(f"{launch.kernel}: size {argument.name} has no definition")
    for name, facts in c.graphs[None]["inputs"].items():
        for dim, text in enumerate(facts.get("size", ())):
            if re.fullmatch(r"s\d+", text) and text not in known:
                found.append(f"{text} = {name}.size({dim}) is not known")
    for size in c.wrapper.sizes:
        if size.tensor and size.dim is not None and size.tensor in c.graphs[None]["inputs"]:
            facts = c.graphs[None]["inputs"][size.tensor]
            texts = facts.get("stride" if size.stride else "size", [])
            if size.dim >= len(texts) or texts[size.dim] != size.symbol:
                found.append(f"{size.symbol} is not dimension {size.dim} of {size.tensor}: {texts}")
    return found


def unread(c: Compiled) -> list[str]:
    """No statement of the entry function is left unread."""
    return [f"line {line}: {text[:160]}" for line, text in c.wrapper.unread]


TOPICS = {
    f.__name__: f
    for f in (
        kernels,
        launches,
        arguments,
        kinds,
        extern,
        outputs,
        inputs,
        buffers,
        written,
        producers,
        readers,
        sizes,
        unread,
    )
}

"""What a compiled model is bound to: device, GPU, processor, operating system, operators that others register.

## What it says
For which device and machine the model was compiled, as its metadata, its compile command and its code say, and which
operators of other libraries it calls.

## Why it matters
torch 2.10 and later warns when the machine differs, and runs the model all the same; older releases do not look. A processor
without the vector instructions ends the process with SIGILL. A GPU binary runs on the same major compute capability
and an equal or higher minor one. An input or a weight on another device is an illegal address.

## Example
`made for linux x86_64, AVX512 AVX512_VNNI, cuda compute capability 9.0`

## Evidence it needs
A package's metadata (the machine since torch 2.10), else the wrapper's includes and compile command.

## What to do
Compare with the machine that serves before deploying; compile for the weakest processor of the fleet
(`ATEN_CPU_CAPABILITY`), or on it; with `aot_inductor.emit_multi_arch_kernel=True` for several GPUs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed, one_line
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.packages.package import PackagedModel
    from aoti_logs.explain import Finding
    from aoti_logs.sources.source import Source

RULE = Rule("AL723", "bound-to-machine", __doc__ or "")

_OWN = ("aten", "prims", "prim", "inductor", "quantized", "mkldnn", "onednn", "torch.ops.aten")
_MARCH = re.compile(r"(?:^|\s)(-m(?:avx512\w*|avx2|amx-\w+|arch=\S+|cpu=\S+|fma))(?=\s|$)")
_INCLUDE = re.compile(rb"^#include <torch/csrc/inductor/(?:aoti_include|cpp_wrapper)/\w+\.h>", re.MULTILINE)


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Say what an AOTInductor model is bound to, as far as it says so itself."""
    if case.aot is None and case.model is None:
        return
    links: list[Link] = []
    facts: dict[str, object] = {}
    parts = list(_parts(case, links, facts))
    operators = _operators(case.model, links) if case.model is not None else []
    if operators:
        facts["operators"] = operators
    if not parts and not operators:
        return
    title = f"made for {', '.join(parts)}" if parts else "compiled by torch"
    if operators:
        title += f"; calls {listed(f'`{o}`' for o in operators)}, which the process must register before it loads the model"
    because = [
        "nothing of this is enforced: torch 2.10 and later warns about another machine, older releases do not look"
    ]
    if facts.get("compute_capability"):
        because.append(
            "a GPU binary runs on the same major compute capability and an equal or higher minor one"
        )
    if facts.get("cpu_isa") or facts.get("cpu_flags"):
        because.append(
            "a processor without these vector instructions ends the process with SIGILL, without a text"
        )
    yield case.finding(
        "AL723",
        "bound_to",
        title,
        facts=facts,
        links=links,
        because=because,
        fixes=("compare with the machines that serve, and compile for the weakest of them",),
    )


def _parts(case: ModelCase, links: list[Link], facts: dict[str, object]) -> Iterator[str]:
    """Yield what it is made for; the quotes and the facts are added to what is given."""
    model, view = case.model, case.view
    told = model.metadata if model is not None else None
    if model is not None and told is not None and told.values:
        links += _metadata_links(model)
        machine = " ".join(filter(None, (told.platform, told.machine)))
        if machine:
            facts["platform"], facts["machine"] = told.platform, told.machine
            yield machine
        if told.cpu_isa:
            facts["cpu_isa"] = told.cpu_isa
            yield told.cpu_isa
    compiled = model.builds.get("compile") if model is not None else None
    if compiled is not None and not facts.get("cpu_isa"):
        flags = list(dict.fromkeys(m[1] for m in _MARCH.finditer(compiled.text)))
        if flags:
            facts["cpu_flags"] = flags
            links.append(Link("compiled", one_line(" ".join(flags)), compiled.place))
            yield f"a processor that fits {' '.join(flags)}"
    devices = tuple(view.wrapper.devices) if view is not None else ()
    device = told.device if told is not None and told.device else None
    if device is not None or devices:
        own = list(dict.fromkeys([*([device] if device else []), *devices]))
        facts["devices"] = own
        if device is None and view is not None:
            links += _include_links(view.wrapper.source)
        capability = told.compute_capability if told is not None else None
        if capability:
            facts["compute_capability"] = capability
        yield f"{' and '.join(own)}{_capability(capability)}"


def _capability(text: str | None) -> str:
    if not text:
        return ""
    number = re.fullmatch(r"(\d+)(\d)([a-z]?)", text)
    return f" of compute capability {number[1]}.{number[2]}{number[3]}" if number else f" {text}"


def _metadata_links(model: PackagedModel) -> Iterator[Link]:
    """Quote the file that torch itself reads."""
    from aoti_logs.code.packages.file import FileRole

    name = next(iter(model.metadata.read), None)
    for file in model.of_role(FileRole.METADATA):
        if file.source is not None and file.name == name:
            yield Link("metadata", one_line(file.source.cut(0, 400)), file.source.place(1))
            return


def _include_links(source: Source) -> Iterator[Link]:
    for match in _INCLUDE.finditer(source.data, 0, 65536):
        yield Link(
            "include", match[0].decode("utf-8", "replace"), source.place(source.line_at(match.start()))
        )


def _operators(model: PackagedModel, links: list[Link]) -> list[str]:
    """Return the operators that come from other libraries than torch."""
    from aoti_logs.code.packages.file import FileRole

    names = [n.target for n in model.extern_nodes if n.target]
    others = [n for n in dict.fromkeys(names) if n.split("::", 1)[0].split(".", 1)[0] not in _OWN]
    listed_in = model.one(FileRole.EXTERN_NODES)
    if others and listed_in is not None and listed_in.source is not None:
        links.append(Link("operators", listed(others, MOST_LINKS), listed_in.source.place(1)))
    return others

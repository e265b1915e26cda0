"""Kernels that read or write at computed indices and do not test them.

## What it says
Which kernels compute an address from values that they read, while the model was compiled with
`assert_indirect_indexing=False`: a Triton kernel says so itself. C++ kernels do not; when no kernel of a model tests an
index although some compute one, the finding is `possible`, and a note.

## Why it matters
An index out of bounds reads or writes memory of something else. With the test there is a text that names the
condition; without it there are wrong numbers, or an illegal memory access somewhere later.

## Example
`2 kernels read or write at computed indices that nothing tests: compiled with assert_indirect_indexing=False`

## Evidence it needs
The kernels' text. Kernels of users and custom operators are not judged: what they test is their own.

## What to do
Compile again with `torch._inductor.config.assert_indirect_indexing = True`, which is the default. On a GPU the tests
cost little; they can also be switched on for one compile, to find a failure.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.inside import Inside, is_defined
from aoti_logs.code.model import Backend
from aoti_logs.code.triton.meta import kernel_meta
from aoti_logs.explain import Confidence, Link
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed, one_line
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.kernel.accesses import MemoryAccess
    from aoti_logs.code.model import Kernel
    from aoti_logs.explain import Finding

RULE = Rule("AL716", "index-unasserted", __doc__ or "")

_SETTING = re.compile(r"""['"]assert_indirect_indexing['"]: False""")
_MOST_READ = 300
"""So many kernels without any check are read for indirect accesses."""
_FIX = "compile again with torch._inductor.config.assert_indirect_indexing = True (the default)"
_BECAUSE = (
    "an index out of bounds then reads or writes other memory: wrong numbers, or a fault in a later kernel"
)


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of kernels that were made without bounds checks."""
    if case.view is None:
        return
    kernels = [k for k in map(case.view.definition, case.view.wrapper.kernel_names) if k is not None]
    defined = [k for k in kernels if is_defined(k)]
    bare = [k for k in defined if not k.asserts]
    off = [k for k in bare if k.backend is Backend.TRITON and _switched_off(k)]
    found = list(islice(_indirect(off), _MOST_READ))
    if found:
        yield _told(case, found)
    if any(k.asserts for k in defined):
        return  # one compile has one setting: what has no check here needs none
    silent = [k for k in bare if k.backend is Backend.CPP]
    found = list(islice(_indirect(silent), _MOST_READ))
    if found:
        yield _maybe(case, found)


def _switched_off(kernel: Kernel) -> bool:
    meta = kernel_meta(kernel)
    return meta is not None and meta.checks_indices is False and meta.kind != "user"


_Found = tuple["Kernel", "MemoryAccess"]


def _indirect(kernels: Sequence[Kernel]) -> Iterator[_Found]:
    for kernel in kernels[:_MOST_READ]:
        access = next((a for a in Inside(kernel).accesses if a.through), None)
        if access is not None:
            yield kernel, access


def _links(found: list[_Found], *, setting: bool) -> Iterator[Link]:
    for kernel, access in found[:MOST_LINKS]:
        lines = list(kernel.source.lines_from(kernel.line, kernel.end_line))
        if setting:
            told = next((n for n, text in enumerate(lines) if _SETTING.search(text)), None)
            if told is not None:
                match = _SETTING.search(lines[told])
                text = f"{kernel.name}: ... {match[0]} ..." if match else kernel.name
                yield Link("setting", text, kernel.source.place(kernel.line + told))
        at = access.line - kernel.line
        text = lines[at] if 0 <= at < len(lines) else kernel.name
        yield Link(access.kind, one_line(text), kernel.source.place(access.line))


def _facts(found: list[_Found]) -> dict[str, object]:
    return {
        "kernels": [k.name for k, _ in found],
        "accesses": [
            {"kernel": k.name, "kind": a.kind, "param": a.pointer, "line": a.line} for k, a in found
        ],
    }


def _told(case: ModelCase, found: list[_Found]) -> Finding:
    number = len(found)
    what = f"`{found[0][0].name}` reads or writes" if number == 1 else f"{number} kernels read or write"
    return case.finding(
        "AL716",
        "index_unasserted",
        f"{what} at computed indices that nothing tests: compiled with assert_indirect_indexing=False",
        warning=True,
        facts={**_facts(found), "assert_indirect_indexing": False},
        links=list(_links(found, setting=True)),
        because=(_BECAUSE,),
        fixes=(_FIX,),
    )


def _maybe(case: ModelCase, found: list[_Found]) -> Finding:
    names = listed(f"`{k.name}`" for k, _ in found)
    return case.finding(
        "AL716",
        "index_unasserted",
        f"no kernel of this model tests an index, and {names} computes one from data",
        confidence=Confidence.POSSIBLE,
        facts=_facts(found),
        links=list(_links(found, setting=False)),
        because=("C++ kernels do not say whether the tests were switched off, or not needed", _BECAUSE),
        decide=(_FIX,),
        fixes=(_FIX,),
        doubt="the compiler leaves a test out where it can prove the index",
    )

"""How close a piece of evidence stands to a wrapper: facts of another compile must not pass for its own."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.sources.source import Source

AOTI = "aoti/"
"""How the names of AOTInductor compiles begin, to which torch gives no id."""
SAME_RUN = 1000
"""At least this near: the evidence stands in the same trace or log as a copy of the wrapper."""


Compile = tuple[str, str | None]
"""The trace or log that holds a record, and its compile id."""


class Witness(Protocol):
    """Evidence that knows where it stands."""

    @property
    def source(self) -> Source:
        """The text that holds it."""


W = TypeVar("W", bound=Witness)


def nearness(witness: Source, compile_id: str | None, copies: Sequence[str]) -> int:
    """Return a number that is larger the closer: same compile, same file, shared folders.

    Args:
        witness: the text that holds the evidence.
        compile_id: its compile id, if it has one.
        copies: names of the sources that hold the wrapper's text (`name_of_copy`, with `#` and the
            compile id for a text inside a trace or log).
    """
    marks, shared = _beside((witness.parent or witness).name, tuple(copies))
    if marks:
        return SAME_RUN + any(_same_compile(mark, witness, compile_id) for mark in marks)
    return min(shared, SAME_RUN - 1)


@lru_cache(maxsize=4096)
def _beside(theirs: str, copies: tuple[str, ...]) -> tuple[tuple[str | None, ...], int]:
    """Return the compiles of the copies in the same trace or log, and how many folders the nearest shares."""
    marks: dict[str | None, None] = {}
    shared = 0
    for copy in copies:
        ours, mark = compile_of_copy(copy)
        if "#" in copy and ours == theirs:
            marks[mark] = None
        else:
            shared = max(shared, _shared_folders(ours, theirs))
    return tuple(marks), shared


def _same_compile(mark: str | None, witness: Source, compile_id: str | None) -> bool:
    if mark is None or not mark.startswith(AOTI):
        return mark == compile_id
    # What is recorded outside of all AOTInductor compiles, as by torch.export before, may be about any of them.
    return compile_id is None and witness.compile in {None, mark}


def name_of_copy(copy: Source) -> str:
    """Return the name of a source that holds generated code, with its compile for a text inside a trace.

    Torch gives AOTInductor's compiles no id, so it is not in the source's own name.
    """
    own = copy.compile if copy.compile_id is None else None
    return f"{copy.name}[{own}]" if own is not None and own.startswith(AOTI) else copy.name


def compile_of_copy(copy: str) -> Compile:
    """Return the file and the compile id in the name of a copy (`trace.log#output_code[0/0]`)."""
    name, _, label = copy.partition("#")
    return name, label.partition("[")[2].partition("]")[0] or None


def compile_of_witness(witness: Source, compile_id: str | None) -> Compile:
    """Return the compile that evidence is about; `compile_of_copy` gives the same for a wrapper's text."""
    return (witness.parent or witness).name, compile_id or witness.compile


def in_trace(witness: Source) -> bool:
    """Tell evidence of a trace, which is about the compiles whose code the trace holds."""
    return (witness.parent or witness).kind is Kind.TORCH_TRACE


def belongs(witness: Source, copies: Sequence[str]) -> bool:
    """Tell whether a file stands where it can be about this wrapper: in a folder above or below it.

    Symbols are hashes of input names since torch 2.7, so another model's may well agree. A trace
    holds the code of what it is about, so one without this wrapper is about another compile.
    """
    holder = witness.parent or witness
    if not copies:
        return True
    if holder.kind is Kind.TORCH_TRACE:
        return nearness(witness, None, copies) >= SAME_RUN
    return _in_line(holder.name, tuple(copies))


@lru_cache(maxsize=4096)
def _in_line(holder: str, copies: tuple[str, ...]) -> bool:
    theirs = _folders(holder)
    return any(a[: min(len(a), len(theirs))] == theirs[: len(a)] for a in map(_folders, copies))


def by_nearness(evidence: Iterable[W], copies: Sequence[str]) -> list[tuple[list[W], bool]]:
    """Group evidence, nearest first; the flag tells whether the group can be about the wrapper."""
    groups: dict[tuple[int, bool], list[W]] = {}
    for item in evidence:
        near = nearness(item.source, getattr(item, "compile_id", None), copies)
        groups.setdefault((near, belongs(item.source, copies)), []).append(item)
    return [(groups[key], key[1]) for key in sorted(groups, key=lambda k: (not k[1], -k[0]))]


def _folders(name: str) -> list[str]:
    return name.partition("!")[0].partition("#")[0].split("/")[:-1]


def _shared_folders(ours: str, theirs: str) -> int:
    left, right = (name.replace("!", "/").split("/")[:-1] for name in (ours, theirs))
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count

"""Which tensors a launch reads and which it writes, as far as the code tells.

For fused kernels Inductor's names of pointer parameters tell (`in_ptr0`, `out_ptr1`, `in_out_ptr0`:
`KernelArgs` in `torch/_inductor/codegen/common.py`), for kernels with names of their own (templates, kernels that a
user wrote) the stores of the body. For calls into ATen, the wrapper's own text tells what is written
(`Launch.outputs`); a call of an operator that is not ATen's may write into what it is given.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.part import written_view
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.wrapper.extern_calls import is_aten, keeps_rest, only_writes, operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aoti_logs.code.buffers.part import Part
    from aoti_logs.code.kernel.store_flow import StoreFlow
    from aoti_logs.code.model import Argument, Launch

TENSORS = frozenset({ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT})
_WORD = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
_LONGEST = 20_000
_POINTER = re.compile(r"(?:(in_out|in|out|ws)_ptr\d*|workspace_ptr\d*)")


@dataclass(frozen=True)
class Access:
    """What a launch does with one of its arguments.

    `read` and `write` are None where the code does not tell. `all` tells whether a write sets every element that
    the argument shows (None: not known; for a fused kernel that is to be told from its loops). `part` is set for a
    view in place. `born` is True for a result that the call itself makes. `open` is True where the kernel's body can
    tell more about `read` and `all` (`refined`).
    """

    name: str
    param: str | None
    read: bool | None
    write: bool | None
    all: bool | None = None
    part: Part | None = None
    born: bool = False
    open: bool = False


def accesses(
    launch: Launch,
    stores: Callable[[], StoreFlow | None],
    arrays: Mapping[str, tuple[str, ...]],
    known: Callable[[str], bool],
) -> tuple[Access, ...]:
    """Return what a launch does with the tensors that it names, one entry an argument or result.

    Args:
        launch: the call.
        stores: gives the stores of the kernel's body; only asked where the names of parameters do not tell.
        arrays: arrays of the wrapper that views name their extents by, and lists of tensors.
        known: tells the name of a tensor.
    """
    if launch.backend is Backend.EXTERN:
        return tuple(_extern(launch, arrays, known))
    return tuple(
        _pointer(a, stores, written_view(a.text, arrays))
        for a in launch.arguments
        if a.name and a.kind in TENSORS
    )


def refined(access: Access, stores: StoreFlow | None) -> Access:
    """Return what the stores of the kernel's body tell more of an access; whether it sets all is left to its loops."""
    param = access.param or ""
    if not access.open or stores is None:
        return access
    first, unread = param in stores.read_first, bool(stores.body.unread)
    # Of several buffers in one memory of an `in_out_ptr0`, all but the last may live inside the kernel only.
    read = True if first else (access.read if unread else False)
    return replace(access, read=read, all=False if stores.stored.get(param) else None, open=False)


def _pointer(argument: Argument, given: Callable[[], StoreFlow | None], part: Part | None) -> Access:
    param = argument.param or ""
    name = argument.name or ""
    named = _POINTER.fullmatch(param)
    if named is not None:
        if named[1] == "in":
            return Access(name, param, True, False, None, part)
        return Access(name, param, None if named[1] == "out" else True, True, None, part, open=True)
    stores = given()
    scattered = None if stores is None else stores.stored.get(param)
    every = False if scattered else None
    first = stores is not None and param in stores.read_first
    if stores is None or param not in stores.params:
        return Access(name, argument.param, None, None, None, part)
    unread = None if stores.body.unread else False
    if scattered is not None:
        return Access(name, param, True if first else unread, True, every, part)
    return Access(name, param, True if first else unread, unread, None, part)


def _tensors(
    launch: Launch, arrays: Mapping[str, tuple[str, ...]], known: Callable[[str], bool]
) -> Iterator[tuple[str, str | None, str]]:
    """Yield (name, parameter, text) of the tensors that an operator is given, those in lists included."""
    for argument in launch.arguments:
        if argument.name and argument.kind in TENSORS:
            # `&buf2_handle` is a result; `&var_1` may be a number, or a tensor that need not be given.
            address = argument.text.startswith("&")
            if not address or (argument.name not in launch.outputs and known(argument.name)):
                yield argument.name, argument.param, argument.text
        elif argument.name is None and argument.kind in {ArgumentKind.OTHER, ArgumentKind.EXPRESSION}:
            for word in _WORD.findall(_STRING.sub("", argument.text[:_LONGEST])):
                for text in arrays.get(word, (word,)):
                    for name in _WORD.findall(text):
                        if known(name):
                            yield name, argument.param, text


def _extern(
    launch: Launch, arrays: Mapping[str, tuple[str, ...]], known: Callable[[str], bool]
) -> list[Access]:
    called = operator(launch.kernel)
    given = list(_tensors(launch, arrays, known))
    named = {name for name, _, _ in given}
    found = [
        Access(name, None, read=False, write=True, all=True, born=True)
        for name in launch.outputs
        if name not in named
    ]
    counts = Counter(name for name, _, _ in given)
    done: set[str] = set()
    for name, param, text in given:
        part = written_view(text, arrays)
        if name not in launch.outputs:
            may_write = None if not is_aten(launch.kernel) else False
            found.append(Access(name, param, True, may_write, None, part))
        elif name not in done:
            # In place: the output is an input as well, or the only mention is both (`index_put_(buf0, ...)`).
            done.add(name)
            # What is not ATen's names a result once, where it puts it.
            result = param == "out" or called.out or not is_aten(launch.kernel)
            in_place = counts[name] > 1 or not result
            reads = in_place and not only_writes(called)
            found.append(Access(name, param, reads, True, not keeps_rest(called), part))
    return found

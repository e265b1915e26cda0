"""The inside of one kernel: its parameters, what it reads and writes, its checks, and slices of its values.

run = aoti_logs.load("model/")
for inside in run.insides("triton_poi_fused_index_0"):
    for check in inside.checks:
        print(check.message, "indexes", check.indexed, "with", check.value)
        print(check.breaking({"ks0": 5, "xnumel": 80}).count)
    print(inside.quoted(inside.slice("tmp4")))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Load, Name, Num, walk
from aoti_logs.code.kernel.accesses import address, memory_accesses
from aoti_logs.code.kernel.arithmetic import Language, integer
from aoti_logs.code.kernel.breaking import Breaking, breaking
from aoti_logs.code.kernel.launch_sizes import sizes_at
from aoti_logs.code.kernel.params import parameters
from aoti_logs.code.kernel.reductions import reductions
from aoti_logs.code.kernel.slice import slice_check, tested_of
from aoti_logs.code.kernel.slice_scope import Scope, resolve
from aoti_logs.code.kernel.value_slice import ValueSlice, slice_expression, slice_line, slice_value
from aoti_logs.code.kernel.wrapped_index import added_to_negative
from aoti_logs.code.model import Backend
from aoti_logs.code.triton.meta import kernel_meta
from aoti_logs.code.view import read_body
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aoti_logs.code.body import Body, Check
    from aoti_logs.code.expr import Expr
    from aoti_logs.code.kernel.accesses import MemoryAccess
    from aoti_logs.code.kernel.params import Parameter
    from aoti_logs.code.kernel.reductions import Reduction
    from aoti_logs.code.kernel.slice import Slice
    from aoti_logs.code.model import Kernel, Launch
    from aoti_logs.code.triton.meta import KernelMeta
    from aoti_logs.code.view import ModelView

PREFIX = "index out of bounds: "
"""What Inductor's own bounds checks print before the condition."""


def is_defined(kernel: Kernel) -> bool:
    """Tell a definition from what only has a name: a declaration, which C++ wrappers have of kernels that stand in
    another file, or a choice among kernels (`async_compile.multi_kernel`).
    """
    least = 1 if kernel.backend is Backend.TRITON else len(kernel.params) + 2
    return kernel.end_line >= kernel.line + least


def check_texts(kernels: Iterable[Kernel]) -> list[str]:
    """Return the conditions that Inductor's bounds checks of kernels print (`0 <= tmp7 < ks0`), one a check.

    A vectorised C++ kernel has the same check in its main loop and in its tail: each of them is one.
    """
    messages = (message for kernel in kernels for _, message in kernel.asserts)
    return [m.removeprefix(PREFIX) for m in messages if m.startswith(PREFIX)]


def checks_of_model(view: ModelView) -> tuple[tuple[str, ...], int]:
    """Return the distinct conditions of all bounds checks in the kernels of a wrapper, sorted, and how many checks.

    The bodies of C++ kernels may stand in the kernel file that goes with the wrapper.
    """
    kernels = (view.definition(name) for name in view.wrapper.kernel_names)
    texts = check_texts(kernel for kernel in kernels if kernel is not None)
    return tuple(sorted(set(texts))), len(texts)


@dataclass(frozen=True)
class CheckInside:
    """One check in the text of a kernel. A vectorised C++ kernel has the same check in its main loop and in its tail;
    each of them is one.
    """

    inside: Inside
    check: Check

    @property
    def message(self) -> str:
        """What it prints when it fails."""
        return self.check.message

    @property
    def line(self) -> int:
        """Its line in the kernel's source."""
        return self.check.line

    @cached_property
    def _limits(self) -> tuple[Expr | None, Expr | None, Expr | None]:
        return tested_of(self.check)

    @property
    def operand(self) -> Expr | None:
        """What is tested: a variable, or an expression where the index has no name of its own; None when the
        condition is no comparison with a limit.
        """
        return self._limits[0]

    @property
    def lower(self) -> Expr | None:
        """The smallest value that passes; None when there is no lower limit."""
        return self._limits[1]

    @property
    def bound(self) -> Expr | None:
        """The limit that the operand must stay below; None when there is none."""
        return self._limits[2]

    @property
    def mask(self) -> Expr | None:
        """The condition under which a lane is tested at all; None for always."""
        return self.check.mask

    @property
    def part(self) -> str:
        """`block` (Triton), `vector`, `vector_tail` or `scalar` (C++)."""
        if self.inside.kernel.backend is Backend.TRITON:
            return "block"
        text = self.inside.text(self.line)
        if "VecMask" not in text:
            return "scalar"
        return "vector_tail" if "::set(" in text else "vector"

    @cached_property
    def sliced(self) -> Slice | None:
        """The slice that explanations use; None when no variable is tested."""
        return slice_check(self.inside.body, self.check)

    @property
    def value(self) -> Expr | None:
        """The operand before wrapping, with short definitions put in (`in_ptr0[y0] - 1`)."""
        return self.sliced.value if self.sliced is not None else self.operand

    @cached_property
    def wraps(self) -> Expr | None:
        """What is added to a negative index before the check; None when the kernel adds nothing."""
        if self.sliced is not None and self.sliced.wraps is not None:
            return self.sliced.wraps
        at = self.inside.body.statements.index(self.check)
        scope = Scope(self.inside.body)
        return None if self.operand is None else added_to_negative(scope, self.operand, at, self.check.scope)

    @cached_property
    def indexed(self) -> tuple[str, ...]:
        """The pointer parameters whose addresses are computed from the operand, nearest first."""
        if self.sliced is not None and self.sliced.accesses:
            return self._params(a.ptr for a in self.sliced.accesses)
        at = self.inside.body.statements.index(self.check)
        value = self.operand
        if isinstance(value, Name):
            value = resolve(Scope(self.inside.body), value, at, self.check.scope)
        if value is None or isinstance(value, Name | Num | Load):
            return ()
        # Inductor writes an index that it computes from sizes alone again into the address.
        after = (a for a in self.inside.accesses if a.line > self.line and a.pointer is not None)
        found = (a.pointer for a in after if any(node == value for node in walk(a.index)))
        return tuple(dict.fromkeys(p for p in found if p is not None))

    @cached_property
    def origins(self) -> tuple[str, ...]:
        """The parameters that the operand is computed from, memory first."""
        if self.sliced is not None:
            return self._params(o.name for o in self.sliced.origins if o.kind in {"load", "param"})
        if self.operand is None:
            return ()
        at = self.inside.body.statements.index(self.check)
        found = slice_expression(self.inside.body, str(self.operand), [(self.operand, "value")], at)
        return (*found.named("load", via="value"), *found.named("size", via="value"))

    def _params(self, found: Iterable[str]) -> tuple[str, ...]:
        """Return the parameters behind names, each once; a local pointer is followed to its own."""
        body = self.inside.body
        scope, end = Scope(body), len(body.statements)
        known = (n if body.param(n) else address(scope, n, Num(0), end, ())[0] for n in found)
        return tuple(dict.fromkeys(n for n in known if n is not None))

    def slice(self) -> ValueSlice:
        """Return the whole backward slice of the condition and of its mask."""
        parts: list[tuple[Expr, str]] = [(self.check.condition, "value")]
        if self.check.mask is not None:
            parts.append((self.check.mask, "condition"))
        at = self.inside.body.statements.index(self.check)
        target = self.message if self.operand is None else str(self.operand)
        return slice_expression(self.inside.body, target, parts, at)

    def limit(self, sizes: Mapping[str, int], launch: Launch | None = None) -> int | None:
        """Return the bound with sizes put in; None when it depends on something else.

        Args:
            sizes: values of scalar parameters (`ks0`), or of symbols of the wrapper when a launch is given.
            launch: the launch that tells which symbol each parameter is.
        """
        known = self.inside.sizes(sizes, launch)
        return None if self.bound is None else integer(self.bound, known, self.inside.language)

    def breaking(self, sizes: Mapping[str, int], launch: Launch | None = None) -> Breaking:
        """Return which elements break the check for given sizes; arguments as in `limit`."""
        known = self.inside.sizes(sizes, launch)
        vectors = self.inside.vectors
        found = breaking(self.inside.body, self.check, known, self.inside.language, vectors=vectors)
        if found.count and self.check.mask is not None and self._is_excused():
            return replace(found, exact=False, why="`~` of a C++ bool is never 0, so this check never fails")
        return found

    def _is_excused(self) -> bool:
        """Tell a check of C++ that a `bool` excuses: Inductor writes `(test) | ~(mask)`, and `~true` is -2."""
        return (
            self.inside.language is Language.CPP
            and self.part == "scalar"
            and "| ~(" in self.inside.text(self.line)
        )


class Inside:
    """One kernel; its body is read when something asks for it.

    Args:
        kernel: a definition (a declaration has nothing inside).
        body: its body, when it was read before.
    """

    def __init__(self, kernel: Kernel, body: Body | None = None) -> None:
        self.kernel = kernel
        self._body = body

    def __repr__(self) -> str:
        place = self.kernel.source.place(self.kernel.line)
        return f"<Inside of {self.kernel.name} in {place.source}, line {place.line}>"

    @property
    def body(self) -> Body:
        """Its statements."""
        if self._body is None:
            self._body = read_body(self.kernel)
        return self._body

    @property
    def language(self) -> Language:
        """Whose rules of arithmetic hold."""
        return Language.TRITON if self.kernel.backend is Backend.TRITON else Language.CPP

    @cached_property
    def meta(self) -> KernelMeta | None:
        """What stands above a Triton kernel; None for C++ and for a kernel without decorator."""
        return kernel_meta(self.kernel)

    @cached_property
    def _lines(self) -> list[str]:
        return list(self.kernel.source.lines_from(self.kernel.line, self.kernel.end_line))

    def text(self, line: int) -> str:
        """Return a line of the kernel's source, stripped; empty when it is none of the kernel's."""
        at = line - self.kernel.line
        return self._lines[at].strip() if 0 <= at < len(self._lines) else ""

    @cached_property
    def vectors(self) -> bool:
        """True for a C++ kernel that handles several elements at once."""
        return any("at::vec::" in line for line in self._lines)

    @cached_property
    def openmp(self) -> bool:
        """True for a C++ kernel that several threads run."""
        return any("#pragma omp parallel" in line for line in self._lines)

    @cached_property
    def accesses(self) -> tuple[MemoryAccess, ...]:
        """Reads and writes of memory in program order."""
        return memory_accesses(self.body)

    @cached_property
    def reductions(self) -> tuple[Reduction, ...]:
        """Reductions and scans in program order."""
        return reductions(self.body)

    @cached_property
    def params(self) -> tuple[Parameter, ...]:
        """Parameters in order; the body is looked at only where names do not tell what they are for."""
        found = parameters(self.kernel, self.meta)
        if all(p.role != "pointer" for p in found):
            return found
        read = {a.pointer for a in self.accesses if a.kind in {"load", "atomic", "call"} and a.pointer}
        written = {a.pointer for a in self.accesses if a.kind in {"store", "atomic", "call"} and a.pointer}
        return parameters(self.kernel, self.meta, read, written)

    @cached_property
    def checks(self) -> tuple[CheckInside, ...]:
        """Checks in program order; one that a function makes which is called twice stands in the text once."""
        found: dict[tuple[int, str], CheckInside] = {}
        for check in self.body.checks:
            found.setdefault((check.line, check.message), CheckInside(self, check))
        return tuple(found.values())

    @property
    def unread(self) -> tuple[tuple[int, str], ...]:
        """(line, text) of statements that could not be taken apart; slices that pass one are not complete."""
        return self.body.unread

    def slice(self, name: str, line: int | None = None) -> ValueSlice | None:
        """Return where a variable's value comes from; None when nothing up to that line assigns it.

        Args:
            name: the variable (`tmp4`).
            line: a line of the source; the last assignment up to it counts. None for the last one of all.
        """
        return slice_value(self.body, name, line)

    def slice_line(self, line: int) -> tuple[ValueSlice, ...]:
        """Return where what stands on a line comes from; empty when nothing there computes."""
        return slice_line(self.body, line)

    def quoted(self, found: ValueSlice) -> tuple[tuple[int, str], ...]:
        """Return the statements of a slice as (line, text)."""
        return tuple((line, self.text(line)) for line in found.lines)

    def sizes(self, sizes: Mapping[str, int], launch: Launch | None = None) -> dict[str, int]:
        """Return values of scalar parameters: those given, those of a launch, and what the kernel was compiled for."""
        constants = {p.name: p.constant for p in self.params if p.constant is not None}
        known = {name: int(text) for name, text in constants.items() if text.lstrip("-").isdecimal()}
        if launch is not None:
            cpp = sizes_at(launch, sizes)
            if self.kernel.source.kind is not Kind.WRAPPER_CPP:
                # Wrappers of both languages launch a kernel in a file of its own: what they agree on is known.
                python = sizes_at(launch, sizes, python=True)
                cpp = {name: value for name, value in cpp.items() if python.get(name) == value}
            known |= cpp
        return known | dict(sizes)

"""The inside of one kernel: assignments, stores, checks and loops in program order.

The same shape serves Triton (`code/triton/body.py`) and C++ (`code/cpp/body.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.code.expr import Expr


@dataclass(frozen=True)
class Param:
    """A formal parameter. `dtype` is as written in the kernel (`*i64`, `const int64_t*`, `constexpr`), empty where it is not."""

    name: str
    dtype: str
    pointer: bool


@dataclass(frozen=True)
class Assign:
    """`target = value`. `scope` is the path of block numbers around it (a value is visible in its
    own block and the blocks inside); a C++ kernel reuses names such as `tmp0` in sister blocks.
    """

    target: str
    value: Expr
    line: int
    scope: tuple[int, ...] = ()
    inside: tuple[int, ...] | None = None
    """The block that the statement stands in, and in which the names of its value are looked up, where
    that is not `scope`: an accumulator of an outer block that is updated in an inner one."""


@dataclass(frozen=True)
class Store:
    """A write to memory through a pointer parameter; `atomic` for atomic adds and the like.

    `operation` is what does it, as written (`tl.atomic_add`, `atomic_add_vec`), empty for a plain store. `mask`
    is the condition under which it is done (Triton), if any; None stands for always.
    """

    ptr: str
    index: Expr
    value: Expr
    line: int
    atomic: bool = False
    scope: tuple[int, ...] = ()
    mask: Expr | None = None
    operation: str = ""


@dataclass(frozen=True)
class Check:
    """A bounds check: `message` is what it prints, `condition` what it tests, `mask` the part that
    excuses lanes which are switched off.
    """

    message: str
    condition: Expr
    line: int
    mask: Expr | None = None
    scope: tuple[int, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A loop: `var` runs from `start` to `stop` (excluded; None when the head does not tell).

    `step` is what it grows by each round. A vectorised C++ loop grows by the width of its vectors, and its body is
    meant for each element of them: every whole number from `start` to `stop` is one.
    """

    var: str
    start: Expr
    stop: Expr | None
    line: int
    scope: tuple[int, ...] = ()
    step: Expr | None = None


@dataclass(frozen=True)
class Guard:
    """The condition of an `if`: the statements whose scope begins with `scope` run only where it holds.

    What `else` controls has the condition's negation.
    """

    condition: Expr
    line: int
    scope: tuple[int, ...] = ()


Statement = Assign | Store | Check | Loop | Guard


@dataclass(frozen=True)
class Body:
    """One kernel's body. Line numbers are those of the source that the kernel stands in.

    `unread` holds (line, text) of statements that could not be taken apart: a slice that would
    have to pass one of them says so instead of guessing.
    """

    name: str
    params: tuple[Param, ...]
    statements: tuple[Statement, ...]
    unread: tuple[tuple[int, str], ...] = ()
    functions: tuple[str, ...] = ()
    """Names of the functions that stand beside the kernel and that it may call or hand on."""
    axes: bool = False
    """Blocks are turned onto axes (`x[:, None]`): two uses of one `tl.arange` may be different lanes."""

    def param(self, name: str) -> Param | None:
        """Return the parameter of that name."""
        return next((p for p in self.params if p.name == name), None)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The bounds checks in program order."""
        return tuple(s for s in self.statements if isinstance(s, Check))

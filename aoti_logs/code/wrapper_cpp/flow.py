"""Where a statement of a C++ wrapper stands: the conditions around it, the subgraph it belongs to, its Python stack.

`torch/_inductor/codegen/cpp_wrapper_cpu.py` writes subgraphs of `torch.cond` and `while_loop` in place, in a block with
`// subgraph: true_graph_0` as its first line (`codegen_subgraph`); a loop's block holds two, one after the other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.blocks import Blocks

if TYPE_CHECKING:
    from aoti_logs.code.model import Within

GATE = "_check_aoti_runtime_check_inputs_env"
_SUBGRAPH = re.compile(r"// subgraph: (\w+)\s*$")
_CONTROL = re.compile(r"(?:else\b|if\b|while\b|for\b|do\b|switch\b|try\b|catch\b)")
_OF_THE_LAUNCH = re.compile(r"if \(\w+_grid_\d+\.is_non_zero\(\)\)$")
_LAMBDA = "[&](auto&& _t)"


class Flow:
    """The blocks that are open."""

    def __init__(self) -> None:
        self._heads: list[str] = []
        self._stacks: list[str | None] = [None]
        self._subgraphs: list[str | None] = [None]
        self._closed = ""
        self._branch: tuple[str, ...] | None = ()
        self._blocks = Blocks()
        self.within: Within = ()
        """The statements that `branch` means."""

    def open(self, head: str) -> bool:
        """Enter a block; False when its head is no control flow that is known."""
        counted = GATE not in head and not _OF_THE_LAUNCH.match(head)
        self.within = self._blocks.open(head if counted else "")
        if head == "else" or head.startswith("else "):
            # `else` alone says nothing: two conditions one after the other have one each.
            head = f"{head} of {self._closed}" if self._closed else head
        self._heads.append(head)
        self._stacks.append(self._stacks[-1])
        self._subgraphs.append(self._subgraphs[-1])
        self._branch = None
        return not head or head == _LAMBDA or _CONTROL.match(head) is not None

    def close(self) -> bool:
        """Leave a block; False when none is open."""
        if not self._heads:
            return False
        self.within = self._blocks.close()
        self._closed = self._heads.pop()
        self._stacks.pop()
        self._subgraphs.pop()
        self._branch = None
        return True

    def comment(self, text: str) -> bool:
        """Take a line that names the subgraph of the rest of the block; False for any other comment."""
        match = _SUBGRAPH.match(text)
        if match is None:
            return False
        outer = self._subgraphs[-2] if len(self._subgraphs) > 1 else None
        self._subgraphs[-1] = match[1] if outer is None else f"{outer}_{match[1]}"
        return True

    def guard(self, stack: str | None) -> None:
        """Take the Python stack that a `KernelContextGuard` names for the rest of the block."""
        self._stacks[-1] = stack

    @property
    def depth(self) -> int:
        """How many blocks are open."""
        return len(self._heads)

    @property
    def head(self) -> str:
        """The head of the innermost block."""
        return self._heads[-1] if self._heads else ""

    @property
    def gated(self) -> bool:
        """Whether the statement is run only when AOTI_RUNTIME_CHECK_INPUTS is set."""
        return any(GATE in head for head in self._heads)

    @property
    def stack(self) -> str | None:
        """The Python stack named for the statement."""
        return self._stacks[-1]

    @property
    def subgraph(self) -> str | None:
        """The name of the graph that the statement belongs to, outer graphs first; None for the model's own."""
        return self._subgraphs[-1]

    @property
    def branch(self) -> tuple[str, ...]:
        """The control flow around the statement, outermost first."""
        if self._branch is None:
            self._branch = tuple(
                h for h in self._heads if h and h != _LAMBDA and GATE not in h and not _OF_THE_LAUNCH.match(h)
            )
        return self._branch

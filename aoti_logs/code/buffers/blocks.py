"""Control flow around statements: which of them exclude each other, and which come before which.

Wrappers branch and loop for `torch.cond` and `while_loop` only, so a path of (statement, arm) pairs tells all that
there is: see `model.Within`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import LOOP

if TYPE_CHECKING:
    from aoti_logs.code.model import Within

_LOOP = re.compile(r"(?:while|for|do)\b")
_BRANCH = re.compile(r"(?:if|else|elif|switch|case|catch|except)\b")


class Blocks:
    """Numbers blocks while they are read: call `open` and `close` as they come."""

    def __init__(self) -> None:
        self._count = 0
        self._stack: list[tuple[int, int] | None] = []
        self._last: dict[int, tuple[int, int]] = {}
        """Depth -> the block that was closed last there: an `else` belongs to it."""

    def open(self, head: str) -> Within:
        """Enter a block; a head that neither branches nor loops changes nothing. Return the path inside."""
        depth = len(self._stack)
        if head.startswith(("else", "elif", "case", "catch", "except")) and depth in self._last:
            number, arm = self._last[depth]
            block: tuple[int, int] | None = (number, max(arm, 0) + (1 if head == "else" and arm == 0 else 2))
        elif _LOOP.match(head) or _BRANCH.match(head):
            block = (self._count, LOOP if _LOOP.match(head) else 0)
            self._count += 1
        else:
            block = None
        self._stack.append(block)
        return self.path

    def close(self) -> Within:
        """Leave a block. Return the path outside."""
        if self._stack:
            depth = len(self._stack) - 1
            block = self._stack.pop()
            for deeper in [d for d in self._last if d >= depth]:
                del self._last[deeper]
            if block is not None:
                self._last[depth] = block
        return self.path

    @property
    def path(self) -> Within:
        """The blocks around the next statement, outermost first."""
        return tuple(block for block in self._stack if block is not None)


def around(one: Within, other: Within) -> bool:
    """Tell whether every block around one statement is around another as well."""
    return other[: len(one)] == one


def exclusive(one: Within, other: Within) -> bool:
    """Tell whether two statements stand in different arms of one `if`: one round of a loop runs one of them."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return left[0] == right[0]
    return False


def loops(within: Within) -> list[Within]:
    """Return the paths of the loops around a statement, the innermost first."""
    return [within[: n + 1] for n in reversed(range(len(within))) if within[n][1] == LOOP]

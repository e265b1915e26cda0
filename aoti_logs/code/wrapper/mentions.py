"""Which calls of a wrapper name a buffer, told from their text: the others need not be bound to be ruled out."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_WORD = re.compile(r"[^\W\d]\w*")


class Mentions:
    """The words of all calls, by word.

    Args:
        calls: what is written of each call (text, arguments, outputs), in program order.
        stands_for: variables that only pass something on, with the text they were set to.
    """

    def __init__(self, calls: Iterable[Iterable[str]], stands_for: Mapping[str, str]) -> None:
        self._calls: dict[str, list[int]] = defaultdict(list)
        for index, texts in enumerate(calls):
            for word in {w for text in texts for w in (text, *_WORD.findall(text))}:
                self._calls[word].append(index)
        self._passing: dict[str, list[str]] = defaultdict(list)
        for variable, text in stands_for.items():
            for word in {text, *_WORD.findall(text)}:
                self._passing[word].append(variable)

    def of(self, names: Collection[str]) -> list[int]:
        """Return the calls that name one of these, or a variable that stands for one, in program order."""
        found: set[int] = set()
        todo, seen = list(names), set(names)
        while todo:
            word = todo.pop()
            found.update(self._calls.get(word, ()))
            new = [v for v in self._passing.get(word, ()) if v not in seen]
            seen.update(new)
            todo += new
        return sorted(found)

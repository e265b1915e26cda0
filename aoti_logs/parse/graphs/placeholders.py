"""The inputs of a printed graph: those in its head, and those that its first statements unpack."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.parse.facts import Placeholder, Placeholders
from aoti_logs.parse.graphs.graph_head import described_input, lifted, machine_made, read_head, user_name
from aoti_logs.parse.graphs.graph_statement import read_statements

if TYPE_CHECKING:
    from aoti_logs.parse.graphs.graph_statement import Statement

_LONGEST_KEPT = 1 << 13


class Inputs:
    """Collects a graph's inputs while its text is read; lines count from 0 at the line with `def`."""

    def __init__(self) -> None:
        self.by_name: dict[str, Placeholder] = {}

    def head(self, text: str) -> None:
        """Take the parameters of a head, from `def` to the colon."""
        for parameter in read_head(text):
            if not parameter.starred:
                self._add(parameter.name, parameter.annotation, parameter.line - 1, parameter.descriptor)

    def statement(self, statement: Statement, text: str, line: int) -> None:
        """Take a statement that adds or chooses inputs; `text` is its line, with the comment."""
        if statement.kind == "input":
            descriptor = text.rpartition("#")[2].strip() if "#" in text else None
            self._add(statement.name, statement.annotation, line, descriptor)
        elif statement.kind == "inputs":
            old = self.by_name
            self.by_name = {}
            for name in statement.names:
                known = old.get(name)
                if known is not None:
                    self.by_name[name] = known
                else:
                    self._add(name, None, line, None)

    def _add(self, name: str, annotation: str | None, line: int, descriptor: str | None) -> None:
        index, target = described_input(descriptor) if descriptor else (None, None)
        self.by_name[name] = Placeholder(name, annotation, line, index, target or user_name(name))

    def placeholders(self, *, named: bool) -> Placeholders:
        """Return the inputs in order.

        Args:
            named: the graph is of a class of the user's, whose inputs have the user's names, unless
                AOTAutograd made some of them.
        """
        inputs = Placeholders(self.by_name.values())
        if named and not any(machine_made(i.name) and i.annotation != f"Sym({i.name})" for i in inputs):
            return Placeholders(
                i if i.user_name or not _given(i) else i._replace(user_name=i.name) for i in inputs
            )
        return inputs


def placeholders(head: str, lines: tuple[tuple[int, str], ...], *, named: bool) -> Placeholders:
    """Return the inputs of a graph from its head and from the lines below that can add some.

    The same head is printed at several stages of a compile, and by every rank: those of one head are
    the same object.

    Args:
        head: from `def` to the colon.
        lines: (line, text) of these lines.
        named: see `Inputs.placeholders`.
    """
    size = len(head) + sum(len(text) for _, text in lines)
    read = _placeholders if size <= _LONGEST_KEPT else _placeholders.__wrapped__
    return read(head, lines, named)


@lru_cache(maxsize=1024)
def _placeholders(head: str, lines: tuple[tuple[int, str], ...], named: bool) -> Placeholders:
    inputs = Inputs()
    inputs.head(head)
    for line, text in lines:
        for statement in read_statements(text):
            inputs.statement(statement, text, line)
    return inputs.placeholders(named=named)


def _given(placeholder: Placeholder) -> bool:
    return not machine_made(placeholder.name) and not lifted(placeholder.name)

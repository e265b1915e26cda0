"""From paths to sources: files, folders, archives, stdin."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aoti_logs.errors import LoadError
from aoti_logs.sources import kinds
from aoti_logs.sources.disk import read_all, read_head
from aoti_logs.sources.opened import Item, Problem, open_item
from aoti_logs.sources.report import group
from aoti_logs.sources.source import Kind, Role, Source, Unread
from aoti_logs.sources.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Found", "Problem", "find"]

_STDIN = "-"
_SUBJECTS = frozenset({Kind.LOG, Kind.TORCH_TRACE})
_HIDDEN_KINDS = frozenset(
    {Kind.TORCH_TRACE, Kind.PACKAGE, Kind.WRAPPER_CPP, Kind.KERNEL_CPP, Kind.OUTPUT_CODE, Kind.TRITON_KERNEL}
)
_NO_USE = {
    Kind.BINARY: "it is a binary file of no kind that is read here",
    Kind.ARCHIVE: "there is nothing to read in it",
}


@dataclass(frozen=True)
class Found:
    """What the paths led to.

    `subjects` are asked about, `context` is consulted for evidence. `problems` are files and
    archive members that could not be read; `unread` are files and members that are there all the
    same: those, and the binary ones that nobody reads (libraries, cubins, saved tensors).
    """

    subjects: tuple[Source, ...] = ()
    context: tuple[Source, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def skipped(self) -> tuple[str, ...]:
        """Names of the binary files."""
        return tuple(file.name for file in self.unread if file.problem is None)

    def __iter__(self) -> Iterator[Source]:
        """Iterate over all sources, subjects first."""
        yield from self.subjects
        yield from self.context


def find(paths: Sequence[str | os.PathLike[str]], context: Sequence[str | os.PathLike[str]] = ()) -> Found:
    """Find what there is to read.

    Of a folder or archive, logs and traces are subjects and the rest is context; what is named
    itself is a subject whatever it is. A file reached twice is there once, as subject if it is one.

    Args:
        paths: what to explain: files, folders, archives, packages, `-` for stdin.
        context: what is only consulted.

    Raises:
        LoadError: a path does not exist or may not be read, or there is nothing to read in it.
    """
    finder = _Finder(alone=len(paths) == 1)
    for path in paths:
        finder.take(os.fspath(path), asked=True)
    for path in context:
        finder.take(os.fspath(path), asked=False)
    return finder.found()


class _Finder:
    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.sources: list[Source] = []
        self.problems: list[Problem] = []
        self.unread: list[Unread] = []
        self.files: set[str] = set()
        self.names: set[str] = set()
        self.asked: set[int] = set()

    def found(self) -> Found:
        sources, links = group(self.sources, self.asked)
        self.problems.extend(Problem(name, sentence) for name, sentence in links)
        return Found(
            tuple(source for source in sources if source.role is Role.SUBJECT),
            tuple(source for source in sources if source.role is Role.CONTEXT),
            tuple(self.problems),
            tuple(self.unread),
        )

    def take(self, text: str, *, asked: bool) -> None:
        if text == _STDIN:
            self._stdin(asked=asked)
            return
        path = Path(text)
        try:
            is_folder = path.is_dir()
            if not is_folder and not path.exists():
                raise LoadError(f"{text} does not exist")
        except OSError as error:
            raise LoadError(f"{text} cannot be read: {error.strerror}") from None
        except ValueError:
            raise LoadError(f"{text!r} is no path") from None
        if is_folder:
            self._folder(path, asked=asked)
        else:
            self._file(path, asked=asked)

    def _stdin(self, *, asked: bool) -> None:
        import sys

        data = sys.stdin.buffer.read()
        item = Item("stdin", data[: kinds.HEAD], len(data), lambda _: data, None)
        self._add(item, asked=asked, named=True)

    def _file(self, path: Path, *, asked: bool) -> None:
        if not self._new(path):
            return
        name = self._name(path.name, str(path))
        try:
            item = _pipe_item(name, path) if path.is_fifo() else _disk_item(name, path)
        except OSError as error:
            raise LoadError(f"{path} cannot be read: {error.strerror}") from None
        before = len(self.sources), len(self.problems)
        self._add(item, asked=asked, named=True)
        if len(self.sources) == before[0] and (self.alone or not asked):
            reasons = [problem.sentence for problem in self.problems[before[1] :]]
            raise LoadError(f"{path} cannot be read: {reasons[0] if reasons else _NO_USE[Kind.BINARY]}")

    def _folder(self, folder: Path, *, asked: bool) -> None:
        before = len(self.sources)
        count = 0
        problems = len(self.problems)
        for text in walk(folder, lambda path, sentence: self.problems.append(Problem(path, sentence))):
            path = Path(text)
            count += 1
            if not self._new(path):
                before -= 1  # read already: the folder is not empty
                continue
            inside = path.relative_to(folder).as_posix()
            try:
                item = _disk_item(self._name(inside, text), path)
            except OSError as error:
                self.problems.append(Problem(text, f"it cannot be read: {error.strerror}"))
                continue
            if path.name.startswith(".") and kinds.tell(item.head, inside) not in _HIDDEN_KINDS:
                self.unread.append(Unread(item.name, item.size, path))
                continue
            self._add(item, asked=asked, named=False)
        if len(self.sources) > before:
            return
        reasons = [problem.sentence for problem in self.problems[problems:]]
        sentence = f"there is nothing to read in it ({count} files)" if count else "the folder is empty"
        if reasons:
            sentence += f"; {reasons[0]}"
        if asked:
            raise LoadError(f"{folder}: {sentence}")
        self.problems.append(Problem(str(folder), sentence))

    def _new(self, path: Path) -> bool:
        real = os.path.realpath(path)
        if real in self.files:
            return False
        self.files.add(real)
        return True

    def _name(self, short: str, long: str) -> str:
        """Return the short name of a file, the one it was given by where two files share the short one."""
        name = long if short in self.names else short
        self.names.add(name)
        return name

    def _add(self, item: Item, *, asked: bool, named: bool) -> None:
        opened = open_item(item)
        self.problems.extend(opened.problems)
        self.unread.extend(opened.unread)
        for source in opened.sources:
            own = named and source.parent is None
            if own and source.kind is Kind.TEXT and kinds.is_document(source.name):
                source.kind = Kind.LOG  # a report with a log pasted into it
            subject = asked and (own or source.kind in _SUBJECTS)
            source.role = Role.SUBJECT if subject else Role.CONTEXT
            source.asked = asked
            if asked:
                self.asked.add(id(source))
            self.sources.append(source)


def _disk_item(name: str, path: Path) -> Item:
    head, size = read_head(path, kinds.HEAD)
    return Item(name, head, size, lambda problems: read_all(path, problems), path)


def _pipe_item(name: str, path: Path) -> Item:
    """Take what comes out of a pipe: `explain <(kubectl logs pod)`."""
    data = path.read_bytes()
    return Item(name, data[: kinds.HEAD], len(data), lambda _: data, path)

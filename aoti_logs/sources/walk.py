"""Files of a folder: sorted, each once, without the folders that hold nothing of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NOT_OURS = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        "node_modules",
        "site-packages",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
    ]
)
_NOT_OURS_SUFFIX = (".pyc", ".pyo", ".lock", "~", ".swp")


def walk(folder: Path, fail: Callable[[str, str], None]) -> Iterator[str]:
    """Yield the paths of the files in a folder, folders after files, both sorted.

    A folder reached twice (a link back up) is read once; sockets, pipes and devices are left out.

    Args:
        folder: where to begin.
        fail: told the path and a sentence for what cannot be listed.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        try:
            here = Path(path).stat()
            if (here.st_dev, here.st_ino) in seen:
                continue
            seen.add((here.st_dev, here.st_ino))
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            fail(path, f"the folder cannot be read: {error.strerror}")
            continue
        folders = []
        for entry in found:
            try:
                if entry.is_dir():
                    if entry.name not in _NOT_OURS:
                        folders.append(entry.path)
                elif entry.is_file():
                    if not entry.name.endswith(_NOT_OURS_SUFFIX):
                        yield entry.path
                elif entry.is_symlink():
                    fail(entry.path, "the link leads nowhere")
            except OSError as error:
                fail(entry.path, f"it cannot be read: {error.strerror}")
        waiting.extend(reversed(folders))

"""The folder of a report: which one may be replaced, and how it gets into its place.

Nothing is deleted that tlparse or this program did not write. A folder counts as a report when every
file in it has a name that they give; a file of anybody else in it is reason enough to leave it alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from aoti_logs.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "findings.html"
"""Our page in a report."""
_FILES = frozenset(
    {
        "index.html",
        "failures_and_restarts.html",
        "compile_directory.json",
        "chromium_events.json",
        "chromium_trace_with_runtime.json",
        "collective_schedules.json",
        "collectives_parity.json",
        "runtime_estimations.json",
        "raw.log",
        "raw.jsonl",
        "tlparse_index.html",
        PAGE,
    }
)
_PROVENANCE = re.compile(r"provenance_tracking_(?:[-!\d_]+|\(unknown\))\.html")
_COMPILE = re.compile(r"(?:-|\d+)_(?:-|\d+)_(?:-|\d+)_(?:-|\d+)|unknown_\d+")
_REPORT = re.compile(r"(?:rank|process)_\d+")
_DUMP = re.compile(r"(?s).*_\d+(?:_readable)?(?:\.(?:txt|json|html))?")
_PAYLOAD = re.compile(r"[0-9A-Fa-f]{32}\.txt")


def raw_logs(folder: Path) -> list[Path]:
    """Return the traces that a report carries; empty for a folder that is none."""
    if not _has_pages(folder):
        return []
    reports = [folder, *sorted(p for p in folder.iterdir() if _REPORT.fullmatch(p.name) and p.is_dir())]
    return [report / "raw.log" for report in reports if (report / "raw.log").is_file()]


def _has_pages(folder: Path) -> bool:
    try:
        names = {entry.name for entry in os.scandir(folder)}
    except OSError:
        return False
    if "index.html" not in names:
        return False
    return (
        not names.isdisjoint({"compile_directory.json", PAGE})
        or any(_REPORT.fullmatch(name) for name in names)
        or is_export_report(folder)
    )


def is_export_report(folder: Path) -> bool:
    """Tell whether tlparse -e wrote a folder."""
    try:
        with (folder / "index.html").open("rb") as index:
            return b"<h1>Draft Export Report</h1>" in index.read(1 << 16)
    except OSError:
        return False


def _foreign(folder: Path) -> Iterator[str]:
    """Yield what in a report is neither tlparse's nor ours."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_symlink():
                yield name
            elif entry.is_dir():
                if _REPORT.fullmatch(name):
                    yield from (f"{name}/{inner}" for inner in _foreign(Path(entry.path)))
                elif _COMPILE.fullmatch(name):
                    yield from _foreign_files(entry.path, name, _DUMP)
                elif name == "payloads":
                    yield from _foreign_files(entry.path, name, _PAYLOAD)
                elif name == "dump_file":
                    yield from _foreign_files(entry.path, name, re.compile(r"(?s).*\.html"))
                else:
                    yield name
            elif not (entry.is_file() and (name in _FILES or _PROVENANCE.fullmatch(name))):
                yield name


def _foreign_files(folder: str, inside: str, known: re.Pattern[str]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{inside}/{entry.name}"
            if entry.is_symlink():
                yield name
            elif entry.is_dir():
                yield from _foreign_files(entry.path, name, known)
            elif not (entry.is_file() and known.fullmatch(entry.name)):
                yield name


class Target:
    """The folder that a report is to become.

    It is built beside its place and moved there when it is complete, so that a report that fails leaves
    the old one alone.

    Args:
        folder: where the report is to be.
        overwrite: replace a report that is there.

    Raises:
        LoadError: it cannot or must not be written there.
    """

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self.folder = folder
        self._replace = False
        if folder.is_symlink():
            raise LoadError(f"{folder} is a link; give the folder itself")
        if not folder.exists():
            return
        if not folder.is_dir():
            raise LoadError(f"{folder} is no folder")
        if Path.cwd().is_relative_to(folder.resolve()):
            raise LoadError(f"{folder} is where you are; choose another -o")
        try:
            with os.scandir(folder) as entries:
                empty = next(entries, None) is None
            foreign = None if empty else next(_foreign(folder), None)
        except OSError as error:
            raise LoadError(f"{folder} cannot be read: {error.strerror}") from None
        if empty:
            return
        if foreign is not None or not _has_pages(folder):
            reason = f"it holds {foreign}" if foreign is not None else "it holds no page of a report"
            raise LoadError(
                f"{folder} exists and is no report ({reason}), so it is not touched; choose another -o"
            )
        if not overwrite:
            raise LoadError(
                f"{folder} exists; pass --overwrite to replace the report there, or choose another -o"
            )
        self._replace = True

    def build(self) -> Path:
        """Return a new folder beside the place, for all that is made on the way."""
        import tempfile

        try:
            self.folder.absolute().parent.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".aoti_report_", dir=self.folder.absolute().parent))
        except OSError as error:
            raise LoadError(f"{self.folder} cannot be written: {error.strerror}") from None

    def place(self, built: Path) -> None:
        """Move a complete report into its place."""
        import shutil

        folder = self.folder.absolute()
        try:
            if self._replace:
                old = built.parent / "replaced"
                folder.rename(old)
                built.rename(folder)
                shutil.rmtree(old, ignore_errors=True)
                return
            if folder.exists():
                folder.rmdir()
            built.rename(folder)
        except OSError as error:
            raise LoadError(f"{self.folder} cannot be written: {error.strerror}") from None

"""What is given to `report`: traces, folders of them, and reports that exist already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aoti_logs.errors import LoadError
from aoti_logs.report.folder import is_export_report, raw_logs
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.sources.source import Source


def expand(paths: Sequence[str]) -> list[str]:
    """Put the traces that a report carries in the place of the report's folder.

    Raises:
        LoadError: a report carries none.
    """
    expanded: list[str] = []
    for path in paths:
        folder = Path(path)
        if path == "-" or not folder.is_dir():
            expanded.append(path)
            continue
        logs = raw_logs(folder)
        if not logs and is_export_report(folder):
            raise LoadError(
                f"{path} is a report of tlparse -e, which carries no trace; give the trace itself"
            )
        expanded += [str(log) for log in logs] or [path]
    return expanded


def traces(subjects: Sequence[Source]) -> list[Source]:
    """Return the traces; where there is none, the text that was named, as tlparse takes any.

    Raises:
        LoadError: there is nothing that tlparse could be given.
    """
    found = [source for source in subjects if source.kind is Kind.TORCH_TRACE]
    found = found or [source for source in subjects if source.kind is Kind.LOG and len(subjects) == 1]
    if not found:
        raise LoadError("there is no TORCH_TRACE file in what was given; `aoti-logs explain` reads the rest")
    return found

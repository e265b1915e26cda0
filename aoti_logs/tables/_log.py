"""Where a row stands that a log tells: the first columns of tables that traces and logs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.logs.whole_messages import readable_id

if TYPE_CHECKING:
    from aoti_logs.parse.events import LogLine
    from aoti_logs.sources.source import Source
    from aoti_logs.tables._trace import Here


def here(source: Source, message: LogLine, line: int) -> Here:
    """Return file, line, compile id and rank; a log has no id for AOTInductor's compiles and exports."""
    return source.name, line, readable_id(message), rank_of(source, message)


def rank_of(source: Source, message: LogLine) -> int | None:
    """Return the rank of a message's prefix, else that of the file's name."""
    return message.rank if message.rank is not None else source.rank

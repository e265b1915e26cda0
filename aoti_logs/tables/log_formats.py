"""The logs in which torch's loggers wrote, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.logs.count_bytes import count_bytes
from aoti_logs.parse.logs.log_totals import NO_LOGGER, prefixed_lines, totals
from aoti_logs.parse.logs.printed_text import GRAPH, printed_texts
from aoti_logs.parse.logs.whole_messages import whole_messages
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs._run import Run
    from aoti_logs.parse.events import LogLine


class LogFormats(dy.Schema):
    """One row a log with messages of torch's loggers (TORCH_LOGS, warnings, C++); what they are is in `log_summary`."""

    source = t.source()
    log_format = dy.String(
        nullable=False,
        description="Style of most messages: `default`; `short` (`LEVEL:logger:text`); `bracket` (torch up to 2.3); "
        "`cpp`; or the %-format of Python's logging that its lines show.",
    )
    quoted = dy.Bool(
        nullable=False, description="Whether messages stand in a quotation (`> ` of Markdown or mail)."
    )
    n_lines = dy.Int64(nullable=False, description="Lines of the file.")
    n_records = dy.Int64(nullable=False, description="Lines with a prefix of any style.")
    n_glog_records = dy.Int64(
        nullable=False, description="Lines with a prefix of the default style, that of glog."
    )
    n_unprefixed_lines = dy.Int64(
        nullable=False, description="Lines without a prefix: other output, and further lines of other styles."
    )
    n_nul_bytes = dy.Int64(
        nullable=False,
        description="NUL bytes of the file: of pickled values that torch logs, or where a file was cut while it was "
        "written; `grep` needs `-a` then.",
    )
    n_messages = dy.Int64(nullable=False, description="Messages.")
    n_graphs = dy.Int64(nullable=False, description="Graphs that messages print.")
    first_line = dy.Int64(nullable=False, description="First line with a prefix, from 1.")
    last_line = dy.Int64(nullable=False, description="Last line of a message.")
    levels = dy.List(dy.String(), nullable=False, description="Levels that occur, in order.")
    loggers = dy.List(
        dy.String(),
        nullable=False,
        description="Loggers as printed; in the default style the files that logged.",
    )
    compile_ids = dy.List(dy.String(), nullable=False, description="Compile ids as printed, `0/0_1`.")
    ranks = dy.List(dy.Int64(), nullable=False, description="Ranks of the prefixes.")
    processes = dy.List(dy.Int64(), nullable=False, description="Process ids; thread ids in torch 2.4.")


SCHEMA = LogFormats


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        messages = [m for m in events.messages if m.style != NO_LOGGER]
        total = totals(messages)
        if total is None:
            continue
        counts: dict[str, int] = {}
        glog = 0
        for m in messages:
            counts[m.style] = counts.get(m.style, 0) + 1
            glog += prefixed_lines(m) if m.style == "default" else 0
        n_lines = _lines(source.data)
        yield (
            source.name, max(counts, key=counts.__getitem__), any(map(_quoted, messages)), n_lines, total.n_records, glog, n_lines - total.n_records,
            count_bytes(source.data, b"\0"), total.n_messages, _graphs(messages), total.line, total.last_line, list(total.levels), list(total.loggers),
            list(dict.fromkeys(m.compile_id for m in messages if m.compile_id)), list(total.ranks),
            list(total.processes),
        )  # fmt: skip


def _quoted(message: LogLine) -> bool:
    span = message.span
    return bool(span.source.data[span.start : span.start + 1] == b">")


def _graphs(messages: Iterable[LogLine]) -> int:
    texts = printed_texts(whole_messages(messages))
    return sum(text.title == GRAPH or text.title.endswith("(from cache)") for text in texts)


def _lines(data: Any) -> int:
    size = len(data)
    return count_bytes(data, b"\n") + (size > 0 and data[size - 1 : size] != b"\n")

"""What tests of `report` share: recorded traces, records added to them, and a run of the command."""

import hashlib
import json
import os
import re
from pathlib import Path

from typer.testing import CliRunner

from aoti_logs.cli import app
from aoti_logs.records.trace import TraceIndex
from aoti_logs.report.feed import Feed, Trace
from aoti_logs.report.tlparse import Options
from aoti_logs.sources.source import Kind, Source

PREFIX = b"V1129 12:10:21.164000 4741 torch/_logging/_internal.py:1345] "
NO_TLPARSE = "needs tlparse, which is a dependency: pip install tlparse"


def recorded(fixtures: Path, name: str = "cpu_gather_negative_index") -> bytes:
    (path,) = (fixtures / name / "trace").glob("*.log")
    return path.read_bytes()


def record(envelope: object, payload: str | None = None, prefix: bytes = PREFIX) -> bytes:
    """Return a record as torch writes it: envelope as one line of JSON, payload lines behind a TAB."""
    if payload is None:
        return prefix + json.dumps(envelope).encode() + b"\n"
    assert isinstance(envelope, dict)
    md5 = hashlib.md5(payload.encode()).hexdigest()
    head = prefix + json.dumps({**envelope, "has_payload": envelope.get("has_payload", md5)}).encode()
    return head + b"\n\t" + payload.replace("\n", "\n\t").encode() + b"\n"


def artifact(name: str, payload: str = "x", **context: object) -> bytes:
    return record({"artifact": {"name": name, "encoding": "string"}, **context}, payload)


def with_rank(trace: bytes, rank: int) -> bytes:
    """Give every record a rank, but for interned strings, which never have one."""
    return re.sub(
        rb'(?m)^(V[^\]\n]*\] \{(?!"str")[^\n]*?)((?:, "has_payload": "\w{32}")?\})$',
        rb'\1, "rank": %d\2' % rank,
        trace,
    )


def feed_of(data: bytes, options: Options | None = None, part: int | None = None) -> Feed:
    source = Source("trace.log", Kind.TORCH_TRACE, lambda: data)
    return Feed(Trace(TraceIndex(source), options or Options()), part=part, rank=part)


def fed(data: bytes, path: Path, options: Options | None = None, part: int | None = None) -> bytes:
    """Return what tlparse would be given."""
    feed_of(data, options, part).write(path / "fed")
    return (path / "fed").read_bytes()


def report(*words: object, data: bytes | None = None):
    return CliRunner().invoke(app, ["report", *map(str, words)], input=data)


def files_below(folder: Path) -> set[str]:
    return {
        os.path.relpath(Path(inside) / name, folder) for inside, _, names in os.walk(folder) for name in names
    }

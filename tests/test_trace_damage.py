"""Real traces, damaged: every record that was left whole is found, no byte is lost, no table raises."""

import hashlib
import json
import random
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aoti_logs._run import Run
from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources.source import Kind, Source
from aoti_logs.tables import from_traces

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TRACES = [
    next((FIXTURES / name / "trace").glob("*.log")).read_bytes()
    for name in ("cpu_compile_gather", "cpu_gather_negative_index", "gpu_two_kernels_same_assert")
]
TEXTS = (
    b"[rank0]: W1129 12:00:00.000000 77 torch/x.py:1] [0/0] a warning\n",
    b"Traceback (most recent call last):\n",
    b'{"metric": 1}\n',
    b"\n",
    b"\r\n",
    b"\xff\xfe\x00 not UTF-8\n",
)
PLAIN: tuple[Any, ...] = (
    None,
    [],
    {},
    [[]],
    {"a": {}},
    "",
    "x",
    -1,
    0,
    2**70,
    True,
    1.5,
    float("nan"),
    "\ud800",
    [None],
    ["x", 1],
)


def index_of(data: bytes) -> TraceIndex:
    return TraceIndex(Source("trace.log", Kind.TORCH_TRACE, lambda: data))


def whole(index: TraceIndex) -> list[tuple[int, int, bytes, bytes]]:
    return [(r.spans[0].start, r.spans[-1].end, r.head.text.encode(), r.payload) for r in index]


ORIGINALS = [whole(index_of(data)) for data in TRACES]


@pytest.mark.parametrize("number", range(len(TRACES)))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_record_that_was_not_touched_is_found(number, data):
    trace, records = TRACES[number], ORIGINALS[number]
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    pieces, left, at = [], [], 0
    for cut in sorted(rng.sample(range(len(trace)), data.draw(st.integers(1, 6)))):
        end = min(len(trace), cut + rng.choice((0, 1, 7, 300)))
        if cut < at:
            continue
        pieces += [trace[at:cut], rng.choice((b"", b"#", b"\x00\x1b[31m", b"\n" + rng.choice(TEXTS)))]
        left.append((cut, end))
        at = end
    damaged = b"".join([*pieces, trace[at:]])
    index = index_of(damaged)
    found = {(head, payload) for _, _, head, payload in whole(index)}
    for start, end, head, payload in records:
        # Text right before a record's first byte, or right behind its last, is damage to it too.
        if all(stop < start or cut > end for cut, stop in left):
            assert (head, payload) in found
    spans = sorted(
        [(s.start, s.end) for r in index for s in r.spans]
        + [(row.span.start, row.span.end) for row in index.unparsed]
    )
    assert spans[0][0] == 0
    assert spans[-1][1] == len(damaged)
    assert all(a[1] == b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize("text", TEXTS)
def test_text_between_all_records_costs_no_record(text):
    trace, records = TRACES[0], ORIGINALS[0]
    mixed = b"".join(trace[start:end] + text for start, end, _, _ in records)
    assert [r[2:] for r in whole(index_of(mixed))] == [r[2:] for r in records]


def heads(trace: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Prefix, envelope and payload of each record."""
    out = []
    for start, _, head, payload in whole(index_of(trace)):
        prefix = trace[start : start + head.index(b"] {") + 2]
        out.append((prefix, head[len(prefix) :], payload))
    return out


HEADS = [heads(data) for data in TRACES]


def spoiled(value, rng: random.Random):
    """Return a JSON value with something else in one place of it."""
    if rng.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return rng.choice(PLAIN)
    if isinstance(value, dict):
        key = rng.choice(list(value))
        return {**value, key: spoiled(value[key], rng)} if rng.random() < 0.9 else {**value, "new": 1}
    at = rng.randrange(len(value))
    return [*value[:at], spoiled(value[at], rng), *value[at + 1 :]]


def record(prefix: bytes, envelope: dict, payload: bytes) -> bytes:
    if "has_payload" in envelope:
        envelope = {**envelope, "has_payload": hashlib.md5(payload).hexdigest()}
    text = json.dumps(envelope).encode()
    lines = (
        b"".join(b"\t" + line + b"\n" for line in payload.split(b"\n")) if "has_payload" in envelope else b""
    )
    return prefix + text + b"\n" + lines


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(number=st.integers(0, len(TRACES) - 1), seed=st.integers(0, 2**32))
def test_no_table_raises_whatever_the_fields_hold(number, seed):
    rng = random.Random(seed)
    out = []
    for prefix, raw, payload in HEADS[number]:
        envelope = json.loads(raw)
        entry = next(iter(envelope))
        if entry == "chromium_event" and rng.random() < 0.8:
            continue  # nine of ten records, all alike
        if rng.random() < 0.6:
            envelope = {**envelope, entry: spoiled(envelope[entry], rng)}
        if rng.random() < 0.2:
            envelope = spoiled(envelope, rng)
        if payload[:1] in b"[{" and rng.random() < 0.6:
            with suppress(ValueError):
                payload = json.dumps(spoiled(json.loads(payload), rng)).encode()  # noqa: PLW2901 the spoiled one
        if isinstance(envelope, dict) and envelope:
            out.append(record(prefix, envelope, payload))
    text = b"".join(out)
    run = Run([Source("trace.log", Kind.TORCH_TRACE, lambda: text)], [], ())
    for name in from_traces():
        run.tables[name]
    run.explain()

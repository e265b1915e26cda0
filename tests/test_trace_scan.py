"""Finding records in TORCH_TRACE files, whole ones and damaged ones."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources.source import Kind, Source

PREFIX = "V1129 12:10:21.164000 4741 torch/_dynamo/utils.py:2350] "


def index_of(data: bytes) -> TraceIndex:
    return TraceIndex(Source("trace.log", Kind.TORCH_TRACE, lambda: data))


def written(name: str, payload: str | None, metadata: object = None, prefix: str = PREFIX) -> str:
    """Write a record as torch does."""
    envelope: dict[str, object] = {
        name: {} if metadata is None else metadata,
        "frame_id": 0,
        "frame_compile_id": 1,
    }
    if payload is None:
        return f"{prefix}{json.dumps(envelope)}\n"
    envelope["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    lines = "".join(f"\t{line}\n" for line in payload.split("\n"))
    return f"{prefix}{json.dumps(envelope)}\n{lines}"


def assert_partition(index: TraceIndex, size: int) -> None:
    spans = [(s.start, s.end) for record in index for s in record.spans]
    spans += [(row.span.start, row.span.end) for row in index.unparsed]
    at = 0
    for start, end in sorted(spans):
        assert start == at
        assert end > start
        at = end
    assert at == size


def intact(index: TraceIndex) -> list[tuple[str, str]]:
    return [(record.name, record.text) for record in index if record.problem is None]


RECORD_LIKE = PREFIX + '{"str": ["a.py", 0]}'
LINES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20
) | st.sampled_from(["", "\t", "\t\tx = 1", "a\rb", "\r", "\x0c", " ", "naïve", RECORD_LIKE])
PAYLOADS = st.none() | st.lists(LINES, min_size=1, max_size=5).map("\n".join)
NAMES = st.sampled_from(["create_symbol", "dynamo_start", "aot_inference_graph", "vllm_entry"])
RECORDS = st.tuples(NAMES, PAYLOADS)
JUNK = st.sampled_from(
    [
        "step 5 loss 0.31\n",
        "\n",
        "\r\n",
        "\n\n\n",
        "[rank0]:",
        "garbage before ",
        "W1129 12:10:21.164000 4741 torch/_dynamo/x.py:1] [0/0] a warning\n",
        PREFIX + "[1, 2]\n",
        PREFIX + "{}\n",
        'Traceback (most recent call last):\n  File "a.py", line 1\n',
        "\x00\x01\n",
    ]
)


@given(st.lists(RECORDS, max_size=6))
def test_every_record_of_a_whole_trace_is_found_with_its_payload(records):
    data = "".join(written(name, payload) for name, payload in records).encode()
    index = index_of(data)
    assert intact(index) == [(name, payload or "") for name, payload in records]
    assert index.unparsed == ()
    assert_partition(index, len(data))


def test_text_after_a_record_inside_a_line_of_text_is_not_its_payload():
    raw = ("loss 0.31 " + written("create_symbol", None) + "step 6\n\tdone\n").encode()
    index = index_of(raw)
    assert intact(index) == [("create_symbol", "")]
    assert_partition(index, len(raw))


@given(st.data())
@settings(max_examples=300)
def test_undamaged_records_are_found_between_torn_ones_and_text(data):
    """Cut records, with and without a newline, and other programs' lines hide nothing that is whole."""
    text, want = "", []
    for name, payload in data.draw(st.lists(RECORDS, max_size=6)):
        what = data.draw(st.sampled_from(["whole", "torn", "torn line", "junk before"]))
        record = written(name, payload)
        if what.startswith("torn"):
            cut = data.draw(st.integers(1, len(record) - 2))
            if record[cut - 1] == "\n":
                continue  # a cut between lines leaves a record that lacks payload: the next test
            text += record[:cut] + ("\n" if what == "torn line" else "")
            continue
        if what == "junk before":
            text += data.draw(JUNK)
        text += record
        want.append((name, payload or ""))
    raw = text.encode()
    index = index_of(raw)
    assert_partition(index, len(raw))
    found = intact(index)
    for item in want:
        assert item in found
        found = found[found.index(item) + 1 :]


@given(
    st.lists(LINES.filter(lambda line: ":2350] {" not in line), min_size=1, max_size=6),
    st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["step 5\n", "\n", "loss 0.3\nmore\n"])),
        min_size=1,
        max_size=3,
    ),
)
def test_text_between_payload_lines_is_cut_out_by_the_checksum(lines, interruptions):
    payload = "\n".join(lines)
    head, *rest = written("artifact", payload, {"name": "x", "encoding": "string"}).split("\n")[:-1]
    out = [head + "\n", *(line + "\n" for line in rest)]
    for at, text in sorted(interruptions, reverse=True):
        out.insert(1 + min(at, len(rest)), text)
    out.append(written("after", None))
    raw = "".join(out).encode()
    index = index_of(raw)
    assert_partition(index, len(raw))
    first = index[0]
    assert (first.problem, first.text) == (None, payload)
    assert len(index) == 2


@given(
    st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                PREFIX.encode(),
                b'{"str": ["a", 0]}',
                b'{"artifact": {"name": "x"}',
                b"\n",
                b"\t",
                b"\r\n",
                b"}",
                b'] {"',
                b'7] {"',
                b"V1129 12:10:21.164000",
                b" 4741 ",
                b"x",
                b"\xff",
                b"\x00",
                b'"has_payload": "d41d8cd98f00b204e9800998ecf8427e"}',
            ]
        ),
        max_size=30,
    ).map(b"".join)
)
@settings(max_examples=300)
def test_any_bytes_are_shared_out_among_records_and_rows(data):
    index = index_of(data)
    assert_partition(index, len(data))
    for record in index:
        assert isinstance(record.envelope, dict)
        assert record.payload is not None
        assert len(record.frames()) >= 0
        assert record.line >= 1


def test_crlf_files_lose_one_carriage_return_a_line():
    data = (written("a", "x\n\ny") + written("b", None)).replace("\n", "\r\n").encode()
    assert intact(index_of(data)) == [("a", "x\n\ny"), ("b", "")]


def test_a_carriage_return_of_the_payload_survives():
    assert index_of(written("a", "x\r\ny").encode())[0].payload == b"x\r\ny"


def test_a_record_after_a_file_without_final_newline_is_found():
    """`cat first.log second.log` where the first was cut in its last payload line."""
    data = written("a", "x\ny").removesuffix("\n") + written("b", "z")
    index = index_of(data.encode())
    assert intact(index) == [("a", "x\ny"), ("b", "z")]
    assert_partition(index, len(data))


def test_a_payload_that_quotes_a_record_stays_one_payload():
    quoted = written("inner", "text").removesuffix("\n")
    assert intact(index_of(written("outer", f"see\n{quoted}").encode())) == [("outer", f"see\n{quoted}")]


def test_text_after_an_envelope_on_its_line_is_a_row():
    data = written("a", "p\nq").replace("}\n\t", "}step 5\n\t")
    index = index_of(data.encode())
    assert intact(index) == [("a", "p\nq")]
    assert [row.span.text for row in index.unparsed] == ["step 5\n"]
    assert_partition(index, len(data))


def test_a_torn_envelope_takes_its_payload_with_it():
    data = written("a", "p\nq").replace('d": 1, "has', 'd": 1\nhas', 1)
    torn = written("a", "p").replace('"}\n', '"\n', 1)
    index = index_of((torn + written("b", None)).encode())
    assert [r.name for r in index] == ["b"]
    assert [(row.span.text, row.expected) for row in index.unparsed] == [
        (torn, "the rest of a TORCH_TRACE record")
    ]
    assert_partition(index_of(data.encode()), len(data))


def test_missing_payload_lines_are_reported_not_hidden():
    index = index_of(written("a", "x\ny\nz").replace("\tz\n", "").encode())
    assert index[0].text == "x\ny"
    assert "checksum" in (index[0].problem or "")
    assert [number for number, _ in ((r.number, p) for r, p in index.damaged())] == [0]


@pytest.mark.parametrize(
    "path", ["my dir/torch/a.py", "C:/x/torch/a.py", "#link-tree/torch/a.py", "/a]b/c.py"]
)
def test_paths_may_hold_blanks_colons_and_brackets(path):
    data = written("a", "x", prefix=f"V1129 12:10:21.164000 140672901020544 {path}:17] ")
    record = index_of(data.encode())[0]
    assert (record.emitter, record.process, record.time) == (
        (path, 17),
        140672901020544,
        "1129 12:10:21.164000",
    )


def test_a_record_whose_first_key_is_its_rank_is_found_by_its_entry():
    line = PREFIX + '{"rank": 3, "frame_id": 0, "artifact": {"encoding": "json", "name": "caf\\u00e9"}}\n'
    record = next(index_of(line.encode()).find("artifact:café"))
    assert (record.name, record.artifact, record.rank) == ("artifact", "café", 3)


def test_a_flood_of_text_between_records_is_one_row():
    data = written("a", None) + "noise\n" * 50_000 + written("b", None)
    index = index_of(data.encode())
    assert len(index.unparsed) == 1
    assert len(index) == 2


def test_repeated_bait_costs_linear_time():
    """Prefixes without end, on one line and as TAB lines, neither hang nor break the partition."""
    for data in (
        (PREFIX * 5000).encode(),
        (PREFIX + '{"a": ').encode() * 3000,
        (written("a", "x") + ("\t" + RECORD_LIKE + "\n") * 3000).encode(),
        b'7] {"' * 20000,
        b"V1129 12:10:21.164000 1 " + b"x" * 100_000 + b":1] ",
    ):
        assert_partition(index_of(data), len(data))

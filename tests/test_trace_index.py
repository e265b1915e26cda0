"""What a TORCH_TRACE record says: keys, ids, strings, frames, and the sources made from payloads."""

import hashlib
import json

import pytest

from aoti_logs.records.envelope import compile_id, decode_json
from aoti_logs.records.trace import StackFrame, TraceIndex, trace_sources
from aoti_logs.sources.source import Kind, Role, Source

# Real records of torch 2.13 (the wrapper is cut short).
REAL = """\
V1129 12:12:31.417000 7281 torch/_logging/structured.py:28] {"str": ["/srv/demo/trace_gen/gen_aoti.py", 0]}
V1129 12:12:31.418000 7281 torch/_logging/_internal.py:1328] {"artifact": {"name": "torch_version", "encoding": "json"}, "has_payload": "MD5"}
\t{
\t"pytorch_version": "2.13.0+cpu",
\t"oss": true
\t}
V1129 12:12:32.007000 7281 torch/fx/experimental/symbolic_shapes.py:5754] {"create_symbol": {"symbol": "s77", "val": "8", "vr": "[2, int_oo]", "source": "L['x'].size()[0]", "user_stack": [], "stack": [{"line": 61, "name": "<module>", "filename": 0, "loc": "main()"}]}, "stack": [{"line": 61, "name": "<module>", "filename": 0, "loc": "main()"}]}
V1129 12:12:32.507000 7281 torch/_logging/_internal.py:1345] {"artifact": {"name": "before_post_grad_graph", "encoding": "string"}, "stack": [], "has_payload": "MD5"}
\tclass <lambda>(torch.nn.Module):
\t    def forward(self, arg0_1: "f32[s77, 4][4, 1]cpu"):
\t        relu: "f32[s77, 4][4, 1]cpu" = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
\t        return (relu,)
V1129 12:12:33.015000 7281 torch/_inductor/codecache.py:2616] {"graph_dump": {"name": "inductor_aot_wrapper_code", "type": "cpp", "filename": "/tmp/c/cabc.wrapper.cpp"}, "stack": [], "has_payload": "MD5"}
\t
\t#include <torch/csrc/inductor/aoti_include/cpu.h>
\t// Definition of AOTI runtime interface functions
V1129 12:12:33.018000 7281 torch/_inductor/graph.py:2745] {"inductor_output_code": {"filename": "/tmp/c/cxyz.py", "file_path": "/tmp/c/cxyz.py"}, "rank": 2, "frame_id": 0, "frame_compile_id": 1, "attempt": 0, "has_payload": "MD5"}
\t# AOT ID: ['0_inference']
\timport torch
"""


def with_checksums(text: str) -> bytes:
    out: list[str] = []
    for block in text.replace("\nV1", "\0V1").split("\0"):
        head, *rest = block.rstrip("\n").split("\n")
        md5 = hashlib.md5("\n".join(line[1:] for line in rest).encode()).hexdigest()
        out += [head.replace("MD5", md5), *rest]
    return ("\n".join(out) + "\n").encode()


def index_of(data: bytes, *others: TraceIndex) -> TraceIndex:
    return TraceIndex(Source("trace.log", Kind.TORCH_TRACE, lambda: data, role=Role.CONTEXT), lambda: others)


@pytest.fixture
def index() -> TraceIndex:
    return index_of(with_checksums(REAL))


def line(**envelope: object) -> bytes:
    return f"V1129 12:12:31.417000 7281 torch/x.py:1] {json.dumps(envelope)}\n".encode()


def test_find_takes_entry_names_and_names_of_artifacts_in_file_order(index):
    found = [r.key for r in index.find("create_symbol", "artifact:torch_version", "graph_dump")]
    assert found == ["artifact:torch_version", "create_symbol", "graph_dump:inductor_aot_wrapper_code"]
    assert index.counts()["artifact:before_post_grad_graph"] == 1


def test_every_part_of_a_record_can_be_quoted(index):
    record = index[1]
    assert (record.line, record.level, record.process) == (2, "V", 7281)
    assert record.emitter == ("torch/_logging/_internal.py", 1328)
    assert record.json() == {"pytorch_version": "2.13.0+cpu", "oss": True}
    assert str(record.place) == "trace.log:2"
    assert record.head.text.startswith("V1129 12:12:31.418000 7281")
    assert all(r.problem is None for r in index)


def test_frames_name_the_file_of_their_interned_id(index):
    assert index[2].frames() == (StackFrame("/srv/demo/trace_gen/gen_aoti.py", 61, "<module>", "main()"),)
    assert index[2].frames(index[2].metadata["stack"])[0].line == 61


def test_code_and_graphs_become_sources_whose_lines_are_those_of_the_trace(index):
    graph, wrapper, code = trace_sources(index)
    assert (graph.kind, graph.label) == (Kind.GRAPH, "before_post_grad_graph")
    assert (wrapper.kind, wrapper.label) == (Kind.WRAPPER_CPP, "graph_dump inductor_aot_wrapper_code")
    assert wrapper.filename == "/tmp/c/cabc.wrapper.cpp"
    assert (code.kind, code.compile_id, code.rank) == (Kind.OUTPUT_CODE, "0/1", 2)
    assert code.name == "trace.log#inductor_output_code[0/1]"
    assert {s.role for s in (graph, wrapper, code)} == {Role.CONTEXT}
    for child in (graph, wrapper, code):
        for number, text in enumerate(child.lines, 1):
            assert index.source.line_text(child.place(number).line) == "\t" + text


def test_two_graphs_of_one_compile_have_two_names():
    graph = b"\tdef forward(self):\n"
    data = line(aot_forward_graph={}, frame_id=0, frame_compile_id=0, attempt=0) + graph
    assert [s.name for s in trace_sources(index_of(data * 2))] == [
        "trace.log#aot_forward_graph[0/0]",
        "trace.log#aot_forward_graph[0/0].2",
    ]


def test_an_artifact_named_like_a_graph_that_is_text_is_no_graph():
    data = line(artifact={"name": "aot_forward_graph_fw_metadata"}) + b"\tViewAndMutationMeta(\n"
    assert trace_sources(index_of(data + line(artifact={"name": "x_graph"}) + b"\thello\n")) == ()


@pytest.mark.parametrize(
    ("envelope", "text"),
    [
        ({"frame_id": 0, "frame_compile_id": 0, "attempt": 0}, "0/0"),
        ({"frame_id": 0, "frame_compile_id": 1, "attempt": 2}, "0/1_2"),
        ({"compiled_autograd_id": 0, "frame_id": 1, "frame_compile_id": 0, "attempt": 0}, "!0/1/0"),
        ({"compiled_autograd_id": 0, "attempt": 0}, "!0"),
        ({"compiled_autograd_id": None, "frame_id": 3, "frame_compile_id": 1}, "3/1"),
        ({"frame_id": "0", "frame_compile_id": 0}, None),
        ({"frame_id": -1, "frame_compile_id": 0}, None),
        ({}, None),
    ],
)
def test_compile_ids_are_written_as_torch_writes_them(envelope, text):
    assert compile_id(envelope) == text


def test_an_interned_id_means_what_was_defined_last_before_its_use():
    """Concatenated runs define the same ids again."""
    use = {"create_symbol": {}, "stack": [{"line": 1, "name": "f", "filename": 0}]}
    index = index_of(line(str=["a.py", 0]) + line(**use) + line(str=["b.py", 0]) + line(**use))
    assert [r.frames()[0].file for r in index.find("create_symbol")] == ["a.py", "b.py"]


def test_ids_of_two_processes_in_one_file_are_kept_apart():
    """Before torch 2.13 a forked child wrote into its parent's file."""

    def by(process: int, raw: bytes) -> bytes:
        return raw.replace(b" 7281 ", b" %d " % process)

    use = line(create_symbol={}, stack=[{"line": 1, "name": "f", "filename": 0}])
    data = by(1, line(str=["a.py", 0])) + by(2, line(str=["b.py", 0])) + by(1, use) + by(2, use) + by(3, use)
    assert [r.frames()[0].file for r in index_of(data).find("create_symbol")] == ["a.py", "b.py", "b.py"]


def test_a_forked_childs_trace_borrows_the_strings_of_its_parent():
    child = line(create_symbol={}, stack=[{"line": 1, "name": "f", "filename": 7}, {"filename": -1}])
    assert index_of(child)[0].frames()[0].file is None
    parent = index_of(line(str=["first.py", 0]) + line(str=["parent.py", 7]))
    assert index_of(child, parent)[0].frames()[0].file == "parent.py"


def test_strings_are_borrowed_from_nobody_where_two_traces_disagree():
    child = line(create_symbol={}, stack=[{"line": 1, "name": "f", "filename": 0}])
    others = [index_of(line(str=[name, 0])) for name in ("a.py", "b.py")]
    assert index_of(child, *others)[0].frames()[0].file is None
    assert index_of(child, others[0], others[0])[0].frames()[0].file == "a.py"


def test_a_trace_that_lost_its_beginning_borrows_no_strings():
    child = b"torn\n" + line(create_symbol={}, stack=[{"line": 1, "name": "f", "filename": 0}])
    assert index_of(child, index_of(line(str=["a.py", 0])))[0].frames()[0].file is None


def test_every_line_of_a_record_leads_to_it(index):
    found = [index.at("trace.log", line) for line in range(1, 20)]
    assert [record.number if record else None for record in found][:6] == [0, 1, 1, 1, 1, 1]
    assert index.at("other.log", 1) is None


def event(name: str, phase: str) -> bytes:
    return with_payload(json.dumps({"name": name, "ph": phase, "args": {}}), chromium_event={})


def with_payload(payload: str, **envelope: object) -> bytes:
    md5 = hashlib.md5(payload.encode()).hexdigest()
    return line(**envelope, has_payload=md5) + f"\t{payload}\n".encode()


def test_aot_inductor_compiles_are_told_apart_by_their_events():
    graph = with_payload("graph", aot_inference_graph={})
    one = event("compile_fx_aot", "B") + graph + event("other", "B") + event("compile_fx_aot", "E")
    found = [record.compile for record in index_of(graph + one + graph + one)]
    assert found == [None, *["aoti/0"] * 4, None, *["aoti/1"] * 4]


def test_records_of_two_aot_inductor_compiles_at_once_belong_to_neither_for_certain():
    begin, end = event("compile_fx_aot", "B"), event("compile_fx_aot", "E")
    found = [record.compile for record in index_of(begin + begin + end + end)]
    assert found == ["aoti/0", "aoti/1", None, None]


def test_an_aot_inductor_compile_without_end_reaches_to_the_end_of_the_file():
    index = index_of(event("compile_fx_aot", "B") + with_payload("graph", aot_inference_graph={}))
    assert [record.compile for record in index] == ["aoti/0", "aoti/0"]
    assert index.aot_compiles.unfinished == {0}


def test_before_torch_2_7_a_wrapper_ends_an_aot_inductor_compile():
    one = with_payload("graph", aot_forward_graph={}) + with_payload(
        "code", graph_dump={"name": "inductor_aot_code"}
    )
    found = [record.compile for record in index_of(line(str=["a.py", 0]) + one + one)]
    assert found == [None, "aoti/0", "aoti/0", "aoti/1", "aoti/1"]


def test_numbers_that_are_not_json_and_lone_surrogates_are_read():
    value = decode_json(b'{"a": NaN, "b": [Infinity], "\\ud800": "x\\udfff"}')
    assert value["b"] == [float("inf")]
    assert "�" in value


def test_envelopes_nested_too_deeply_are_reported():
    record = index_of(
        b"V1129 12:12:31.417000 7281 torch/x.py:1] " + b'{"a": ' * 100_000 + b"1" + b"}" * 100_000
    )
    assert record[0].problem is not None
    assert record[0].envelope == {}


def test_an_empty_trace_has_no_records():
    assert (len(index_of(b"")), index_of(b"").unparsed, list(index_of(b"").find("str"))) == (0, (), [])


@pytest.mark.corpus
def test_every_trace_of_the_corpus_is_read_to_the_last_byte(corpus_dir):
    """Names taken from the first bytes of an envelope are those that decoding gives; no byte is lost."""
    traces = sorted(
        p for p in corpus_dir.rglob("dedicated_log_torch_trace*.log") if p.stat().st_size < 400_000
    )
    for path in traces[::6] + sorted((corpus_dir / "damaged-traces").glob("*.log")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        index = index_of(data)
        length = sum(s.end - s.start for r in index for s in r.spans)
        assert length + sum(u.span.end - u.span.start for u in index.unparsed) == len(data), path
        for record in index:
            assert record.name in record.envelope, (path, record)
            if record.artifact is not None and path.name != "dupkeys.log":  # the same key twice
                assert record.metadata["name"] == record.artifact
        for child in trace_sources(index):
            assert child.parent_lines is not None
            assert len(child.parent_lines) == len(child.lines), (path, child)

"""Traces from strangers: nothing outside of the report is written, and no text of a log is run as HTML."""

import json
import re
from itertools import count
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aoti_logs.explain import Confidence, Experiment, Explanation, Finding, Link, Missing, Verdict
from aoti_logs.report.page import PageParts, render_page
from aoti_logs.report.tlparse import find_tlparse
from aoti_logs.sources.kinds import HEAD, tell
from aoti_logs.sources.source import Kind, Place
from tests.report_text import NO_TLPARSE, artifact, files_below, record, recorded, report

needs_tlparse = pytest.mark.skipif(find_tlparse() is None, reason=NO_TLPARSE)
MODES = [[], ["-p"], ["-i"], ["-p", "-i"], ["-e"]]
MARK = re.compile(r"<mark\d+ ")
ID = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def report_inside(folder: Path, data: bytes, *options: str, name: str = "in.log"):
    """Report a trace deep inside a folder; return what the folder holds that is not the report."""
    deep = folder / "a" / "b"
    deep.mkdir(parents=True, exist_ok=True)
    (deep / name).write_bytes(data)
    done = report(deep / name, "-o", deep / "out", "--overwrite", *options)
    outside = {path for path in files_below(folder) if not path.startswith("a/b/out/")}
    return done, outside - {f"a/b/{name}"}


HEADS = {
    "checksum": record({"unknown": {}, "has_payload": "../../../esc"}, "x"),
    "climbing artifact": artifact("../../esc"),
    "artifact as a list": record({"artifact": ["../../esc", "string"]}, "x"),
    "climbing dump": record({"graph_dump": {"name": "../../esc"}}, "x"),
    "dump as a list": record({"graph_dump": ["../../esc"]}, "x"),
    "child of ddp": record({"optimize_ddp_split_child": {"name": "x/../../../esc"}}, "x"),
    "file of stacks": record({"dump_file": {"name": "../../esc"}}, "x"),
    "generated code": record({"inductor_output_code": {"filename": "..\\..\\esc.py"}}, "x"),
    "escaped key and name": artifact("../../esc").replace(b'"name": "..', b'"n\\u0061me": "\\u002e.'),
    "half a pair": artifact("../../esc").replace(b'"string"', b'"string", "z": "\\ud800"'),
    "long number": artifact("../../esc").replace(b'"string"', b'"string", "z": ' + b"1" * 6000),
    "too deep": artifact("../../esc").replace(
        b'"string"', b'"string", "z": ' + b"[" * 20_000 + b"]" * 20_000
    ),
    "blanks before": artifact("../../esc").replace(b"] {", b"] \t {"),
    "inside a line": b"text V1129 12:10:21.164000 1 " + artifact("../../esc"),
    "inside a payload": record({"dynamo_start": {}}) + b"\t" + artifact("../../esc"),
    "behind a carriage return": b"text\r" + artifact("../../esc").replace(b"\n", b"\r\n"),
    "digits of another script": artifact("../../esc").replace(b"1129", "11\u0661\u0662".encode()),
    "no path": artifact("../../esc").replace(b"4741 torch/_logging/_internal.py", b"12"),
    "not utf-8": artifact("../../esc").replace(b"esc", b"esc\xff"),
    "drive": artifact("../../esc").replace(b"torch/", b"C:\\torch\\"),
    "zero byte": artifact("a\0b"),
    "long name": artifact("x" * 5000),
    "deep name": artifact("/".join(["x" * 200] * 30)),
    "string id": record({"str": ["a", 4_000_000_000]}),
    "thread": artifact("x").replace(b" 4741 ", b" " + b"9" * 30 + b" "),
    "no reason": record({"compilation_metrics": {"fail_type": "X"}, **ID}),
    "null node": record({"guard_added": {"expr": "a", "prefix": "eval", "expr_node_id": None}}),
}


@needs_tlparse
@pytest.mark.parametrize("name", HEADS)
def test_no_record_gets_out_of_the_report_or_stops_tlparse(tmp_path, name):
    absolute = HEADS[name].replace(b"../../esc", str(tmp_path).encode() + b"/esc")
    for options in ([], ["-p", "-i"], ["-e"]):
        for data in {HEADS[name], absolute}:
            done, outside = report_inside(tmp_path, artifact("before") + data, *options)
            assert done.exit_code == 0, done.output
            assert outside == set()


def marked_trace() -> tuple[bytes, dict[str, str]]:
    """Return a trace with a mark of its own in every text of every kind of record, and what each mark is in."""
    numbers = count()
    places: dict[str, str] = {}

    def m(place: str) -> str:
        tag = f"mark{next(numbers)}"
        places[tag] = place
        return f"</script></pre><{tag} x='\">"

    def stack(place: str) -> list[dict[str, object]]:
        return [
            {"line": 1, "name": m(f"{place} name"), "filename": 0, "loc": m(f"{place} loc")},
            {"line": 2, "name": m(f"{place} name"), "filename": 1, "loc": m(f"{place} loc")},
        ]

    def guard(kind: str) -> bytes:
        frame = {"loc": m(kind), "locals": {m(kind): m(kind)}, "symbols": {m(kind): m(kind)}}
        entry = {
            "expr": m(kind),
            "result": m(kind),
            "prefix": "eval",
            "expr_node_id": 5,
            "user_stack": stack(kind),
            "stack": stack(kind),
            "symbol_to_sources": {m(kind): m(kind)},
            "frame_locals": frame,
        }
        return record({kind: entry})

    def js(name: str, value: object) -> bytes:
        return record({"artifact": {"name": name, "encoding": "json"}, **ID}, json.dumps(value))

    mapping = {
        key: {m(key): [m(key)]} for key in ("preToPost", "postToPre", "cppCodeToPost", "postToCppCode")
    }
    failing = {"fail_type": m("fail_type"), "fail_reason": m("fail_reason")}
    metrics = {
        **failing,
        "co_name": m("co_name"),
        "co_filename": m("co_filename"),
        "co_firstlineno": 3,
        "fail_user_frame_filename": m("user frame"),
        "fail_user_frame_lineno": 3,
        "non_compliant_ops": [m("ops")],
        "compliant_custom_ops": [m("ops")],
        "restart_reasons": [m("restart")],
    }
    symbolic = {"symbol": m("symbol"), "sources": [m("source")], "value": m("value")}
    parts = [
        record({"str": [m("string"), 0]}),
        record({"str": ["<eval_with_key>.5" + m("string"), 1]}),
        record({"dynamo_start": {"stack": stack("dynamo_start")}, **ID}),
        record(
            {"artifact": {"name": m("artifact"), "encoding": "string"}, "stack": stack("stack")}, m("payload")
        ),
        artifact("before_pre_grad_graph", m("graph"), **ID),
        artifact("after_post_grad_graph", m("graph"), **ID),
        js("inductor_provenance_tracking_node_mappings", mapping),
        js("inductor_provenance_tracking_kernel_stack_traces", {m("kernel"): [m("trace")]}),
        js("inductor_collective_schedule", [m("collective")]),
        record({"graph_dump": {"name": "inductor_aot_wrapper_code"}, **ID}, m("wrapper")),
        record({"dynamo_guards": {}, **ID}, json.dumps([{"code": m("code"), "stack": stack("guard")}])),
        record(
            {"inductor_output_code": {"filename": f"/c/{m('file').replace('/', '')}.py"}, **ID}, m("code")
        ),
        artifact("inductor_output_code_not_torchs", m("artifact taken for code"), **ID),
        record({"optimize_ddp_split_child": {"name": m("child")}, **ID}, m("child")),
        record({"link": {"name": m("link"), "url": "javascript:alert(1)"}, **ID}),
        record({"dump_file": {"name": m("dump_file")}, **ID}, m("dump_file")),
        record({"symbolic_shape_specialization": {**symbolic, "stack": stack("spec")}, **ID}),
        record({"guard_added_fast": {"expr": m("guard"), "user_stack": stack("fast")}, **ID}),
        record({"bwd_compilation_metrics": failing, **ID}),
        record({"compilation_metrics": metrics, **ID}),
        record({"create_unbacked_symbol": {"symbol": m("unbacked"), "node_id": 7, "stack": stack("u")}}),
        record(
            {
                "expression_created": {
                    "method": m("method"),
                    "result": m("result"),
                    "result_id": 5,
                    "arguments": [m("argument")],
                    "argument_ids": [7],
                }
            }
        ),
        guard("guard_added"),
        guard("propagate_real_tensors_provenance"),
        record({"missing_fake_kernel": {"op": m("op")}}),
        record({"mismatched_fake_kernel": {"op": m("op"), "reason": m("reason")}}),
        record({"exported_program": {}}, m("program")),
        record({m("unknown kind"): {"name": m("unknown")}}, m("unknown")),
        record({"chromium_event": {}, **ID}, json.dumps({"name": m("event")})),
    ]
    return b"".join(parts), places


@needs_tlparse
@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_no_text_of_a_log_is_markup_on_any_page(tmp_path, options):
    data, places = marked_trace()
    done, outside = report_inside(tmp_path, data, *options, name="in<mark0 >.log")
    assert done.exit_code == 0, done.output
    assert outside == set()
    out = tmp_path / "a" / "b" / "out"
    pages = list(out.rglob("*.html"))
    assert len(pages) > 3
    found = {places[m[0][1:-1]] for page in pages for m in MARK.finditer(page.read_text())}
    assert found == set()
    assert not any(re.search(r"href=['\"]\s*javascript:", page.read_text()) for page in pages)


@needs_tlparse
@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=4), st.integers(0, 300)), max_size=6))
def test_a_damaged_trace_still_becomes_a_report(tmp_path_factory, fixtures_dir, damage):
    data = recorded(fixtures_dir)
    for at, put, length in damage:
        at %= len(data)  # noqa: PLW2901 a place in what is left
        data = data[:at] + put + data[at + length :]
    assume(tell(data[:HEAD], "in.log") is Kind.TORCH_TRACE)  # what begins like a zip is read as one
    done, outside = report_inside(tmp_path_factory.mktemp("damage"), data)
    assert done.exit_code == 0, done.output
    assert outside == set()


@needs_tlparse
def test_every_damaged_trace_of_the_corpus_becomes_a_report(corpus_dir, tmp_path):
    for path in sorted((corpus_dir / "damaged-traces").glob("*.log")):
        for options in ([], ["-p", "-i"], ["-e"]):
            done, outside = report_inside(tmp_path, path.read_bytes(), *options)
            assert done.exit_code == 0, (path.name, done.output)
            assert outside == set()


@needs_tlparse
def test_every_input_of_tlparses_own_tests_becomes_a_report(corpus_dir, tmp_path):
    for path in sorted((corpus_dir / "tlparse-inputs").iterdir()):
        done = report(path, "-o", tmp_path / path.name)
        assert done.exit_code == 0, (path.name, done.output)
        assert {"index.html", "findings.html"} <= files_below(tmp_path / path.name)
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in (corpus_dir / "tlparse-inputs").iterdir()
    }


# ------------------------------------------------------------ our page alone

EVIL = "</script></pre><mark1 x='\">\x1b[31m\u202e"


class Nowhere:
    def place(self, place):
        return None

    def compile(self, compile_id, rank):
        return None

    def kernel(self, name, rank):
        return None


def test_everything_on_our_page_is_escaped():
    link = Link(EVIL, EVIL, Place(EVIL, 1, 1), Confidence.POSSIBLE, (EVIL,))
    finding = Finding(
        EVIL,
        EVIL,
        "cause",
        EVIL,
        Confidence.PROVEN,
        EVIL,
        {"kernel": EVIL, "compile_id": EVIL},
        rank=1,
        log=EVIL,
        chain=(link,),
        missing=(Missing(EVIL, EVIL),),
        experiments=(Experiment(EVIL, ((EVIL, EVIL),), "run", EVIL, EVIL, EVIL),),
        verdicts=(Verdict(EVIL, EVIL, Confidence.PROVEN, (EVIL,), (EVIL,), (EVIL,)),) * 2,
        consequences=(link,),
        notes=(EVIL,),
    )
    explanation = Explanation((EVIL, EVIL), (finding,), {}, (EVIL,))
    page = render_page(
        PageParts(
            explanation,
            Nowhere(),
            EVIL,
            "index.html",
            [(EVIL, "x/index.html")],
            [EVIL],
            [(EVIL, EVIL)],
            [],
            [],
            [EVIL],
            [EVIL],
        )
    )
    assert not MARK.search(page) and "\x1b" not in page and "\u202e" not in page
    assert page.count("<script") == 0 and "default-src 'none'" in page

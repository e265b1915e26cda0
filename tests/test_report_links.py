"""From a line of a trace to the page of tlparse that shows it, and never to another one."""

import json

import pytest

from aoti_logs.code.evidence import Evidence
from aoti_logs.parse.logs.log import read_log
from aoti_logs.report.copies import Copies
from aoti_logs.report.links import Links
from aoti_logs.report.outputs import display_key, read_outputs, stems
from aoti_logs.report.plan import Slot
from aoti_logs.report.tlparse import find_tlparse, run
from aoti_logs.sources.source import Place
from tests.report_text import NO_TLPARSE, artifact, feed_of, record

ID = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
needs_tlparse = pytest.mark.skipif(find_tlparse() is None, reason=NO_TLPARSE)
TRACE = b"".join(
    [
        record({"str": ["a.py", 0]}),  # line 1
        artifact("graph", "first", **ID),  # 2, 3
        artifact("graph", "second\nof two", **ID),  # 4, 5, 6
        artifact("other", "x", frame_id=0, frame_compile_id=0, attempt=2),  # 7, 8
        record(
            {"inductor_output_code": {"filename": "/c/cabc.py"}, **ID}, "def kernel_0(x):\n    pass"
        ),  # 9-11
        record({"dump_file": {"name": "<eval_with_key>.5"}}, "def f():\n    pass"),  # 12-14
        record({"guard_added_fast": {"expr": "a < b"}, **ID}),  # 15
        record({"chromium_event": {}, **ID}, "{}"),  # 16, 17
        record({"create_symbol": {"symbol": "s0"}, **ID}),  # 18
        record({"compilation_metrics": {"co_name": "f"}, **ID}),  # 19
        record({"graph_dump": {"name": "wrapper", "type": "cpp"}}, "int main();"),  # 20, 21
    ]
)


def links_of(data: bytes, folder) -> Links:
    feed = feed_of(data)
    (folder / "in.log").write_bytes(data)
    program = find_tlparse()
    assert program is not None
    said = run(
        program, ["--no-browser", "-o", str(folder / "out"), str(folder / "in.log")], folder, len(data)
    )
    assert said.problem is None
    copies = Copies(Evidence([feed.trace.index.source], read_log))
    return Links([Slot("", feed)], folder / "out", copies)


def at(links: Links, line: int) -> tuple[str, str] | None:
    target = links.place(Place("trace.log", line, line))
    return (target.href, target.label) if target else None


@needs_tlparse
def test_each_line_leads_to_the_page_that_shows_it(tmp_path):
    links = links_of(TRACE, tmp_path)
    for output in links.slots[0].outputs:
        assert (tmp_path / "out" / output.url).is_file()
    assert at(links, 3) == ("-_0_0_0/graph_0.txt", "graph_0.txt, line 1")
    assert at(links, 6) == ("-_0_0_0/graph_1.txt", "graph_1.txt, line 2")
    assert at(links, 7) == ("-_0_0_2/other_2.txt", "other_2.txt")
    assert at(links, 11) == (
        "-_0_0_0/inductor_output_code_cabc_3.html",
        "inductor_output_code_cabc_3.html, line 2",
    )
    assert at(links, 14) == ("dump_file/eval_with_key_5.html#L2", "eval_with_key_5.html, line 2")
    assert at(links, 15) == ("-_0_0_0/compilation_metrics_5.html", "compilation_metrics_5.html")
    assert at(links, 16) == ("chromium_events.json", "chromium_events.json")
    assert at(links, 18) == ("index.html#%5B0/0%5D", "[0/0] in tlparse's index")
    assert at(links, 21) == ("-_-_-_-/wrapper_6.txt", "wrapper_6.txt, line 1")
    assert links.place(Place("other.log", 3, 3)) is None


@needs_tlparse
def test_a_kernel_and_a_compile_id_have_their_pages(tmp_path):
    links = links_of(TRACE, tmp_path)
    kernel = links.kernel("kernel_0", None)
    assert kernel is not None and kernel.href == "-_0_0_0/inductor_output_code_cabc_3.html"
    assert links.kernel("kernel_1", None) is None and links.kernel("a b(", None) is None
    compiled = links.compile("0/0_2", None)
    assert compiled is not None and compiled.href == "index.html#%5B0/0_2%5D"
    assert links.compile("5/5", None) is None


@needs_tlparse
def test_a_record_that_tlparse_left_out_leads_nowhere_wrong(tmp_path):
    """Of three records of one name tlparse refuses the first; the others still find their own text."""
    refused = artifact("graph", "refused", **ID).replace(b'{"artifact"', b'{"artifact": null, "artifact"')
    links = links_of(refused + artifact("graph", "kept", **ID) + artifact("graph", "last", **ID), tmp_path)
    assert at(links, 2) == ("index.html#%5B0/0%5D", "[0/0] in tlparse's index")
    assert at(links, 4) == ("-_0_0_0/graph_0.txt", "graph_0.txt, line 1")
    assert at(links, 6) == ("-_0_0_0/graph_1.txt", "graph_1.txt, line 1")


def test_names_of_files_are_those_that_tlparse_gives(corpus_dir):
    """Every file that tlparse lists for its own test inputs is the file of some record."""
    for folder in sorted((corpus_dir / "tlparse-reports").iterdir()):
        for report in (folder, folder / "rank_0"):
            if not (report / "compile_directory.json").exists():
                continue
            outputs, _ = read_outputs(report)
            index = feed_of((report / "raw.log").read_bytes()).trace.index
            ours = {(display_key(r.envelope), stem) for r in index for stem in stems(r)}
            assert {(output.key, output.stem) for output in outputs} <= ours


@pytest.mark.parametrize(
    ("envelope", "key"),
    [
        (ID, "[0/0]"),
        ({**ID, "attempt": 2}, "[0/0_2]"),
        ({"frame_id": 1, "frame_compile_id": 0}, "[1/0]"),
        ({"compiled_autograd_id": 0, "attempt": 0}, "[!0/-/-]"),
        ({"compiled_autograd_id": 0, **ID, "frame_id": 1}, "[!0/1/0]"),
        ({"frame_id": None}, "[-/-]"),
        ({}, "[-/-]"),
        ({"frame_id": "x"}, "unknown"),
    ],
)
def test_compile_ids_are_displayed_as_tlparse_does(envelope, key):
    assert display_key(envelope) == key


def test_a_directory_of_nonsense_has_no_outputs(tmp_path):
    for text in (
        "",
        "[]",
        '{"a": 1}',
        '{"a": {"artifacts": [1, {"url": 1}, {"url": "x", "number": 1}]}}',
        "{",
    ):
        (tmp_path / "compile_directory.json").write_text(text)
        assert read_outputs(tmp_path)[0] == []
    (tmp_path / "compile_directory.json").write_text(
        json.dumps({"[0/0]": {"artifacts": [{"url": "https://x/y", "number": 1}]}})
    )
    assert read_outputs(tmp_path) == ([], {"[0/0]"})

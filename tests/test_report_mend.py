"""What is changed in a record before tlparse sees it, and that nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.report.mend import decode, encode, mend, plain_name
from aoti_logs.report.reasons import Reason
from aoti_logs.report.tlparse import Options

MD5 = "9dd4e461268c8034f5c8564e155c67a6"
EXPORT = Options(export=True)


def mended(envelope: dict, options: Options | None = None) -> tuple[dict, list[Reason]]:
    raw = json.dumps(envelope).encode()
    value, changes = decode(raw)
    assert value is not None
    changes = changes + mend(value, raw, options or Options())
    return json.loads(encode(value)), [reason for reason, _ in changes]


@pytest.mark.parametrize("entry", ["artifact", "graph_dump", "optimize_ddp_split_child", "dump_file"])
@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "..\\x", "C:x", "a\0b", "x" * 300, "a/../../b"])
def test_no_name_of_a_dump_becomes_a_path(entry, name):
    value, reasons = mended({entry: {"name": name}})
    plain = value[entry]["name"]
    assert reasons == [Reason.NAME]
    assert not set(plain) & set("/\\\0:") and len(plain) <= 150


@pytest.mark.parametrize("name", ["torch._functorch.config", "<lambda>_ORIGINAL_BYTECODE", "a b", "..", ""])
def test_a_name_that_is_plain_stays_as_it_is(name):
    assert mended({"artifact": {"name": name}}) == ({"artifact": {"name": name}}, [])


@given(st.text())
def test_plain_names_are_one_name_on_disk_and_stay_plain(name):
    plain = plain_name(name)
    assert "/" not in plain and "\\" not in plain and "\0" not in plain
    assert len(plain.encode("utf-8", "replace")) <= 150
    assert plain_name(plain) == plain


def test_a_checksum_that_is_none_becomes_one():
    value, reasons = mended({"unknown": {}, "has_payload": "../../../x"})
    assert reasons == [Reason.CHECKSUM]
    assert len(value["has_payload"]) == 32
    assert mended({"unknown": {}, "has_payload": MD5.upper()})[1] == []


def test_the_name_of_generated_code_is_plain():
    value, reasons = mended({"inductor_output_code": {"filename": "/tmp/..\\x.py"}})
    assert (value["inductor_output_code"]["filename"], reasons) == (".._x.py", [Reason.NAME])
    assert mended({"inductor_output_code": {"filename": "/tmp/c/cabc.py"}})[1] == []


@pytest.mark.parametrize("entry", ["artifact", "graph_dump", "link", "compilation_metrics"])
def test_an_entry_that_is_a_list_is_left_out(entry):
    """tlparse reads such a list as the entry's fields, in their order."""
    assert mended({entry: ["../../x", "string"]}) == ({entry: None}, [Reason.LIST])


def test_a_link_to_a_script_leads_nowhere():
    value, reasons = mended({"link": {"name": "a", "url": "javascript:alert(1)//https://x"}})
    assert (value["link"]["url"], reasons) == ("about:blank", [Reason.URL])
    assert mended({"link": {"name": "a", "url": "https://www.google.com"}})[1] == []


def test_restart_reasons_open_no_tag_and_keep_comparisons():
    value, reasons = mended({"compilation_metrics": {"restart_reasons": ["<b>x</b>", "a < b"]}})
    assert value["compilation_metrics"]["restart_reasons"] == ["\u2039b>x\u2039/b>", "a < b"]
    assert reasons == [Reason.MARKUP]


def test_a_failure_without_a_reason_is_given_one():
    value, reasons = mended({"compilation_metrics": {"fail_type": "X"}})
    assert (value["compilation_metrics"]["fail_reason"], reasons) == (
        "(no reason was recorded)",
        [Reason.NO_REASON],
    )


@pytest.mark.parametrize("rank", [-1, "0", 1.5, True, 2**32])
def test_a_rank_that_is_no_number_is_taken_out(rank):
    assert mended({"artifact": {"name": "a"}, "rank": rank}) == (
        {"artifact": {"name": "a"}},
        [Reason.RANK],
    )


def test_a_negative_file_of_a_frame_is_replaced_by_an_unused_one():
    value, reasons = mended({"artifact": {"name": "a"}, "stack": [{"line": 1, "name": "f", "filename": -1}]})
    assert (value["stack"][0]["filename"], reasons) == (2**32 - 1, [Reason.FRAME])


def test_an_interned_string_with_a_huge_id_is_told():
    assert mended({"str": ["a", 4_000_000_000]})[1] == [Reason.STRING]
    assert mended({"str": ["a", 15]})[1] == []


def test_a_dump_that_the_provenance_page_takes_for_html_is_renamed():
    envelope = {"artifact": {"name": "inductor_output_code_x", "encoding": "string"}}
    assert mended(envelope)[1] == []
    value, reasons = mended(envelope, Options(provenance=True))
    assert (value["artifact"]["name"], reasons) == ("inductor-output-code_x", [Reason.CODE_NAME])


def test_what_tlparse_reads_and_orjson_does_not_is_looked_at():
    """tlparse skips what it does not need without looking: half a surrogate pair, NaN, a number of any length."""
    for odd in (rb'"\ud800"', b"NaN", b"1" * 6000, b"1e99999", b'"\x01"'):
        value, changes = decode(b'{"artifact": {"name": "../x", "z": ' + odd + b"}}")
        assert value is not None and value["artifact"]["name"] == "../x"
        assert changes == [] or changes[0][0] is Reason.JSON
        json.loads(encode(value))


def test_json_too_deep_to_look_at_is_told():
    with pytest.raises(RecursionError):
        decode(b'{"artifact": {"name": "../x", "z": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}")


@pytest.mark.parametrize("raw", [b"[1, 2]", b'{"a": ', b"", b'{"a": 1} x', b"{'a': 1}"])
def test_what_is_no_json_object_is_none(raw):
    assert decode(raw) == (None, [])


GUARD = {
    "expr": "u0 > 5",
    "prefix": "eval",
    "expr_node_id": 1,
    "symbol_to_sources": {},
    "frame_locals": {"loc": "f(x)", "locals": {"n": ["u0", None], "x": [None]}, "symbols": {"u0": 3}},
}


def test_locals_of_guards_become_texts_only_for_export():
    assert mended({"guard_added": GUARD})[1] == []
    value, reasons = mended({"guard_added": GUARD}, EXPORT)
    assert value["guard_added"]["frame_locals"]["locals"] == {"n": "u0", "x": None}
    assert value["guard_added"]["frame_locals"]["symbols"] == {"u0": "3"}
    assert reasons == [Reason.EXPORT_TYPES]


@pytest.mark.parametrize(
    ("entry", "metadata"),
    [
        ("guard_added", {"prefix": "eval", "expr": None, "expr_node_id": None}),
        ("propagate_real_tensors_provenance", {"expr_node_id": 3}),
        ("missing_fake_kernel", {}),
        ("mismatched_fake_kernel", {"op": "a"}),
        ("expression_created", {}),
        ("create_unbacked_symbol", {"symbol": "u0"}),
    ],
)
def test_what_tlparse_needs_for_export_is_filled_in(entry, metadata):
    assert set(mended({entry: metadata}, EXPORT)[1]) == {Reason.EXPORT_MISSING}
    assert mended({entry: metadata})[1] == []


def test_texts_of_export_open_no_tag():
    value, reasons = mended({"mismatched_fake_kernel": {"op": "a", "reason": "<script>x"}}, EXPORT)
    assert (value["mismatched_fake_kernel"]["reason"], reasons) == ("\u2039script>x", [Reason.MARKUP])

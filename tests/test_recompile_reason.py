"""Recompile reasons: which cached compilation did not fit, and what differed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.guards.recompile_reason import (
    RecompileReason,
    read_recompile_reason,
    read_recompile_reasons,
)

PAYLOADS = Path(__file__).parent / "payloads"
RECORDED = [json.loads(line) for line in (PAYLOADS / "recompile_reasons_2.13.jsonl").read_text().splitlines()]
# What fixtures/record/recompiles.py does, in order: what differs, index, expected, actual.
DONE = [
    ("size", 0, "4", "5"),
    ("rank", None, "1", "2"),
    ("stride", 0, "4", "1"),
    ("dtype", None, "Float", "ComplexFloat"),
    ("requires_grad", None, "requires_grad=0", None),
    (
        "dispatch_key_set",
        None,
        "DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU)",
        "DispatchKeySet(Meta, BackendSelect, ADInplaceOrView, AutogradMeta)",
    ),
    ("type", None, None, "<class 'int'>"),
]


@pytest.mark.parametrize(("payload", "done"), list(zip(RECORDED[: len(DONE)], DONE, strict=True)))
def test_a_tensor_that_does_not_fit_says_what_differs(payload, done):
    (reason,) = read_recompile_reasons(payload)
    assert (reason.what, reason.index, reason.expected, reason.actual) == done
    assert reason.cached_compile_id == "0/0"
    assert reason.tensor == ("y" if reason.what == "type" else "x")
    assert reason.guard is None
    assert reason.text == payload


@pytest.mark.parametrize(
    ("start", "what", "subject"),
    [
        ("0/0: KeyError on ", "key", "d['a']"),
        ("0/0: GLOBAL_STATE ", "global_state", "grad_mode"),
        ("0/0: Duplicate ", "aliasing", '["x", "y"]'),
        ("0/0: _has_dynamo_dim", "dimension_marking", "_has_dynamo_dim_marking"),
    ],
)
def test_what_torch_says_in_words_has_its_subject(start, what, subject):
    (reason,) = read_recompile_reasons(next(p for p in RECORDED if p.startswith(start)))
    assert (reason.what, reason.subject, reason.guard) == (what, subject, None)


def test_another_backend_is_told():
    (reason,) = read_recompile_reasons(next(p for p in RECORDED if "BACKEND_MATCH" in p))
    assert reason.what == "backend"
    assert reason.subject is not None
    assert reason.subject.startswith("torch.compile detected different backend callables.")


def test_a_guard_gives_the_users_line_and_stack():
    (reason,) = read_recompile_reasons(next(p for p in RECORDED if p.startswith("0/0: n == 1")))
    assert reason.guard == "n == 1"
    assert (reason.code, reason.user_file, reason.user_function) == (
        "return x * n",
        "rv/demo/recompiles.py",
        "g",
    )
    assert reason.user_line == reason.user_stack[0][1]
    assert reason.user_stack[0][0] == "/srv/demo/recompiles.py"
    assert "User stack" not in reason.text


def test_a_guard_keeps_marks_that_stand_in_a_string():
    (reason,) = read_recompile_reasons(next(p for p in RECORDED if "it's" in p))
    assert reason.guard == 's == "it\'s  # a"'


def test_hints_are_told():
    hints = {r.guard: r.hint for p in RECORDED for r in read_recompile_reasons(p) if r.hint}
    assert hints["self.n == 3"].startswith("torch.compile considers integer attributes")
    assert hints["y.size()[0] == x.size()[0]"].startswith("duck sizing added this equality")
    assert hints["2 <= x.size()[0]"].startswith("user code shown is first use of this value")
    assert hints[None].startswith("Guard failed on a parameter")


def test_a_parameters_size_ends_before_the_hint():
    (reason,) = read_recompile_reasons(next(p for p in RECORDED if "on a parameter" in p))
    assert (reason.tensor, reason.expected, reason.actual) == ("self._parameters['p']", "4", "6")


def test_a_list_has_a_reason_for_each_cached_compilation():
    reasons = read_recompile_reasons((PAYLOADS / "recompile_reasons_2.6.txt").read_text())
    assert [r.cached_compile_id for r in reasons] == ["0/3", "0/2", "0/1", "0/0"][-len(reasons) :]
    assert (reasons[-1].tensor, reasons[-1].what) == ("L['x']", "size")
    assert reasons[0].guard == "len(L['d']) == 1"


def test_a_guard_without_comment_or_compile_id_is_one():
    assert read_recompile_reason("___check_obj_id(fn, 140439264606080)       ") == RecompileReason(
        "___check_obj_id(fn, 140439264606080)       ",
        what="identity",
        subject="fn",
        guard="___check_obj_id(fn, 140439264606080)",
    )
    reason = read_recompile_reason("tensor 'L['args'][0]' size mismatch at index 1. expected 4, actual 8")
    assert (reason.cached_compile_id, reason.tensor, reason.index) == (None, "L['args'][0]", 1)


@pytest.mark.parametrize(
    "text", ["0/0: something new happened to x", "0/0: not a tensor", "0/0: a == 1; b == 2 too", "0/0:", ""]
)
def test_words_of_an_unknown_form_claim_nothing_but_their_text(text):
    reason = read_recompile_reason(text)
    assert reason.text == text
    assert (reason.guard, reason.what, reason.tensor) == (None, None, None)


@pytest.mark.parametrize("cached", ["0/0", "12/345", "!0", "!0/1/0", "0/1_2"])
def test_every_form_of_compile_id(cached):
    assert read_recompile_reason(f"{cached}: n == 1").cached_compile_id == cached


def test_no_compile_id_is_none():
    assert read_recompile_reason("None: n == 1").cached_compile_id is None


def test_a_payload_that_is_cut_off_keeps_its_text():
    payload = (PAYLOADS / "recompile_reasons_2.6.txt").read_text()[:-40]
    (reason,) = read_recompile_reasons(payload)
    assert reason.text == payload


def test_items_that_are_no_texts_are_kept_as_json():
    assert [r.text for r in read_recompile_reasons('["0/0: n == 1", {"a": null}, 3]')] == [
        "0/0: n == 1",
        '{"a": null}',
        "3",
    ]
    assert read_recompile_reasons("") == ()
    assert read_recompile_reasons("[]") == ()


PLAIN = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20)


@given(
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
    PLAIN,
    st.integers(),
    st.integers(),
    st.integers(0, 9),
)
def test_a_mismatch_gives_what_was_printed(name, key, expected, actual, index):
    tensor = f"L[{name!r}][{key!r}]"
    reason = read_recompile_reason(
        f"0/0: tensor '{tensor}' size mismatch at index {index}. expected {expected}, actual {actual}"
    )
    assert (reason.tensor, reason.what, reason.index) == (tensor, "size", index)
    assert (reason.expected, reason.actual) == (str(expected), str(actual))


@given(st.text(max_size=60), st.sampled_from(["", "0/0: ", "0/0: tensor '", "0/0: KeyError on ", "["]))
def test_no_text_raises_and_none_is_lost(text, start):
    reasons = read_recompile_reasons(start + text)
    assert reasons or not (start + text).strip() or (start + text).strip()[:1] in {"[", '"'}
    reason = read_recompile_reason(start + text)
    assert (start + text).startswith(reason.text)


@pytest.mark.corpus
def test_reasons_are_those_of_the_known_cases(corpus_dir):
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Kind, Source

    seen = 0
    for case in map(json.loads, (corpus_dir / "cpu-torch2.13" / "cases.jsonl").read_text().splitlines()):
        events = case["expected"].get("events", [])
        if not case["id"].startswith("torch_trace/") or not events or "reasons" not in events[0]:
            continue
        path = corpus_dir / "cpu-torch2.13" / case["case"] / case["log"]
        trace = TraceIndex(Source(path.name, Kind.TORCH_TRACE, path.read_bytes))
        records = list(trace.find("artifact:recompile_reasons"))
        assert [r.compile for r in records] == [e["compile_id"] for e in events]
        for record, event in zip(records, events, strict=True):
            reasons = read_recompile_reasons(record.text)
            assert len(reasons) == event["n_reasons"]
            for reason, want in zip(reasons, event["reasons"], strict=True):
                got = {
                    "compile_id": reason.cached_compile_id, "tensor": reason.tensor, "what": reason.what,
                    "index": reason.index, "expected": reason.expected, "actual": reason.actual, "guard": reason.guard,
                }  # fmt: skip
                assert {k: v if k == "index" else str(v) for k, v in want.items()} == {
                    k: got[k] for k in want
                }
                seen += 1
    assert seen > 10

"""What is read from tlparse's stderr, of the pinned version and of later ones."""

import io

from aoti_logs.report.tlparse import Options, Rejected, read_stderr, read_stdout

# tlparse 0.4.3 on corpus/cpu-torch2.13/torch_trace/dtrace_aoti_draft_export, the JSON cut short
PRINTED = b"""\
Failed to parse metadata JSON: {"propagate_real_tensors_provenance": {"expr": "u0 > 5"
Error("invalid type: sequence, expected a string", line: 1, column: 811)
Failed to parse glog prefix on line 42
Stats { ok: 4, fail_json: 1, unknown: 6 }
Unknown fields: {"export", "create_symbol", "a\\"b"} (consider updating tlparse to render these)
"""


def read(text: bytes, problem: str | None = None):
    return read_stderr(io.BytesIO(text), problem)


def test_counts_unknown_kinds_and_rejected_lines_are_read():
    said = read(PRINTED)
    assert said.stats == ({"ok": 4, "fail_json": 1, "unknown": 6},)
    assert said.unknown == ("export", "create_symbol", 'a\\"b')
    (rejected,) = said.rejected
    assert rejected.text.startswith('{"propagate_real') and rejected.why.startswith("invalid type: sequence")
    assert (said.problem, said.last) == (None, ())


def test_later_versions_tell_the_line_and_not_the_text():
    said = read(b'Failed to parse metadata JSON: \nError("invalid type", line: 1, column: 2) on line 17\n')
    assert said.rejected == (Rejected("", "invalid type", 17),)


def test_nothing_counted_is_no_counts_missing():
    assert read(b"Stats { }\n").stats == ({},)
    assert read(b"").stats == ()


def test_what_a_log_makes_tlparse_print_is_bounded():
    text = b"Failed to parse metadata JSON: {" + b"x" * (1 << 20) + b"\nStats { ok: 9 } behind\n" * 3
    said = read(text * 300 + PRINTED, "it ended with exit code 1")
    assert said.stats == ({"ok": 4, "fail_json": 1, "unknown": 6},)
    assert len(said.rejected) == 200 and len(said.rejected[0].text) <= 1 << 16
    assert len(said.last) == 12 and said.last[-1].startswith("Unknown fields")


def test_ranks_are_read_in_the_order_in_which_tlparse_takes_them():
    text = (
        "Processing rank 10 \u2192 out/rank_10\nProcessing rank 2 \u2192 out/rank_2\nRuntime estimations: x\n"
    )
    assert read_stdout(io.BytesIO(text.encode())) == (10, 2)


def test_options_are_spelled_as_tlparse_does():
    assert Options(plain=True, provenance=True, export=True).flags() == ["--no-browser", "-p", "-i", "-e"]
    assert Options().flags() == ["--no-browser"]

"""Numbers, names and characters that no honest program prints neither stop the library nor reach a terminal."""

import json
import os

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.code.cpp.expr import parse_cpp
from aoti_logs.code.expr import Opaque
from aoti_logs.explain import Confidence, Explanation, Finding, Link
from aoti_logs.render.safe import clean, clean_cells, escape_json

ASSERTION = "/k/a.py:30: unknown: block: [0,0,0], thread: [3,0,0] Assertion `index out of bounds: 0 <= tmp4 < {}` failed.\n"


def call(*words: object):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.mark.parametrize(("digits", "value"), [(18, 10**18 - 1), (30, str(10**30 - 1)), (5000, None)])
def test_bounds_of_any_length_are_explained(tmp_path, digits, value):
    """A bound beyond 64 bit is text in JSON, one of thousands of digits has no value."""
    log = tmp_path / "run.log"
    log.write_text(ASSERTION.format("9" * digits))
    assert "index out of bounds" in call("explain", log).output
    facts = json.loads(call("explain", log, "--format", "json").output)["findings"][0]["facts"]
    assert facts["bound_value"] == value
    assert aoti_logs.load(log).assertions["bound"].to_list() == ["9" * digits]


def test_a_literal_of_thousands_of_digits_is_not_taken_apart():
    assert isinstance(parse_cpp("x0 + " + "9" * 5000), Opaque)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_file_names_that_are_not_utf8_are_shown_escaped(tmp_path):
    """Two such names stay two sources, in text, JSON and tables."""
    given = tmp_path / os.fsdecode(b"logs\xff")
    given.mkdir()
    for name in (b"a\xfe.log", b"a\xfd.log"):
        (given / os.fsdecode(name)).write_text(ASSERTION.format(5))
    answer = json.loads(call("explain", given, "--format", "json").output)
    assert {f["log"] for f in answer["findings"]} == {"a\\xfe.log", "a\\xfd.log"}
    assert "a\\xfe.log" in call("explain", given).output
    assert "a\\xfd.log" in call("show", given, "assertions", "--format", "csv").output


TEXTS = st.text(
    st.one_of(st.sampled_from("\x1b[]31m;\x07\\\r\n\t\x85\x9b\u2028\u202ea|"), st.characters(codec="utf-8"))
)
HARMFUL = {chr(c) for c in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F))}


@given(TEXTS)
@example("\x1b[31mred\x1b[0m\r\n\x9b2Jnext")
def test_cells_are_cleaned_as_text_is(text):
    """One line without a control character; a table's cells say the same as a sentence."""
    assert not HARMFUL & set(clean(text)) and clean(clean(text)) == clean(text)
    frame = clean_cells(pl.DataFrame({"a": [text], "b": [[text]], "n": [1]}))
    assert frame.rows() == [(clean(text), [clean(text)], 1)]


@given(TEXTS)
def test_json_is_escaped_and_stays_the_same(text):
    written = escape_json(json.dumps({"text": text}, ensure_ascii=False))
    assert not HARMFUL & set(written) and json.loads(written) == {"text": text}


UGLY = "RuntimeError: \x1b[2Jsize\x9b31m | is\x7f wrong\u202e\x07\n"


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "PATH"),
        ("explain", "PATH", "--format", "json"),
        *(("show", "PATH", "errors", "--format", form) for form in ("text", "csv", "json", "markdown")),
        ("tables", "PATH"),
    ],
)
def test_no_form_of_output_holds_control_characters(tmp_path, words):
    log = tmp_path / "run\x1b[31m\nerror[AL101]: forged.log"
    log.write_text(UGLY)
    result = call(*(log if w == "PATH" else w for w in words))
    assert result.exit_code == 0
    assert not (HARMFUL - {"\n"}) & set(result.output)
    assert "\nerror[AL101]: forged" not in result.output or words[-1] == "csv"


def test_a_line_end_in_a_text_forges_no_line():
    """Titles, places, details and notes of a screen stay on their line."""
    forged = "a\nnext: rm -rf"
    link = Link("assertion", forged, None, details=(forged,))
    finding = Finding("AL001", forged, "cause", "error", Confidence.PROVEN, forged, {}, log=forged)
    full = Finding(
        "AL001", "x", "cause", "error", Confidence.PROVEN, forged, {}, log=forged, chain=(link,),
        consequences=(link,), notes=(forged,),
    )  # fmt: skip
    screen = str(Explanation((forged,), (finding, full), problems=(forged,)))
    assert "rm -rf" in screen
    assert not [line for line in screen.splitlines() if line.startswith("next: rm")]

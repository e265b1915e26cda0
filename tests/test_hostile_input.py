"""Numbers, names and characters that no honest program prints neither stop the library nor reach a terminal."""

import json
import os

import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.code.cpp_expr import parse_cpp
from aoti_logs.code.expr import Opaque

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

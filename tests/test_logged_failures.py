"""Exceptions that torch logged and did not raise: `suppress_errors`, recorded with torch 2.13 and in made-up forms of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.logs.log import read_log
from aoti_logs.parse.python.logged_traceback import exceptions_in
from aoti_logs.sources.source import Kind, Source

NAME = "cpu_log_suppressed"


def messages(data: bytes):
    return read_log(Source("run.log", Kind.LOG, lambda: data)).messages


@pytest.fixture(scope="module")
def recorded(fixtures_dir: Path) -> bytes:
    return (fixtures_dir / NAME / "run.log").read_bytes()


def test_functions_that_run_uncompiled_are_warnings_and_no_cause(fixtures_dir: Path):
    found = list(aoti_logs.load(fixtures_dir / NAME / "run.log").explain())
    assert [(f.kind, f.role, f.severity, str(f.confidence)) for f in found] == [
        ("backend_compiler_failed", "note", "warning", "proven"),
        ("fake_tensor_error", "note", "warning", "proven"),
    ]
    assert [f.facts["function"] for f in found] == ["forward", "product"]
    assert [f.facts["log_level"] for f in found] == ["W", "W"]


def test_what_torch_wrote_before_it_raised_is_not_told_as_a_cause(recorded: bytes):
    """torch/_subclasses/fake_tensor.py logs `failed while attempting to run meta for` first."""
    assert b"failed while attempting to run meta for aten.mm.default" in recorded
    alone = b"".join(
        line for line in recorded.splitlines(True) if b"convert_frame.py:" not in line.split(b"]")[0]
    )
    (finding,) = _explain(alone)
    assert (finding.kind, finding.role, str(finding.confidence)) == ("fake_tensor_error", "cause", "likely")


def _explain(data: bytes, name: str = "run.log"):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return list(aoti_logs.load(path).explain())


def test_the_quotes_are_lines_of_the_log(fixtures_dir: Path, recorded: bytes):
    lines = recorded.decode().split("\n")
    for finding in aoti_logs.load(fixtures_dir / NAME / "run.log").explain():
        link = finding.chain[0]
        assert link.place is not None
        assert (finding.facts["exception_type"] or "").rpartition(".")[2] in lines[link.place.line - 1]


def test_a_traceback_that_is_logged_twice_is_read_once(recorded: bytes):
    first = next(m for m in messages(recorded) if m.text.startswith("WON'T CONVERT"))
    assert first.text.count("Traceback (most recent call last):") >= 2
    assert [e.exception_type for e in exceptions_in(first)] == ["torch._dynamo.exc.BackendCompilerFailed"]


def test_another_logger_leaves_open_what_became_of_the_exception(recorded: bytes):
    other = recorded.replace(b"WON'T CONVERT forward", b"something failed in forward")
    found = {f.kind: f for f in _explain(other)}
    assert str(found["backend_compiler_failed"].confidence) == "likely"
    assert found["backend_compiler_failed"].role == "note"


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_of_a_message_raises_nothing(recorded_text):
    data = b"W1130 02:55:22.297000 1 torch/a.py:1] x\n"
    (message,) = messages(data)
    text = "WON'T CONVERT f /a.py line 3\nTraceback (most recent call last):\n" + recorded_text
    exceptions_in(replace(message, text=text, lines=range(1, text.count("\n") + 2)))

"""stdout and stderr of one run in two files, or joined one after the other: what is taken from there, and how surely."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.index.other_stream import stream_of
from aoti_logs.explain import Confidence, Explanation, Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"
PRINTED = (
    "cpu_printer",
    "cpu_printer_empty_table",
    "cpu_printer_int32_ids",
    "cpu_printer_negative_index",
    "cpu_printer_shared_dim",
    "cpu_printer_strided_index",
)
"""Recorded runs whose value printer and failure stand in one log."""


def parts(name: str) -> tuple[bytes, bytes]:
    """Return what a recorded run wrote to stdout (the values) and all else, the command left out."""
    log = FIXTURES / name / "run.log"
    run = aoti_logs.load(log)
    [(source, events)] = run.logs()
    data = bytes(source.data)
    out, rest, at = b"", b"", 0
    for dump in sorted(events.dumps, key=lambda d: d.span.start):
        rest += data[at : dump.span.start]
        out += data[dump.span.start : dump.span.end]
        at = dump.span.end
    rest += data[at:]
    return out, b"".join(line for line in rest.splitlines(keepends=True) if not line.startswith(b"$ "))


def lead(explanation: Explanation) -> Finding:
    return next(f for f in explanation.findings if f.role == "cause")


def context_of(name: str) -> list[Path]:
    return [p for p in (FIXTURES / name).iterdir() if p.name not in {"run.log", "fixture.json"}]


def write(folder: Path, name: str, out: str, err: str) -> tuple[Path, Path]:
    stdout, stderr = parts(name)
    (folder / out).write_bytes(stdout)
    (folder / err).write_bytes(stderr)
    return folder / out, folder / err


@pytest.mark.parametrize("name", PRINTED)
def test_values_of_the_other_stream_make_the_same_cause_likely(name: str, tmp_path: Path):
    whole = lead(aoti_logs.load(FIXTURES / name / "run.log", context=FIXTURES / name).explain())
    write(tmp_path, name, "bad.stdout.txt", "bad.stderr.txt")
    found = lead(aoti_logs.load(tmp_path / "bad.stderr.txt", context=[tmp_path, *context_of(name)]).explain())
    assert (found.rule, found.title) == (whole.rule, whole.title)
    assert found.confidence is Confidence.LIKELY
    assert found.doubt is not None
    assert "bad.stdout.txt" in found.doubt
    assert {k.place.source for k in found.chain if k.step == "value" and k.place} <= {"bad.stdout.txt"}
    assert found.experiments[0].command.endswith("2>&1 | tee run.log")


@pytest.mark.parametrize("name", PRINTED)
def test_values_below_the_failure_are_seen_and_likely(name: str, tmp_path: Path):
    stdout, stderr = parts(name)
    (tmp_path / "joined.log").write_bytes(stderr + stdout)
    found = lead(aoti_logs.load(tmp_path / "joined.log", context=context_of(name)).explain())
    assert found.confidence is Confidence.LIKELY
    assert "below the failure" in (found.doubt or "")
    assert not any("nothing of it" in e.proof for e in found.experiments)
    assert not any("values that this wrapper prints" in m.what for m in found.missing)


def test_two_logs_in_one_call_are_one_run(tmp_path: Path):
    out, err = write(tmp_path, "cpu_printer", "printed.log", "failed.log")
    both = aoti_logs.load([err, out], context=context_of("cpu_printer")).explain()
    assert lead(both).confidence is Confidence.LIKELY
    assert "given together" in (lead(both).doubt or "")
    alone = aoti_logs.load(err, context=[out, *context_of("cpu_printer")]).explain()
    assert lead(alone).confidence is Confidence.POSSIBLE


def unjoined(found: Finding, name: str) -> None:
    assert found.confidence is Confidence.POSSIBLE
    assert not any(k.step == "value" for k in found.chain)
    assert any(
        f"whether values printed in {name} are of the call that failed" in m.what for m in found.missing
    )
    assert not any("nothing of it" in e.proof for e in found.experiments)


def test_names_of_two_runs_are_not_joined(tmp_path: Path):
    out, err = write(tmp_path, "cpu_printer", "a.stdout.txt", "b.stderr.txt")
    unjoined(lead(aoti_logs.load([err, out], context=context_of("cpu_printer")).explain()), "a.stdout.txt")


def test_a_launch_that_ended_is_no_launch_that_failed(tmp_path: Path):
    out, err = write(tmp_path, "cpu_printer", "x.out", "x.err")
    text = out.read_bytes()
    out.write_bytes(text + text.replace(b"before_launch", b"after_launch"))
    unjoined(lead(aoti_logs.load(err, context=[tmp_path, *context_of("cpu_printer")]).explain()), "x.out")


def test_another_command_is_another_run(tmp_path: Path):
    out, err = write(tmp_path, "cpu_printer", "x.out", "x.err")
    out.write_bytes(b"$ python a.py\n" + out.read_bytes())
    err.write_bytes(b"$ python b.py\n" + err.read_bytes())
    found = lead(aoti_logs.load(err, context=[tmp_path, *context_of("cpu_printer")]).explain())
    assert found.confidence is Confidence.POSSIBLE
    assert not any(k.step == "value" for k in found.chain)


def test_a_log_of_which_nothing_is_printed_says_so(tmp_path: Path):
    _, stderr = parts("cpu_printer")
    (tmp_path / "run.log").write_bytes(stderr)
    found = lead(aoti_logs.load(tmp_path / "run.log", context=context_of("cpu_printer")).explain())
    assert any("nothing of it is in this log" in e.proof for e in found.experiments)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bad.stderr.txt", "bad.stdout.txt"),
        ("job.err", "job.out"),
        ("0/stderr.log", "0/stdout.log"),
        ("train.e4711", "train.o4711"),
        ("slurm-7.ERR", "slurm-7.OUT"),
        ("run_err.log", "run_out.log"),
    ],
)
def test_names_of_the_two_streams_of_one_run(one: str, other: str):
    first, second = stream_of(one), stream_of(other)
    assert first is not None
    assert second is not None
    assert first[0].lower() == second[0].lower()
    assert {first[1], second[1]} == {"out", "err"}


@pytest.mark.parametrize(
    "name", ["run.log", "router.log", "interrupt.txt", "outer.log", "a.out/run.log", "x.o"]
)
def test_a_name_without_a_stream_has_none(name: str):
    assert stream_of(name) is None


@given(st.text(max_size=40))
def test_any_name_is_read(name: str):
    found = stream_of(name)
    assert found is None or found[1] in {"out", "err"}

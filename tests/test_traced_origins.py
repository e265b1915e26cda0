"""Where a value that only data knows was made, told by a trace."""

from pathlib import Path

import aoti_logs

_FIXTURE = Path(__file__).parent.parent / "fixtures" / "cpu_trace_data_dependent"
_LINE = "u0 is made at /srv/demo/models.py:170 in forward: n = k.item()"


def _condition(run):
    return next(f for f in run.explain().findings if f.rule == "AL506")


def test_a_trace_of_the_failure_names_the_line_that_made_the_value():
    finding = _condition(aoti_logs.load(_FIXTURE / "trace"))
    origin = next(link for link in finding.chain if link.step == "origin")
    assert origin.text == _LINE
    assert finding.facts["allocated_at"][0]["user_frame"]["line"] == 170


def test_a_log_takes_the_line_from_the_trace_that_tells_the_same_failure():
    finding = _condition(aoti_logs.load(_FIXTURE))
    assert [link.text for link in finding.chain if link.step == "origin"] == [_LINE]
    assert not any("at hand" in note for note in finding.notes)


def test_a_trace_that_is_only_consulted_is_no_link():
    finding = _condition(aoti_logs.load(_FIXTURE / "run.log", context=_FIXTURE / "trace"))
    assert not any(link.step == "origin" for link in finding.chain)
    (note,) = (n for n in finding.notes if "at hand" in n)
    assert "models.py:170 in forward: n = k.item()" in note
    assert note.endswith("whether it is of this run is not told")


def test_a_log_alone_says_nothing_of_the_line():
    finding = _condition(aoti_logs.load(_FIXTURE / "run.log"))
    assert "allocated_at" not in finding.facts
    assert not finding.notes


def test_a_plan_asks_for_no_run_that_tells_the_line_again():
    run = aoti_logs.load(_FIXTURE / "run.log", context=_FIXTURE / "trace")
    explanation = run.explain()
    plan = explanation.plan(_condition(run))
    assert {d.name for d in plan.done} >= {"how sizes became symbols", "the stack where the symbol is made"}
    alone = aoti_logs.load(_FIXTURE / "run.log")
    left = alone.explain().plan(_condition(alone))
    assert "how sizes became symbols" in {s.name for s in left.steps}


def test_a_value_of_another_compile_is_not_quoted(tmp_path):
    (file,) = (_FIXTURE / "trace").glob("*.log")
    lines = file.read_bytes().splitlines(keepends=True)
    moved = [
        line.replace(
            b'"create_unbacked_symbol": {',
            b'"frame_id": 7, "frame_compile_id": 0, "create_unbacked_symbol": {',
        )
        for line in lines
    ]
    (tmp_path / file.name).write_bytes(b"".join(moved))
    finding = _condition(aoti_logs.load(tmp_path))
    assert not any(link.step == "origin" for link in finding.chain)

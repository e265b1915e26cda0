"""The condition on data that a printed graph ends with."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.explain import Confidence, Finding

FIXTURE = Path(__file__).parent.parent / "fixtures" / "cpu_log_caught_condition" / "run.log"


def note(folder: Path, text: str) -> Finding | None:
    (folder / "run.log").write_text(text)
    found = aoti_logs.load(folder / "run.log").explain()
    return next((f for f in found if f.rule == "AL513"), None)


def test_the_condition_is_the_last_node_of_the_graph_below_the_message(tmp_path: Path):
    found = note(tmp_path, FIXTURE.read_text())
    assert found is not None
    [link] = [k for k in found.chain if k.step == "condition"]
    assert link.strength is Confidence.LIKELY
    assert found.facts["expression"] in link.text
    assert link.place is not None
    assert found.facts["expression"] in FIXTURE.read_text().split("\n")[link.place.line - 1]


def test_without_the_graph_the_condition_is_missing(tmp_path: Path):
    kept = [line for line in FIXTURE.read_text().split("\n") if "Sym(" not in line]
    found = note(tmp_path, "\n".join(kept))
    assert found is not None
    assert "expression" not in found.facts
    assert found.missing[0].what.startswith("the condition")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("condition")


@given(at=st.integers(0, 20_000), cut=st.integers(0, 400), noise=st.text(max_size=20))
@settings(max_examples=25, deadline=None)
def test_damage_never_raises_and_never_names_a_condition_that_is_not_in_the_log(work: Path, at, cut, noise):
    text = FIXTURE.read_text()
    damaged = text[: at % len(text)] + noise + text[at % len(text) + cut :]
    found = note(work, damaged.encode("utf-8", "replace").decode())
    if found is not None and "expression" in found.facts:
        assert f'"Sym({found.facts["expression"]})"' in damaged

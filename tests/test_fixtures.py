"""Every recorded run: the screen a person sees, and the facts behind it."""

import json
from pathlib import Path
from typing import Any

import pytest

import aoti_logs

FIXTURES = sorted(p.parent.name for p in (Path(__file__).parent.parent / "fixtures").glob("*/run.log"))


@pytest.fixture(scope="module")
def explained(fixtures_dir: Path):
    """Explain a fixture's run, once a module."""
    known: dict[str, aoti_logs.Explanation] = {}

    def explain(name: str) -> aoti_logs.Explanation:
        if name not in known:
            folder = fixtures_dir / name
            known[name] = aoti_logs.load(folder / "run.log", context=folder).explain()
        return known[name]

    return explain


def test_there_are_fixtures():
    assert len(FIXTURES) >= 15


def test_every_fixture_is_described(fixtures_dir: Path):
    page = (fixtures_dir / "README.md").read_text()
    assert [name for name in FIXTURES if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", FIXTURES)
def test_the_screen_is_the_expected_one(name: str, explained, golden):
    golden(f"screens/{name}.txt", str(explained(name)))


@pytest.mark.parametrize("name", FIXTURES)
def test_the_answer_keeps_its_contract(name: str, explained):
    """Every key of the JSON Schema is there, and only plain values."""
    from aoti_logs.explanation_schema import JSON_SCHEMA

    answer = json.loads(json.dumps(explained(name).to_dict()))
    _holds(answer, JSON_SCHEMA, "explanation")


def _holds(value: Any, schema: dict[str, Any], where: str) -> None:
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value!r}"
    types = schema.get("type", [])
    names = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
        "null": type(None),
    }
    if types:
        allowed = [types] if isinstance(types, str) else types
        assert isinstance(value, tuple(names[t] for t in allowed)), f"{where}: {value!r}"
    for key in schema.get("required", []):
        assert key in value, f"{where}.{key}"
    for key, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            _holds(value[key], inner, f"{where}.{key}")
    if "items" in schema:
        for n, item in enumerate(value):
            _holds(item, schema["items"], f"{where}[{n}]")


@pytest.mark.parametrize("name", FIXTURES)
def test_every_link_quotes_a_line_that_exists(name: str, fixtures_dir: Path):
    """A link names a source that was read, and a line inside of it."""
    folder = fixtures_dir / name
    run = aoti_logs.load(folder / "run.log", context=folder)
    sources = {s.name: s for s in run.files}
    for finding in run.explain().findings:
        for link in (*finding.chain, *finding.consequences):
            if link.place is not None:
                source = sources[link.place.source]
                assert 1 <= link.place.line <= link.place.end_line <= source.line_at(source.size), link


@pytest.mark.parametrize("name", FIXTURES)
def test_nothing_undecided_is_worded_as_decided(name: str, explained):
    for finding in explained(name).findings:
        for verdict in finding.verdicts:
            if verdict.confidence == "possible":
                assert " may " in verdict.title or verdict.code in {"AL107", "AL108", "AL104"}, verdict.title
        if finding.confidence in {"possible", "unknown"}:
            assert not finding.fixes


def test_a_healthy_run_has_no_cause(explained):
    assert not explained("cpu_ok").failed


@pytest.mark.parametrize("name", FIXTURES)
def test_spans_add_up_to_every_byte(name: str, fixtures_dir: Path):
    """Conservation: records and unparsed rows of each source lie side by side from first to last byte."""
    folder = fixtures_dir / name
    run = aoti_logs.load(folder)
    for source in run.files:
        records, unparsed = run.spans_of(source)
        at = 0
        for _, start, end in sorted([*records, *unparsed], key=lambda r: (r[1], r[2])):
            assert start == at, source.name
            at = end
        assert at == (run.size_of(source) or 0), source.name


def test_the_whole_folder_explains_its_run_log(fixtures_dir: Path):
    """A folder as the question: its run logs are explained apart, the rest is evidence."""
    answer = aoti_logs.load(fixtures_dir / "gpu_empty_events").explain()
    causes = [f for f in answer.findings if f.role == "cause"]
    assert [f.log for f in causes] == ["run.log"]
    assert causes[0].facts["bound"]["input_name"] == "events"


def test_two_kernels_with_the_same_text_are_both_listed(explained, fixtures_dir: Path, tmp_path: Path):
    """With a path that says nothing, both candidates stand there and none is chosen."""
    log = (fixtures_dir / "gpu_two_kernels_same_assert" / "run.log").read_text()
    lines = []
    for line in log.splitlines():
        head, found, tail = line.partition(": block: ")
        lines.append(f"unknown:0: unknown: block: {tail}" if found else head)
    (tmp_path / "run.log").write_text("\n".join(lines))
    folder = fixtures_dir / "gpu_two_kernels_same_assert"
    (finding,) = [
        f for f in aoti_logs.load(tmp_path / "run.log", context=folder).explain() if f.role == "cause"
    ]
    assert len(finding.facts["kernel_candidates"]) == 2
    assert finding.facts["kernel"] is None
    assert finding.confidence != "proven"


@pytest.mark.parametrize("name", ["gpu_empty_events", "cpu_embedding_id_beyond_vocab"])
def test_without_code_the_screen_says_what_is_missing(name: str, fixtures_dir: Path, tmp_path: Path, golden):
    """Wrapper, package and trace taken away: the broken link and how to record it."""
    (tmp_path / "run.log").write_bytes((fixtures_dir / name / "run.log").read_bytes())
    answer = aoti_logs.load(tmp_path / "run.log").explain()
    (finding,) = [f for f in answer if f.role == "cause"]
    assert finding.confidence == "unknown" and finding.missing
    golden(f"screens/{name}.alone.txt", str(answer))


def test_every_table_is_an_attribute(fixtures_dir: Path):
    run = aoti_logs.load(fixtures_dir / "cpu_ok")
    assert all(run.tables[name] is getattr(run, name) for name in run.tables)

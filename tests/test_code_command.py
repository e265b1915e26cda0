"""`aoti-logs code`: a model, a kernel, a launch, a buffer, a size, and graphs, on a screen; and AL701."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.render.code_graph import LaunchGraph, as_dot, as_mermaid

GATHER = "gpu_gather_dynamic_bound"
COMPILED = "gpu_compile_gather"
runner = CliRunner()


def screen(*arguments: str) -> str:
    done = runner.invoke(app, ["code", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def refused(*arguments: str) -> str:
    done = runner.invoke(app, ["code", *arguments])
    assert done.exit_code == 2
    return done.output


@pytest.mark.parametrize(
    ("name", "part"), [(GATHER, "model.pt2"), (COMPILED, "trace"), ("cpu_aoti_bag", "sources")]
)
def test_screen_of_a_model(name: str, part: str, fixtures_dir: Path, golden):
    path = fixtures_dir / name / part
    golden(f"screens/code/{name}.txt", screen(str(path), "--model", "1"))


def test_screen_of_a_kernel_with_its_launch(fixtures_dir: Path, golden):
    golden(
        f"screens/code/{GATHER}.kernel.txt", screen(str(fixtures_dir / GATHER / "model.pt2"), "-k", "triton_")
    )


def test_screen_of_a_buffer(fixtures_dir: Path, golden):
    golden(
        f"screens/code/{GATHER}.buffer.txt", screen(str(fixtures_dir / GATHER / "model.pt2"), "-n", "buf0")
    )


@pytest.mark.parametrize("language", ["dot", "mermaid"])
def test_graph_of_launches(language: str, fixtures_dir: Path, golden):
    golden(
        f"screens/code/{GATHER}.{language}", screen(str(fixtures_dir / GATHER / "model.pt2"), "-g", language)
    )


def test_body_of_a_kernel_has_the_lines_of_its_file(fixtures_dir: Path):
    text = screen(str(fixtures_dir / GATHER / "model.pt2"), "-k", "triton_", "--body")
    assert re.search(r"^ +\d+ \| .*tl\.device_assert", text, re.M)


def test_several_models_are_listed_and_one_is_chosen_by_number(fixtures_dir: Path):
    paths = [str(fixtures_dir / name / "sources") for name in (GATHER, "cpu_aoti_bag")]
    listed = screen(*paths)
    assert re.match(r"2 models\n +1  AOTInductor for", listed)
    assert "for cuda" in screen(*paths, "--model", "1") + screen(*paths, "--model", "2")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--kernel", "no_such_kernel"), "no kernel is called no_such_kernel"),
        (("--launch", "99"), "there is no launch 99"),
        (("--name", "buf99"), "no buffer, input, constant or size buf99"),
        (("--model", "7"), "no wrapper is called 7"),
    ],
)
def test_what_is_not_there_is_a_sentence(arguments, sentence, fixtures_dir: Path):
    assert sentence in refused(str(fixtures_dir / GATHER / "model.pt2"), *arguments)


def test_folder_without_code_is_a_sentence(tmp_path: Path):
    (tmp_path / "run.log").write_text("nothing\n")
    assert "no generated wrapper here" in refused(str(tmp_path))


def test_label_cannot_end_itself_in_a_graph():
    graph = LaunchGraph(
        {"k0": ('a"]; evil [label="\\', "kernel"), "k1": ("b|c]<script>", "output")},
        {("k0", "k1", '"|\n#'): None},
    )
    dot = as_dot(graph)
    assert '"a\\"]; evil [label=\\"\\\\"' in dot
    mermaid = as_mermaid(graph)
    assert all(
        line.count('"') % 2 == 0 and "|c" not in line and "<s" not in line for line in mermaid.split("\n")
    )


def test_package_alone_is_told_as_a_model(fixtures_dir: Path):
    [finding] = aoti_logs.load(fixtures_dir / GATHER / "model.pt2").explain().findings
    assert (finding.rule, finding.role, finding.facts["n_inputs"]) == (
        "AL701",
        "note",
        len(finding.facts["inputs"]),
    )


def test_model_is_not_told_beside_a_log(fixtures_dir: Path):
    rules = {f.rule for f in aoti_logs.load(fixtures_dir / GATHER).explain()}
    assert "AL701" not in rules


@pytest.mark.corpus
def test_ignored_error_code_is_named_with_its_line(corpus_dir: Path):
    folder = corpus_dir / "cpu-torch2.13" / "aoti" / "wrapper" / "aoti_scatter" / "cache"
    [finding] = aoti_logs.load(folder).explain().findings
    assert finding.facts["unchecked_shim_calls"] == ["aoti_torch_cpu_scatter_reduce_two_out"]
    assert "does not look at" in finding.notes[0]
    assert "scatter_reduce" in finding.chain[0].text


def test_an_expression_is_not_shown_as_the_one_size_in_it(fixtures_dir: Path):
    """`n_elements` gets `16L*s27`; what only the launcher is given stands in the grid alone."""
    text = screen(str(fixtures_dir / "gpu_code/user_kernel/aoti"), "-m", "1", "-k", "add_scaled_0")
    rows = [line.split() for line in text.splitlines()]
    assert ["n_elements", "16*s27", "where", "int64_t", "s27", "="] in [row[:6] for row in rows]
    assert all(row[:1] != ["-"] for row in rows)

"""An explanation as Markdown, SARIF and GitHub annotations: same content, safe in each."""

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.explain import Confidence, Explanation, Finding, Link
from aoti_logs.render.github import render_github
from aoti_logs.render.markdown import render_markdown
from aoti_logs.render.private import without_names
from aoti_logs.render.sarif import sarif
from aoti_logs.rules import all_rules
from aoti_logs.sources.source import Place

FIXTURES = ["gpu_empty_events", "cpu_aoti_input_dtype", "cpu_trace_graph_break", "cpu_ok"]
EVIL = 'a\x1b[31m\n::error::x %0A `b` ``c`` <script>alert(1)</script> | [d](http://e) # f "g" \\'

ROOT_HOME = "/" + "root"


def explained(path: Path) -> Explanation:
    return aoti_logs.load(path).explain()


def evil() -> Explanation:
    link = Link("step\n", EVIL, Place("dir/a b:c,d%.log", 3, 4), details=(EVIL, "```"))
    finding = Finding(
        "AL001", "x", "cause", "error", Confidence.PROVEN, EVIL, {}, chain=(link,), notes=(EVIL,)
    )
    return Explanation(("run.log",), (finding,), {}, (EVIL,))


@pytest.mark.parametrize("form", ["markdown", "github"])
@pytest.mark.parametrize("name", FIXTURES)
def test_screen_of_a_format(name: str, form: str, fixtures_dir: Path, golden):
    done = CliRunner().invoke(app, ["explain", str(fixtures_dir / name), "--format", form])
    assert done.exit_code == 0
    golden(f"screens/formats/{name}.{form}.txt", done.output)


def test_page_of_a_refused_input(fixtures_dir: Path, golden):
    done = CliRunner().invoke(
        app, ["explain", str(fixtures_dir / "cpu_aoti_input_dtype"), "--format", "html"]
    )
    golden("screens/formats/cpu_aoti_input_dtype.html", done.output)


@pytest.mark.parametrize("name", FIXTURES)
def test_sarif_has_a_result_for_every_finding_with_a_described_rule(name: str, fixtures_dir: Path):
    done = CliRunner().invoke(app, ["explain", str(fixtures_dir / name), "--format", "sarif"])
    [run] = json.loads(done.output)["runs"]
    assert len(run["results"]) == len(explained(fixtures_dir / name).findings)
    assert {r["ruleId"] for r in run["results"]} <= {r["id"] for r in run["tool"]["driver"]["rules"]}


def test_sarif_results_point_at_lines_with_relative_uris():
    [run] = sarif(evil(), [(r.code, r.name, r.page) for r in all_rules()], "1")["runs"]
    physical = run["results"][0]["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "dir/a%20b%3Ac%2Cd%25.log"
    assert (physical["region"]["startLine"], physical["region"]["endLine"]) == (3, 4)


def test_annotation_is_one_line_whatever_a_log_says():
    text = render_github(evil())
    assert text.count("\n") == 1
    assert text.startswith("::error file=dir/a b%3Ac%2Cd%25.log,line=3,title=AL001 a")
    assert "\x1b" not in text


def test_markdown_shows_markup_of_a_log_as_text():
    text = render_markdown(evil())
    assert "\x1b" not in text
    page = MarkdownIt("commonmark").render(text)  # which would pass markup on
    assert "<script>" not in page and "<a " not in page
    assert page.count("&lt;script&gt;") == text.count("script") // 2


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/alice/run.log", "~/run.log"),
        ("/Users/me/x.py:3", "~/x.py:3"),
        (r"C:\Users\me\x.py", r"~\x.py"),
        ("/srv/demo/models.py", "/srv/demo/models.py"),
        ("see '/home/user/a b'", "see '~/a b'"),
        ("myroot/x /rooted/y", "myroot/x /rooted/y"),
        (f"{ROOT_HOME}/x", "~/x"),
        ("/data/users/bob/x.py", "~/x.py"),
        ("/mnt2/home/alice/x.py", "~/x.py"),
        ("file:///home/alice/x", "file://~/x"),
        ("/srv/app/home/views.py:12", "/srv/app/home/views.py:12"),
        ("/tmp/torchinductor_bob/ab/c.py", "/tmp/torchinductor_USER/ab/c.py"),
        ("inductor_config[torchinductor_worker_logpath]", "inductor_config[torchinductor_worker_logpath]"),
        ("connect to [ip-10-1-2-3.ec2.internal]:29500", "connect to [HOST]:29500"),
        ("[localhost]:29500, [rank0]:[E1129", "[localhost]:29500, [rank0]:[E1129"),
        ("10.0.0.1:29500 10.0.0.1<47323> (10.1.1.1, 29500)", "HOST:29500 HOST<47323> (HOST, 29500)"),
        ("cudnn 9.1.0.70, 127.0.0.1:80", "cudnn 9.1.0.70, 127.0.0.1:80"),
        ("  host      : bob-desktop", "  host      : HOST"),
    ],
)
def test_names_of_users_and_machines_are_not_told(path: str, shown: str):
    assert without_names(path) == shown

"""Every recorded run in every form: JSON as docs/explanation.schema.json says, SARIF as its standard asks, links that lead
somewhere, and Markdown that shows as what it is.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

import aoti_logs
from aoti_logs import __version__
from aoti_logs.explain import Explanation
from aoti_logs.render.markdown import render_markdown
from aoti_logs.render.page import render_page
from aoti_logs.render.sarif import sarif
from aoti_logs.rules import all_rules

FIXTURES = sorted(
    path.name
    for path in (Path(__file__).parent.parent / "fixtures").iterdir()
    if path.is_dir() and path.name != "record"
)

RULES = [(rule.code, rule.name, rule.page) for rule in all_rules()]
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._~/!$&'()*+,;=@-]|%[0-9A-F]{2})+")


@pytest.fixture(scope="module", params=FIXTURES)
def run(request: pytest.FixtureRequest, fixtures_dir: Path) -> aoti_logs.Run:
    return aoti_logs.load(fixtures_dir / request.param)


@pytest.fixture(scope="module", params=["explain", "audit"])
def answer(request: pytest.FixtureRequest, run: aoti_logs.Run) -> Explanation:
    return run.explain() if request.param == "explain" else run.audit()


def test_json_is_what_the_published_schema_says(answer, root_dir):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the extra `test`")
    schema = json.loads((root_dir / "docs" / "explanation.schema.json").read_bytes())
    plain = json.loads(json.dumps(answer.to_dict(plans=True)))
    assert [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(plain)] == []


def test_page_leads_only_to_itself(answer, run):
    page = render_page(answer, {source.name: source for source in run.all_sources})
    names = re.findall(r' id="([^"]*)"', page)
    assert len(names) == len(set(names)) and len(page) < 500_000
    assert {href.removeprefix("#") for href in re.findall(r'href="([^"]*)"', page)} <= set(names)


def test_markdown_is_lists_and_code_and_nothing_that_github_would_take_for_more(answer):
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(render_markdown(answer))
    leaves = [leaf for token in tokens for leaf in [token, *(token.children or [])]]
    foreign = {"html_block", "html_inline", "link_open", "image", "table_open", "code_block", "hr", "s_open"}
    assert not {leaf.type for leaf in leaves} & foreign
    details = sum(any(link.details) for f in answer.findings for link in f.chain if _is_shown(f))
    assert sum(leaf.type == "fence" for leaf in leaves) == details
    steps = [
        leaf.attrs.get("start", 1) for leaf in tokens if leaf.type == "ordered_list_open" and not leaf.level
    ]
    assert steps == [1] * len(steps)  # a fence that is no part of its step would begin a list anew
    assert not [
        t for leaf in leaves if leaf.type == "text" for t in re.findall(r"(?<!\w)[@#]\w+", leaf.content)
    ]


def _is_shown(finding: aoti_logs.Finding) -> bool:
    return finding.role != "note" or finding.severity == "warning"


def test_sarif_says_what_the_standard_asks_for(answer):
    log = json.loads(json.dumps(sarif(answer, RULES, __version__)))
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    described = {rule["id"] for rule in driver["rules"]}
    assert driver["name"] and len(described) == len(driver["rules"])
    assert all(
        rule["shortDescription"]["text"] and rule["fullDescription"]["text"] for rule in driver["rules"]
    )
    for result in run["results"]:
        # 3.27.10: a level other than none needs the kind fail
        assert (result["level"] == "none") == (result["kind"] != "fail")
        assert result["level"] in {"none", "note", "warning", "error"} and result["message"]["text"].strip()
        assert result["ruleId"] in described
        for location in _locations(result):
            _check_location(location)
        for flow in result.get("codeFlows", ()):
            assert flow["threadFlows"] and all(thread["locations"] for thread in flow["threadFlows"])


def _locations(result: dict[str, Any]) -> list[dict[str, Any]]:
    flows = [thread for flow in result.get("codeFlows", ()) for thread in flow["threadFlows"]]
    steps = [step["location"] for thread in flows for step in thread["locations"]]
    return [*result.get("locations", ()), *result.get("relatedLocations", ()), *steps]


def _check_location(location: dict[str, Any]) -> None:
    physical = location["physicalLocation"]
    address = physical["artifactLocation"]["uri"]
    assert _ADDRESS.fullmatch(address) and unquote(address)
    region = physical["region"]
    assert 1 <= region["startLine"] <= region.get("endLine", region["startLine"])
    assert location.get("id", 0) >= 0 and location["message"]["text"]

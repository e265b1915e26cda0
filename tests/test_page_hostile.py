"""Nothing that a log, a file's name or a finding says becomes markup of the page, and the page stays small."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import aoti_logs
from aoti_logs.explain import Confidence, Experiment, Explanation, Finding, Link, Missing, Verdict
from aoti_logs.render.excerpts import MOST_LINES
from aoti_logs.render.markdown import render_markdown
from aoti_logs.render.page import render_page
from aoti_logs.sources.source import Kind, Place, Source
from tests.hostile_log import WORDS, write_hostile_log

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "nav", "section", "article", "details", "summary"),
    *("h1", "h2", "h3", "p", "b", "i", "em", "a", "code", "pre", "div", "span", "br"),
    *("ol", "ul", "li", "table", "tr", "td", "dl", "dt", "dd"),
}
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "id", "class", "href", "title", "open"}
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TEXT = st.text(max_size=30) | st.sampled_from(
    [WORDS.decode(errors="replace"), "`<b>`", "</style>", "a\n`\n<i>"]
)


class Markup(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def check_markup(page: str) -> Markup:
    """Fail where a tag, an attribute or an address is none of ours, or one is not closed."""
    markup = Markup(page)
    assert not markup.open
    assert set(markup.tags) <= TAGS and {name for name, _ in markup.attributes} <= ATTRIBUTES
    assert markup.tags.count("style") == 1 and markup.tags.count("title") == 1
    assert all(value.startswith("#") for name, value in markup.attributes if name == "href")
    names = [value for name, value in markup.attributes if name == "id"]
    assert len(names) == len(set(names))
    assert {value[1:] for name, value in markup.attributes if name == "href"} <= set(names)
    assert not UNSEEN.search(page)
    return markup


def page_of(explanation: Explanation, *sources: Source) -> str:
    return render_page(explanation, {s.name: s for s in sources})


def test_a_hostile_log_is_shown_and_is_no_markup(tmp_path, fixtures_dir):
    run = aoti_logs.load(write_hostile_log(tmp_path, fixtures_dir / "gpu_triton_ptxas" / "run.log"))
    explanation = run.explain()
    assert [f.rule for f in explanation.findings] == ["AL612"]
    page = page_of(explanation, *run.all_sources)
    markup = check_markup(page)
    shown = "".join(markup.text)
    assert (
        shown.count("<script>window.hacked = 1</script>") >= 3
        and "a\"><script>window.hacked = 5<'&lt;`" in shown
    )
    assert (
        re.search(r"300,\d{3} characters", shown) and len(page) < 100_000
    )  # how long the line is, and not the line


@pytest.mark.parametrize(
    "inside", [WORDS.decode(errors="replace"), "```\n# head\n<b>", "    code", "1. x", "~~~"]
)
def test_no_word_of_a_log_gets_out_of_its_fence_in_markdown(inside):
    finding = finding_of(inside, Place("run.log", 1, 1))
    tokens = (
        MarkdownIt("commonmark").enable("table").parse(render_markdown(Explanation((), (finding,), {}, ())))
    )
    leaves = [t for token in tokens for t in [token, *(token.children or [])]]
    kinds = {t.type for t in leaves}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "table_open", "code_block", "hr"}
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h3"]
    assert sum(t.type == "fence" for t in tokens) == 1


def finding_of(text: str, place: Place | None, *, steps: int = 1) -> Finding:
    link = Link(text, text, place, Confidence.POSSIBLE, (text, "^^^"))
    verdict = Verdict("AL001", text, Confidence.PROVEN, (text,), (text,), (text,))
    return Finding(
        "AL001", text, "cause", "error", Confidence.PROVEN, text, {"kernel": text}, rank=1, log=text,
        chain=(link,) * steps, missing=(Missing(text, text),),
        experiments=(Experiment(text, ((text, text),), "run", text, text, text),),
        verdicts=(verdict, verdict), consequences=(link,) * 30, notes=(text,),
    )  # fmt: skip


@given(TEXT, TEXT, st.lists(TEXT, max_size=4), st.integers(1, 6))
def test_whatever_is_said_anywhere_is_text(text, name, lines, line):
    data = "\n".join(lines).encode("utf-8", "replace")
    source = Source(name, Kind.LOG, lambda: data)
    finding = finding_of(text, Place(name, line, line + 1))
    check_markup(page_of(Explanation((name, text), (finding, finding), {}, (text,)), source))


def test_a_page_of_endless_files_holds_a_bounded_part_of_them_and_says_so():
    data = b"\n".join(b"<" * 3000 for _ in range(6000))
    source = Source("run.log", Kind.LOG, lambda: data)
    links = tuple(Link("step", "text", Place("run.log", n, n + 100)) for n in range(1, 6000, 12))
    finding = Finding("AL001", "x", "cause", "error", Confidence.PROVEN, "title", {}, chain=links)
    page = page_of(Explanation(("run.log",), (finding,), {}, ()), source)
    markup = check_markup(page)
    assert markup.tags.count("i") <= MOST_LINES and len(page) < 10_000_000
    assert "more quotes are not shown here" in page


def test_a_page_of_endless_findings_counts_those_it_leaves_out():
    findings = tuple(finding_of(f"text {n}", None) for n in range(400))
    page = page_of(Explanation(("run.log",), findings, {}, ("problem",) * 150))
    markup = check_markup(page)
    assert markup.tags.count("article") == 300
    assert "100 more findings are not on this page" in page and "and 50 more" in page


def test_a_line_that_several_findings_quote_leads_back_to_each():
    source = Source("run.log", Kind.LOG, lambda: b"one\ntwo\nthree\n\n\n")
    findings = tuple(
        Finding(
            "AL001",
            "x",
            "cause",
            "error",
            Confidence.PROVEN,
            "t",
            {},
            chain=(Link("s", "two", Place("run.log", 2, 2)),),
        )
        for _ in range(6)
    )
    page = page_of(Explanation(("run.log",), findings, {}, ()), source)
    check_markup(page)
    [line] = [row for row in page.split("\n") if 'id="file-1-2"' in row]
    assert [f'href="#finding-{n}-1"' in line for n in range(1, 7)] == [True] * 4 + [
        False
    ] * 2 and "+2" in line
    assert page.count("<i>") == 3  # the empty lines at the end are not shown


def test_the_whole_log_is_never_on_the_page(tmp_path: Path, fixtures_dir: Path):
    recorded = (fixtures_dir / "gpu_triton_ptxas" / "run.log").read_bytes()
    path = tmp_path / "run.log"
    path.write_bytes(b"step 1: loss 0.5\n" * 100_000 + recorded + b"step 1: loss 0.5\n" * 20_000)
    run = aoti_logs.load(path)
    page = page_of(run.explain(), *run.all_sources)
    assert "AL612" in page and len(page) < 30_000

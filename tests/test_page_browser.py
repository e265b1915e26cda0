"""The page of `explain --format html` in a real browser: every link is clicked there and back, as a reader would."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.explain import Explanation, Link
from aoti_logs.render.page import render_page
from aoti_logs.render.safe import clean

pytest.importorskip("fcntl", reason="Chromium's pipe needs a Unix")

from tests.chromium import Chromium, Tab, find_chromium
from tests.hostile_log import write_hostile_log

# An index out of bounds on a GPU, where a NaN came from, a compile that ptxas refused, with folded notes, two ranks.
FAILED = ["gpu_empty_events", "gpu_nan_printed", "gpu_triton_ptxas"]
PAGES = {
    "failed": FAILED,
    "notes": ["cpu_log_growing_number"],
    "ranks": ["gpu_ranks_all"],
    "audit": ["gpu_nan_printed"],
    "ok": ["cpu_ok"],
}

_FOREIGN = """[...document.querySelectorAll('*')].filter(e =>
  [...e.attributes].some(a => /^on|^style$|^src$/.test(a.name)) || e.matches('script, img, iframe, form, object, link, base')
).map(e => e.outerHTML)"""

# What is in front of the reader: visible, marked, and what it says.
_TARGET = """(() => {
  const at = document.querySelector(':target');
  if (!at) return null;
  const box = at.getBoundingClientRect(), code = at.querySelector('code');
  const paper = getComputedStyle(at.parentElement).backgroundColor;
  return {
    seen: box.height > 0 && box.top >= 0 && box.bottom <= innerHeight,
    marked: getComputedStyle(at).backgroundColor !== paper && getComputedStyle(at).outlineStyle === 'solid',
    id: at.id, text: code ? code.textContent : at.textContent,
  };
})()"""
_WIDTH = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
_HREFS = "[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"
_IDS = "[...document.querySelectorAll('[id]')].map(e => e.id)"
# Contrast as https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio has it, over the backgrounds that lie under a text.
_FAINT = """(() => {
  const rgba = text => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, under) => top.map((value, i) => i < 3 ? value * top[3] + under[i] * (1 - top[3]) : 1);
  const bright = rgb => {
    const [r, g, b] = rgb.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = element => element ? over(rgba(getComputedStyle(element).backgroundColor),
    paper(element.parentElement)) : [255, 255, 255, 1];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Map();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.getClientRects().length) continue;
    const under = paper(element), ink = over(rgba(getComputedStyle(element).color), under);
    const [light, dark] = [bright(under), bright(ink)].sort((a, b) => b - a);
    const ratio = (light + .05) / (dark + .05);
    found.set(`${element.tagName}.${element.className} ${ink} on ${under}`, ratio);
  }
  return Object.fromEntries(found);
})()"""


@dataclass(frozen=True)
class Page:
    file: Path
    explanation: Explanation
    quotes: dict[str, str]
    """The line of a file that each link of the page quotes, by the `id` of the link."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("needs Chromium (Debian: apt install chromium; elsewhere: set AOTI_LOGS_CHROMIUM)")
    with Chromium(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def pages(fixtures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folder = tmp_path_factory.mktemp("pages")
    hostile = write_hostile_log(folder, fixtures_dir / "gpu_triton_ptxas" / "run.log")
    made = {name: _page(folder / f"{name}.html", fixtures_dir, names) for name, names in PAGES.items()}
    return made | {"hostile": _page(folder / "hostile.html", folder, [hostile.name])}


def _page(file: Path, fixtures_dir: Path, names: list[str]) -> Page:
    run = aoti_logs.load([fixtures_dir / name for name in names])
    explanation = run.audit() if file.stem == "audit" else run.explain()
    sources = {s.name: s for s in run.all_sources}
    file.write_text(render_page(explanation, sources), encoding="utf-8", errors="replace")
    quotes = {}
    for name, link in _links(explanation):
        if link.place is not None and link.place.source in sources:
            quotes[name] = clean(sources[link.place.source].lines[link.place.line - 1])
    return Page(file, explanation, quotes)


def _links(explanation: Explanation) -> Iterator[tuple[str, Link]]:
    hidden = [f for f in explanation.findings if f.role == "note" and f.severity != "warning"]
    shown = [f for f in explanation.findings if f not in hidden]
    for kind, findings in (("finding", shown), ("note", hidden)):
        for number, finding in enumerate(findings, 1):
            chain = [(str(n), link) for n, link in enumerate(finding.chain, 1)]
            for step, link in [*chain, *zip("abcdefghijklmnopqrst", finding.consequences, strict=False)]:
                yield f"{kind}-{number}-{step}", link


def walk(tab: Tab, page: Page) -> int:
    """Click every link to its quote and back; return how many."""
    for name, text in page.quotes.items():
        if name.startswith("note") and folded(tab):
            tab.click("summary")
        link = f"#{name} a" if name[-1].isdigit() else f"dd:has(#{name}) a"
        tab.click(link)
        quote = arrived(tab, tab.ask(f"document.querySelector('{link}').hash.slice(1)"))
        assert quote["seen"] and quote["marked"], (name, quote)
        assert text.startswith(quote["text"].partition(" ... ")[0]), (name, quote)
        tab.click(f':target a[href="#{name}"]')
        back = arrived(tab, name)
        assert back["id"] == name and back["seen"] and back["marked"], (name, back)
    return len(page.quotes)


def arrived(tab: Tab, name: str) -> dict[str, Any]:
    """Return what the reader sees when a click has led there; a busy machine may take a while."""
    until = time.monotonic() + 20
    while not ((there := tab.ask(_TARGET)) and there["id"] == name and there["seen"]):
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return there or {"id": None, "seen": False, "marked": False, "text": ""}


def folded(tab: Tab) -> bool:
    return bool(tab.ask("document.querySelector('details:not([open])') !== null"))


@pytest.mark.parametrize("name", ["failed", "notes", "ranks", "audit", "hostile"])
def test_every_link_leads_to_the_line_that_it_quotes_and_back(browser, pages, name):
    tab = Tab(browser)
    tab.open(pages[name].file)
    assert walk(tab, pages[name]) >= 4
    assert tab.requests() == [pages[name].file.as_uri()] and not tab.complaints()


def test_what_a_hostile_log_says_does_nothing(browser, pages):
    tab = Tab(browser, width=360)
    tab.open(pages["hostile"].file)
    assert tab.ask("typeof window.hacked") == "undefined" and tab.ask(_FOREIGN) == []
    assert "<script>window.hacked = 1</script>" in tab.ask("document.body.innerText")
    assert "evil.example" in tab.ask("document.body.innerText") and tab.ask(_WIDTH) <= 0
    assert tab.requests() == [pages["hostile"].file.as_uri()] and not tab.complaints()


def test_the_failed_page_walks_chains_of_all_three_runs(pages):
    chains = {name.rpartition("-")[0] for name in pages["failed"].quotes}
    assert chains == {"finding-1", "finding-2", "finding-3"}


def test_links_work_without_scripts_in_the_dark_and_on_a_phone(browser, pages):
    tab = Tab(browser, width=360, height=640, dark=True, scripts=False)
    tab.open(pages["failed"].file)
    assert walk(tab, pages["failed"]) >= 15


def test_a_line_leads_back_into_a_folded_note_and_opens_it(browser, pages):
    tab = Tab(browser)
    tab.open(pages["notes"].file)
    assert folded(tab)
    tab.click(".lines a[href='#note-1-1']")
    assert arrived(tab, "note-1-1")["seen"] and not folded(tab)


def test_the_back_button_returns_to_the_finding(browser, pages):
    tab = Tab(browser)
    tab.open(pages["failed"].file)
    tab.click("#finding-1-2 a")
    arrived(tab, tab.ask("document.querySelector('#finding-1-2 a').hash.slice(1)"))
    below = tab.ask("scrollY")
    history = tab.call("Page.getNavigationHistory")
    entry = history["entries"][history["currentIndex"] - 1]
    tab.call("Page.navigateToHistoryEntry", entryId=entry["id"])
    until = time.monotonic() + 20
    while tab.ask("location.hash") and time.monotonic() < until:
        time.sleep(0.02)
    assert tab.ask("location.hash") == "" and tab.ask("scrollY") < below


@pytest.mark.parametrize("name", PAGES)
def test_every_link_has_its_target_and_every_target_its_own_name(browser, pages, name):
    tab = Tab(browser)
    tab.open(pages[name].file)
    ids = tab.ask(_IDS)
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in tab.ask(_HREFS)} <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_the_page_only_up_and_down(browser, pages, name):
    tab = Tab(browser, width=360, height=640)
    tab.open(pages[name].file)
    assert tab.ask("innerWidth") == 360 and tab.ask(_WIDTH) <= 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_all_text_can_be_read_by_day_and_by_night(browser, pages, name, dark):
    tab = Tab(browser, dark=dark)
    tab.open(pages[name].file)
    if name == "failed":
        tab.click("#finding-1-2 a")  # the mark of a target is a background, too
    assert (tab.ask("getComputedStyle(document.body).backgroundColor") == "rgb(19, 19, 19)") == dark
    assert {words: ratio for words, ratio in tab.ask(_FAINT).items() if ratio < 4.5} == {}


@pytest.mark.parametrize("name", PAGES)
def test_the_tab_says_what_was_found(browser, pages, name):
    tab = Tab(browser)
    tab.open(pages[name].file)
    title = tab.ask("document.title")
    findings = [f for f in pages[name].explanation.findings if f.role != "note" or f.severity == "warning"]
    assert title.endswith(" - aoti-logs")
    assert title.startswith(findings[0].rule if findings else "No ")

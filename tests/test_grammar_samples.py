"""Every grammar parses the real lines at its head, and has no ambiguous terminal.

A grammar's head comment has its samples, one a line:

    // sample: TEXT            TEXT fits the rule `start`
    // sample(rule): TEXT      TEXT fits the rule `rule`

(`// sample rule: TEXT`, and `// sample: rule: TEXT` in a grammar without a rule `start`, mean the same.)
A grammar whose rules all stand in other files that import it (`cpp_terminals.lark`) has no samples.
"""

import re
from itertools import combinations
from pathlib import Path

import pytest

from aoti_logs._grammar import grammar_folder, parser

SAMPLE = re.compile(r"^// sample(?:\((\w+)\)| (\w+))?: ?(.*)$", re.MULTILINE)
RULE = re.compile(r"^[?!]?([a-z]\w*)(?:\.-?\d+)? *:", re.MULTILINE)
PREFIX = re.compile(r"([a-z]\w*): (.*)")


def files() -> list[Path]:
    return sorted(p for p in grammar_folder().glob("*.lark") if RULE.search(p.read_text()))


def samples(path: Path) -> list[tuple[str, str]]:
    """Return (rule, text) of each sample."""
    text = path.read_text()
    rules = set(RULE.findall(text))
    found = []
    for bracket, word, line in SAMPLE.findall(text):
        rule, sample = bracket or word or "start", line
        if rule == "start" and "start" not in rules and (named := PREFIX.fullmatch(line)):
            rule, sample = named.groups()
        found.append((rule, sample))
    return found


ALL = [(path.stem, rule, text) for path in files() for rule, text in samples(path)]


def rules_of(name: str) -> tuple[str, ...]:
    return tuple(sorted({rule for grammar, rule, _ in ALL if grammar == name}))


@pytest.mark.parametrize("name", [p.stem for p in files()])
def test_grammar_has_samples(name):
    assert rules_of(name)


@pytest.mark.parametrize(("name", "rule", "text"), ALL)
def test_sample_parses(name, rule, text):
    parser(name, rules_of(name)).parse(text, start=rule)


def strict_pairs(name: str, monkeypatch: pytest.MonkeyPatch) -> set[tuple[tuple[str, str], ...]]:
    """Build the strict parser; return pairs of (name, regex) of one priority that meet in one lexer state."""
    interegular = pytest.importorskip("interegular")
    parser(name, rules_of(name))  # Lark's own grammar is read by Lark, once
    pairs: set[tuple[tuple[str, str], ...]] = set()

    def collect(regexes, comparator, strict):
        named = sorted((t.name, t.priority, regex) for t, regex in regexes.items())
        pairs.update(((a, x), (b, y)) for (a, p, x), (b, q, y) in combinations(named, 2) if p == q)

    monkeypatch.setattr("lark.lexer._check_regex_collisions", collect)
    monkeypatch.setattr(interegular.Comparator, "from_regexes", lambda _: None)
    parser.__wrapped__(name, rules_of(name), strict=True)
    monkeypatch.undo()
    return pairs


def overlap(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Tell whether two terminals (name, regex) can match the same text; False where that cannot be compared."""
    import interegular

    compared = interegular.Comparator.from_regexes(dict([a, b]))
    return len(compared._patterns) == 2 and not compared.isdisjoint(a[0], b[0])


@pytest.mark.parametrize("name", [p.stem for p in files()])
def test_grammar_has_no_conflict_and_no_ambiguous_terminal(name, monkeypatch):
    """Lark itself compares terminals too, over one alphabet for all of them: that takes minutes."""
    assert not [(a, b) for a, b in sorted(strict_pairs(name, monkeypatch)) if overlap(a, b)]


def test_terminals_that_meet_are_compared(monkeypatch):
    pairs = {(a[0], b[0]) for a, b in strict_pairs("assertion", monkeypatch)}
    assert ("NAME", "NUMBER") in pairs
    assert ("FILE", "NAME") not in pairs
    assert overlap(("NAME", r"\w+"), ("NUMBER", r"\d+"))

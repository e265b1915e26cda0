"""Every grammar parses the real lines at its head, and has no ambiguous terminal.

A grammar's head comment has its samples, one a line:

    // sample: TEXT            TEXT fits the rule `start`
    // sample(rule): TEXT      TEXT fits the rule `rule`

(`// sample rule: TEXT`, and `// sample: rule: TEXT` in a grammar without a rule `start`, mean the same.)
A grammar whose rules all stand in other files that import it (`cpp_terminals.lark`) has no samples.
"""

import re
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


@pytest.mark.parametrize("name", [p.stem for p in files()])
def test_grammar_is_free_of_conflicts(name):
    pytest.importorskip("interegular")
    parser(name, rules_of(name), strict=True)

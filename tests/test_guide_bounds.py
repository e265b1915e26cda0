"""The guide page of bounds, inputs and memory faults: every rule in it exists, every rule of its families is in it, proofs are there."""

import re
from pathlib import Path

import pytest

from aoti_logs.rules import all_rules
from aoti_logs.settings import all_settings

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "guide" / "bounds_and_memory.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| statement", "|---"))
]
CODES = {rule.code for rule in all_rules()}


def test_every_rule_that_the_page_names_exists():
    assert set(re.findall(r"AL\d{3}", PAGE)) <= CODES


@pytest.mark.parametrize("family", ["AL1", "AL2", "AL3"])
def test_every_rule_of_the_families_stands_in_it(family):
    assert {code for code in CODES if code.startswith(family)} <= set(re.findall(r"AL\d{3}", PAGE))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_a_row_has_rules_and_proofs_that_are_there(row):
    assert len(row) == 4
    assert re.search(r"AL\d{3}", row[2])
    settings = {setting.name for setting in all_settings()}
    proofs = row[3].replace("`audit` fixtures", "`audit`")
    for name in re.findall(r"`((?:cpu|gpu)_\w+|audit)`", proofs):
        assert (ROOT / "fixtures" / name).is_dir(), name
    for path in re.findall(r"\btests/\w+\.py|\baoti_logs/[\w/]+\.py", proofs):
        assert (ROOT / path).is_file(), path
    for part in re.findall(r"settings ((?:`[^`]+`(?:, )?)+)", proofs):
        assert set(re.findall(r"`([^`]+)`", part)) <= settings, part
    assert re.search(r"`|tests/", proofs)

"""docs/guide/numerics_packages_settings.md: every name in it exists, and every rule of its families stands in it."""

import re
from pathlib import Path

import pytest

from aoti_logs.rules import all_rules
from aoti_logs.settings import all_settings

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guide" / "numerics_packages_settings.md").read_text()
ROWS = [
    cells
    for line in PAGE.splitlines()
    if line.startswith("| ")
    and (cells := [c.strip() for c in line.strip("|").split(" | ")])[0] != "statement"
]
# Numbers, packages and loading, calls and settings; AL306 and the like belong to memory, AL5xx and AL6xx to shapes and compiles.
FAMILIES = re.compile(r"AL(?:4\d\d|21[0-46-9]|22\d|20[123]|70\d|72\d|731)$")


def test_every_row_has_its_four_cells():
    assert len(ROWS) >= 60
    assert [cells[0] for cells in ROWS if len(cells) != 4 or not all(cells)] == []


@pytest.mark.parametrize("cells", ROWS, ids=lambda c: c[0][:50])
def test_what_says_a_statement_exists(cells):
    codes = re.findall(r"AL\d{3}", " ".join(cells))
    names = re.findall(r"`([^`]+)`", cells[2])
    assert codes or names
    assert set(codes) <= {rule.code for rule in all_rules()}
    assert set(names) <= {setting.name for setting in all_settings()}
    assert re.sub(r"AL\d{3}|`[^`]+`", "", cells[2]).strip() == ""


@pytest.mark.parametrize("cells", ROWS, ids=lambda c: c[0][:50])
def test_the_fixtures_and_tests_that_prove_a_statement_exist(cells):
    proof = cells[3]
    for listed in re.findall(r"fixtures/([\w, ]+)", proof):
        for name in listed.replace(" ", "").split(","):
            assert not name or (ROOT / "fixtures" / name).is_dir(), name
    for test in re.findall(r"tests/\w+\.py", proof):
        assert (ROOT / test).is_file()


def test_every_rule_of_these_families_stands_in_the_page():
    own = {rule.code for rule in all_rules() if FAMILIES.match(rule.code)}
    assert own - set(re.findall(r"AL\d{3}", PAGE)) == set()


@pytest.mark.live
@pytest.mark.parametrize("cells", ROWS, ids=lambda c: c[0][:50])
def test_the_files_of_torch_that_prove_a_statement_exist(cells):
    import importlib.util

    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    for listed in re.findall(r"torch (`[\w/.]+`)", cells[3]):
        assert (Path(spec.origin).parent / listed.strip("`")).exists()

"""What keeps the repository readable: short modules, no traces of one machine, generated pages up to date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 400
# Home folders, and wherever this checkout stands. Recorded runs name such paths because torch printed them, and
# sample lines name invented people.
MACHINE_PATHS = re.compile(
    rf"(?<![\w.\]-])(/(home|Users|root|workspace|mnt|scratch)/\w|{re.escape(str(ROOT))}\b)"
)
INVENTED = ("/home/user/", "/home/me/", "/Users/me/", "/home/alice/")
RECORDED = ("fixtures/", "tests/golden/")

ROOMS = (
    "errors",
    "settings",
    "_grammar",
    "sources",
    "records",
    "parse",
    "commands",
    "ladder",
    "explain",
    "explanation_schema",
    "code",
    "rules",
    "plan",
    "render",
    "report",
)
# (module, room that it looks into although it stands to its right): reason
BACKWARDS = {
    ("sources/kinds.py", "records"): "a trace is told by the form of its record heads, which records knows",
    (
        "records/trace.py",
        "parse",
    ): "`Unparsed` is one type for traces and logs, and stands with the other events",
    ("records/tlparse/index.py", "parse"): "the same, of tlparse reports",
    ("explain.py", "render"): "str() and a notebook show an explanation; imported when they do",
    ("rules/checkup.py", "render"): "str() shows a checkup; imported when it does",
    ("rules/comparison.py", "render"): "the same of a comparison",
}


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [Path(name) for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[Path]:
    folders = ("aoti_logs", "benchmarks", "docs", "tests")
    found = (p.relative_to(ROOT) for folder in folders for p in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if ".inputs" not in path.parts)  # what benchmarks write


@pytest.mark.parametrize("path", modules(), ids=str)
def test_module_is_short_enough_to_read_in_one_go(path):
    assert len((ROOT / path).read_text().splitlines()) <= LONGEST


def test_no_file_names_a_path_of_one_machine():
    found = []
    for path in tracked():
        if str(path).startswith(RECORDED) or path == Path("tests/test_style.py"):
            continue
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1):
            for invented in INVENTED:
                line = line.replace(invented, "")  # noqa: PLW2901 the line without the names that mean nobody
            if MACHINE_PATHS.search(line):
                found.append(f"{path}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert not [link for link in links if not (path.parent / link).exists()]


@pytest.mark.parametrize("room", ROOMS)
def test_data_flows_one_way(room):
    package = ROOT / "aoti_logs"
    files = (
        [package / f"{room}.py"]
        if (package / f"{room}.py").exists()
        else sorted((package / room).rglob("*.py"))
    )
    wrong = []
    for path in files:
        module = path.relative_to(package).as_posix()
        for used in re.findall(r"^\s*from aoti_logs(?:\.(\w+)[\w.]*)? import", path.read_text(), re.M):
            if used in ROOMS[: ROOMS.index(room) + 1] or (module, used) in BACKWARDS:
                continue
            wrong.append(f"{module} imports {used}")
    assert not wrong


@pytest.mark.parametrize(
    "path", sorted((ROOT / "aoti_logs").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_possessive_group(path: Path):
    """Python before 3.11.5 loses what a group captured inside of a possessive group."""
    assert re.search(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+", path.read_text()) is None

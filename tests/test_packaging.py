"""The package as a user meets it first: version, command, cheap imports, grammars in reach."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

HEAVY = ("polars", "lark", "torch", "dataframely", "pyarrow", "numpy")


def modules_after(code: str) -> set[str]:
    """Run code in a new Python and return the names of the top-level modules it has imported."""
    program = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_version_is_the_one_of_pyproject(root_dir):
    import aoti_logs

    project = tomllib.loads((root_dir / "pyproject.toml").read_text())["project"]
    assert aoti_logs.__version__ == project["version"]
    assert metadata.version("aoti-logs") == project["version"]


def test_changelog_has_a_section_for_the_version(root_dir):
    import aoti_logs

    assert f"## [{aoti_logs.__version__}]" in (root_dir / "CHANGELOG.md").read_text()


def test_package_says_that_it_is_typed(root_dir):
    assert (root_dir / "aoti_logs" / "py.typed").exists()


def test_command_is_installed():
    (command,) = metadata.entry_points(group="console_scripts", name="aoti-logs")
    assert command.value == "aoti_logs.cli:main"


def test_help_names_every_command():
    code = "import sys, aoti_logs.cli; sys.argv = ['aoti-logs', '--help']; aoti_logs.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for verb in ("explain", "tables", "show", "timeline", "report", "rules"):
        assert verb in done.stdout


def test_importing_the_package_imports_nothing_heavy():
    assert not modules_after("import aoti_logs") & {*HEAVY, "typer", "rich", "orjson"}


def test_help_imports_nothing_heavy():
    code = "import aoti_logs.cli; sys.argv = ['aoti-logs', '--help']; aoti_logs.cli.main()"
    assert not modules_after(code) & set(HEAVY)


def test_grammars_are_beside_or_inside_the_package():
    from aoti_logs._grammar import grammar_folder

    assert {path.name for path in grammar_files()} == {path.name for path in grammar_folder().glob("*.lark")}


def grammar_files() -> list[Path]:
    return sorted((Path(__file__).resolve().parent.parent / "grammars").glob("*.lark"))


@pytest.mark.parametrize("path", grammar_files(), ids=lambda p: p.name)
def test_grammar_begins_with_who_prints_the_text(path):
    head = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        head.append(line.lstrip("/ "))
    assert len(" ".join(head)) > 40, (
        "a grammar begins with a comment: which program prints this text, from where"
    )

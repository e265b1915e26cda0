"""Names of files on a screen: short ones lead to a path that can be pasted."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from aoti_logs.cli import app
from aoti_logs.render.names import ShortNames

_FIXTURES = Path(__file__).parent.parent / "fixtures"
_HASHED = "c774kuul2dw54bq6qgsqt3uic7ynr2zqcjrfyfruikilaaaaaaaaa.wrapper.cpp"


def _footer(screen: str) -> list[str]:
    lines = screen.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("files:"))
    return [line.split()[-1] for line in lines[at:] if line.startswith(("files:", "       "))]


def test_the_footer_gives_paths_that_can_be_pasted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(_FIXTURES)
    result = CliRunner().invoke(
        app, ["explain", "gpu_size_outside_range/run.log", "-c", "gpu_size_outside_range"]
    )
    paths = _footer(result.stdout)
    assert paths
    assert all(Path(path.partition("!")[0]).is_file() for path in paths)


def test_a_member_of_an_archive_is_given_with_the_path_of_the_archive():
    names = ShortNames([f"m.pt2!model/{_HASHED}"], None, {"m.pt2": "build/m.pt2"})
    ((short, path),) = names.legend()
    assert short.startswith("m.pt2!")
    assert path == f"build/m.pt2!model/{_HASHED}"


def test_a_name_without_a_path_is_given_whole():
    names = ShortNames([f"sources/{_HASHED}"])
    assert [path for _, path in names.legend()] == [f"sources/{_HASHED}"]


def test_the_only_file_that_was_given_keeps_its_name(tmp_path: Path):
    log = tmp_path / "a_log_with_a_name_that_is_longer_than_others.log"
    log.write_bytes((_FIXTURES / "gpu_size_outside_range" / "run.log").read_bytes())
    result = CliRunner().invoke(app, ["explain", str(log)])
    assert f"{log.name}:" in result.stdout
    assert ".." not in result.stdout.split("assertion", 1)[1].splitlines()[0].split()[0]

"""What tests share: where the recorded runs are, and golden files with an update flag."""

import difflib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A machine that does other work, too, must not fail a property; in continuous integration the examples are the same
# every time, so that a failure there is about the change.
settings.register_profile("repository", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("repository")

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
CORPUS = Path(os.environ.get("AOTI_LOGS_CORPUS", ROOT.parent / "shared" / "corpus"))

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden with what the tests produce now"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the corpus where it is missing; `corpus_dir` implies the mark."""
    no_corpus = pytest.mark.skip(reason=f"no corpus at {CORPUS}")
    no_torch = pytest.mark.skip(reason="needs an installed torch")
    for item in items:
        if "corpus_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("corpus")
        if item.get_closest_marker("corpus") and not CORPUS.is_dir():
            item.add_marker(no_corpus)
        if item.get_closest_marker("live") and not has_torch():
            item.add_marker(no_torch)


def has_torch() -> bool:
    """Look without importing: torch takes seconds."""
    from importlib.util import find_spec

    return "torch" in sys.modules or find_spec("torch") is not None


@pytest.fixture(scope="session")
def root_dir() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    return ROOT / "fixtures"


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    return CORPUS


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return `golden(name, text)`: text must equal tests/golden/<name>, or becomes it with --update-golden."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        if not path.exists():
            pytest.fail(f"no golden file {name}: run pytest --update-golden and read what it wrote")
        want = path.read_bytes().decode()
        if text != want:
            lines = difflib.unified_diff(
                want.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            pytest.fail("\n".join([*lines, "", "if this is right: pytest --update-golden"]), pytrace=False)

    return compare

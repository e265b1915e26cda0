"""The catalogue against the installed torch: its files are read as text, torch is not imported.

A claim is checked only where the catalogue says that it holds for this release.
"""

import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

from aoti_logs.settings import Kind, all_settings
from aoti_logs.settings.model import number
from tests.torch_settings import UNKNOWN, Torch, Value

pytestmark = pytest.mark.live
PROOFS = [(s, p) for s in all_settings() for p in s.proof]
VALUES = [s for s in all_settings() if s.config is not None or s.kind is Kind.CONFIG]


@pytest.fixture(scope="module")
def torch() -> Torch:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    return Torch(Path(spec.origin).parent)


@pytest.fixture(scope="module")
def release() -> str:
    major, minor = number(importlib.metadata.version("torch"))
    return f"{major}.{minor}"


@pytest.mark.parametrize(("known", "proof"), PROOFS, ids=lambda v: getattr(v, "name", getattr(v, "text", "")))
def test_the_text_that_shows_it_stands_in_torch(known, proof, torch, release):
    since, until = proof.since or "0.0", proof.until or "99.0"
    if not known.known_in(release) or not number(since) <= number(release) <= number(until):
        pytest.skip(f"says nothing of torch {release}")
    assert torch.has(proof.file, proof.text)


def value_of(torch: Torch, name: str) -> Value | None:
    """The config value, followed where it is another name of one."""
    value = torch.config(name)
    return torch.config(value.alias) if value is not None and value.alias else value


@pytest.mark.parametrize("known", VALUES, ids=lambda s: s.name)
def test_the_config_value_exists_with_this_default(known, torch, release):
    if not known.known_in(release):
        pytest.skip(f"says nothing of torch {release}")
    value = value_of(torch, known.config or known.name)
    assert value is not None
    if release == "2.13" and value.default is not UNKNOWN:
        assert repr(value.default) == known.default


@pytest.mark.parametrize("known", [s for s in VALUES if s.config is not None], ids=lambda s: s.name)
def test_the_variable_gives_the_config_value_and_is_read_so(known, torch, release):
    if not known.known_in(release):
        pytest.skip(f"says nothing of torch {release}")
    value = value_of(torch, known.config)
    assert value is not None and known.name in value.variables
    if release == "2.13" and value.reading != "other":  # computed by a function of the module
        assert value.reading == known.reading


@pytest.mark.parametrize("known", [s for s in VALUES if s.kind is Kind.CONFIG], ids=lambda s: s.name)
def test_no_variable_sets_a_value_of_which_that_is_said(known, torch, release):
    value = value_of(torch, known.name) if known.known_in(release) else None
    assert value is None or release != "2.13" or not value.variables

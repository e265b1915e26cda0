"""Models compiled for a CUDA GPU with torch 2.11 (`fixtures/gpu_code`): what is read is what Inductor knew."""

import json
import re
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.code.model import Backend
from tests.code_compare import TOPICS
from tests.code_truth import Compiled, load

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "gpu_code"
RECORDED = sorted((p.parent.parent.name, p.parent.name, p.stem) for p in FOLDER.glob("*/*/graph_*.json"))
PRINTED = sorted(p.parent.parent.name for p in FOLDER.glob("*/printed/run.log"))
_CACHE: dict[tuple[str, str, str], Compiled] = {}


def graph(model: str, way: str, stem: str) -> Compiled:
    key = (model, way, stem)
    if key not in _CACHE:
        _CACHE[key] = load(FOLDER / model / way, stem)
    return _CACHE[key]


def test_every_kind_of_model_is_there():
    assert len({model for model, _, _ in RECORDED}) >= 20
    assert {way for _, way, _ in RECORDED} == {"aoti", "compile"}
    assert len(PRINTED) >= 8


def test_no_record_of_inductor_is_missing():
    assert [key for key in RECORDED if graph(*key).truth["missing"]] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_read_is_what_inductor_knew(topic):
    found = [(*key, text) for key in RECORDED for text in TOPICS[topic](graph(*key))]
    if topic == "producers":
        # What an operator of the user's writes into is not in the code: "not known" is right, a wrong launch is not.
        found = [f for f in found if f[0] != "custom_op" or " from None, " not in f[-1]]
    assert found == []


def test_enough_was_compared():
    calls = [call for key in RECORDED for call in graph(*key).calls]
    assert len(calls) > 150
    assert sum(len(event.get("args", ())) for event, _ in calls) > 500
    assert {launch.backend for _, got in calls for launch in got} == {Backend.TRITON, Backend.EXTERN}


def test_a_number_that_the_compile_knew_is_an_argument_like_any_other():
    """`load_seed_offset1` is 1 and therefore `constexpr` in the signature, but it is passed."""
    (launch,) = [
        x for x in graph("random_numbers", "compile", "graph_0").wrapper.launches if "rand_like" in x.kernel
    ]
    bound = {a.param: a.text for a in launch.arguments}
    assert (bound["load_seed_offset"], bound["load_seed_offset1"], bound["xnumel"]) == ("0", "1", "96")


def launched(printed: str, launches: list[str]) -> str:
    """The launch that the printer names otherwise: `at::_ops::nonzero::call` is `aoti_torch_cuda_nonzero`."""
    match = re.fullmatch(r"at::_ops::(\w+)::call", printed)
    return next((x for x in launches if match and x.endswith(f"_{match[1]}")), printed)


@pytest.mark.parametrize("model", PRINTED)
def test_kernels_ran_in_the_order_of_the_launches(model):
    """The names that the model printed when it ran are launches in program order; branches not taken are missing."""
    log = (FOLDER / model / "printed" / "run.log").read_text(errors="replace")
    launches = [x.kernel for x in graph(model, "aoti", "graph_0").wrapper.launches]
    ran = [launched(name, launches) for name in re.findall(r"\[\s*before_launch: ([\w:.]+)", log)]
    names = set(launches)
    assert ran, log[-1000:]
    assert set(ran) <= names, set(ran) - names
    if model == "while_loop":
        first, last = ran[0], ran[-1]
        assert (launches.index(first), launches.index(last)) == (0, len(launches) - 1)
        return
    at = -1
    for kernel in ran:
        at = launches.index(kernel, at + 1)


@pytest.mark.parametrize("model", sorted({model for model, _, _ in RECORDED}))
def test_tables_of_a_folder_hold_the_same_launches(model):
    for way in ("aoti", "compile"):
        if not (FOLDER / model / way).exists():
            continue
        run = aoti_logs.load(FOLDER / model / way / "sources")
        wanted = [x.kernel for x in graph(model, way, "graph_0").wrapper.launches]
        assert run.launches["kernel"].to_list() == wanted


def test_records_tell_their_version():
    for model, way, _ in RECORDED:
        assert "missing" in json.loads((FOLDER / model / way / "graph_0.json").read_text())

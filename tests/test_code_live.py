"""Models that are compiled here, with the installed torch: what is read from their code is what Inductor knew of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import aoti_logs
from tests.code_compare import TOPICS
from tests.code_truth import load

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

ORDER = [
    "gather", "scatter", "index_put", "cumsum", "norms", "attention", "cond", "while_loop", "sort", "nonzero", "custom_op",
    "mixed_types", "views", "scalars", "mutated", "many_outputs", "embedding_bag", "derived_sizes", "foreach",
    "random_numbers", "convolution",
]  # fmt: skip
"""As `code_models.py` has them."""
MODELS = sorted(ORDER)
WAYS = ("aoti", "compile")
PROGRAM = Path(__file__).resolve().parent.parent / "fixtures" / "record" / "code_only.py"


def environment(cache):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH", "AOT"))}
    return kept | {
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("code")
    running = {}
    for way in WAYS:
        env = environment(folder / f"cache_{way}")
        env |= {"TORCH_TRACE": str(folder / f"trace_{way}"), "TORCHINDUCTOR_VEC_ISA_OK": "1"}
        with (folder / f"{way}.log").open("wb") as log:
            running[way] = subprocess.Popen(
                [sys.executable, str(PROGRAM), way, str(folder / way)], env=env, stdout=log, stderr=log
            )
    for way, process in running.items():
        assert process.wait() == 0, (folder / f"{way}.log").read_text()[-2000:]
    return folder


@pytest.fixture(scope="module")
def compiled(written):
    return {
        (way, p.parent.name, p.stem): load(p.parent, p.stem)
        for way in WAYS
        for p in sorted((written / way).glob("*/graph_*.json"))
    }


@pytest.fixture(scope="module", params=WAYS)
def traced(request, written):
    return request.param, aoti_logs.load(written / f"trace_{request.param}")


@pytest.mark.parametrize("way", WAYS)
def test_every_model_is_compiled_and_every_record_of_inductor_is_there(written, compiled, way):
    assert sorted({name for w, name, _ in compiled if w == way}) == MODELS
    assert [(w, name, c.truth["missing"]) for (w, name, _), c in compiled.items() if c.truth["missing"]] == []
    assert list(written.glob("*/*/*.error")) == []


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_read_is_what_inductor_knew(compiled, way, topic):
    found = [(name, text) for (w, name, _), c in compiled.items() if w == way for text in TOPICS[topic](c)]
    if topic == "producers":
        # What an operator of the user's writes into is not in the code: "not known" is right, a wrong launch is not.
        found = [f for f in found if f[0] != "custom_op" or " from None, " not in f[-1]]
    assert found == []


def test_enough_was_compared(compiled):
    calls = [call for c in compiled.values() for call in c.calls]
    assert len(calls) > 100
    assert sum(len(event.get("args", ())) for event, _ in calls) > 250
    assert all(event["rows"] for event, _ in calls)


def test_the_comparison_notices_what_is_wrong(compiled):
    """Two arguments of a call are changed for each other in the records."""
    c = next(c for (way, name, _), c in compiled.items() if (way, name) == ("aoti", "gather"))
    changed = load_changed(
        c, "KernelCallLine", lambda e: e | {"args": [e["args"][1], e["args"][0], *e["args"][2:]]}
    )
    assert TOPICS["arguments"](changed) != []
    changed = load_changed(c, "AllocateLine", lambda e: e | {"name": "buf77"})
    assert TOPICS["buffers"](changed) != []
    shorter = type(c)(c.truth, re.sub(r"\n[^\n]*\(const float\*\)\(arg0_1[^\n]*", "", c.text), c.kernels)
    assert TOPICS["launches"](shorter) != []


def load_changed(c, line, change):
    events = [change(e) if e.get("line") == line else e for e in c.truth["events"]]
    return type(c)(c.truth | {"events": events}, c.text, c.kernels)


def test_the_trace_holds_the_same_launches(traced, compiled):
    way, run = traced
    wanted = sorted(
        [launch.kernel for launch in c.wrapper.launches] for (w, _, _), c in compiled.items() if w == way
    )
    rows = run.launches.group_by("wrapper", maintain_order=True).agg("kernel")
    assert sorted(rows["kernel"].to_list()) == [kernels for kernels in wanted if kernels]


def test_inputs_of_aotinductor_have_the_names_of_the_programs_arguments(written):
    """In the order in which the models were compiled; arguments that are no tensors may be missing."""
    run = aoti_logs.load(written / "trace_aoti")
    found = [
        [row["user_name"] for row in rows.iter_rows(named=True)]
        for _, rows in run.inputs.group_by("wrapper", maintain_order=True)
    ]
    wanted = [json.loads((written / "aoti" / name / "names.json").read_text())["inputs"] for name in ORDER]
    assert len(found) == len(wanted)
    for names, arguments in zip(found, wanted, strict=True):
        assert [n for n in names if n is not None and n not in arguments] == []
        known = [n for n in names if n is not None]
        assert known == [a for a in arguments if a in known]
        assert len(known) >= len(names) - 1


def test_constants_of_aotinductor_have_the_names_of_the_modules_weights(written, compiled):
    n_named = 0
    for (way, name, _), c in compiled.items():
        if way != "aoti":
            continue
        weights = json.loads((written / way / name / "names.json").read_text())["weights"]
        for constant in c.wrapper.constants:
            if constant.fqn in weights:
                n_named += 1
                assert [f"torch.{constant.dtype}", list(constant.shape or ())] == weights[constant.fqn]
            else:
                # A second name of the same weight.
                assert constant.fqn == "tied.weight", constant
    assert n_named >= 15

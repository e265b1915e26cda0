"""Ten failures of a GPU: what is suggested after the plain run was run, and the second answer is the stronger one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import aoti_logs
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from aoti_logs.explain import Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"
P, L, S, U = Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN
# Name, the fixture that comes after it, and of both: rule, confidence, words of the title.
PAIRS = (
    ("wrong_device", "next", ("AL301", U, "not known"), ("AL201", P, "`rates`) is on cpu")),
    ("nan_division", "next", ("AL404", U, "noticed NaN"), ("AL402", P, "`buf2` holds NaN after the launch")),
    ("nan_division", "values", ("AL404", U, "noticed NaN"), ("AL401", P, "NaN first appears in `buf2`")),
    ("user_kernel", "checked", ("AL301", U, "not known"), ("AL301", U, "not known")),
    ("user_kernel", "next", ("AL301", U, "not known"), ("AL303", P, "`row_totals_kernel` reads 8 bytes")),
    ("shape_range", "next", ("AL405", U, "two results differ"), ("AL201", P, "size 200 in dimension 1")),
    ("scatter", "next", ("AL101", S, "4 known causes"), ("AL102", S, "2 known causes")),
    ("stale_package", "next", ("AL103", S, "4 known causes"), ("AL201", P, "size 4 in dimension 1")),
    ("two_ranks", "next", ("AL321", L, "8 bytes where it had asked for 4"), ("AL321", P, "TensorShape=[5]")),
    ("mixed_devices", "next", ("AL604", P, "`add` refused its inputs"), ("AL604", P, "`add` refused its inputs")),
    ("missing_weight", "next", ("AL301", U, "not known"), ("AL212", P, "leaves out `item_scale`")),
    ("missing_weight", "names", ("AL301", U, "not known"), ("AL301", L, "in `triton_poi_fused_add_addmm_mul_relu_0`")),
    ("small_weight", "next", ("AL212", P, "no constant `query.bias`"), ("AL212", P, "no constant `query.bias`")),
    ("recompile_storm", "next", ("AL502", P, "limit of 8 compiles"), ("AL502", P, "limit of 8 compiles")),
)  # fmt: skip
IDS = [f"{name}-{after}" for name, after, *_ in PAIRS]


def cause(fixture: str) -> Finding:
    found = aoti_logs.load(FIXTURES / fixture / "run.log", context=str(FIXTURES / fixture)).explain().findings
    causes = [f for f in found if f.role == "cause"]
    assert len(causes) == 1, [f.title for f in causes]
    return causes[0]


@pytest.mark.parametrize(("name", "after", "first", "second"), PAIRS, ids=IDS)
def test_each_answer_is_the_one_that_the_evidence_allows(
    name: str, after: str, first: tuple[str, Confidence, str], second: tuple[str, Confidence, str]
):
    for fixture, (rule, confidence, words) in (
        (f"gpu_ten_{name}", first),
        (f"gpu_ten_{name}_{after}", second),
    ):
        found = cause(fixture)
        assert (found.rule, found.confidence) == (rule, confidence)
        assert words in found.title


@pytest.mark.parametrize(("name", "after"), [pair[:2] for pair in PAIRS], ids=IDS)
def test_the_second_answer_is_stronger(name: str, after: str):
    order = [P, L, S, U]

    def weakness(found: Finding) -> tuple[int, int, int, int]:
        known = sum(len(v.because) for v in found.verdicts)
        open_questions = len(found.missing) + len(found.experiments)
        return (order.index(found.confidence), len(found.verdicts), open_questions, -known)

    assert weakness(cause(f"gpu_ten_{name}_{after}")) < weakness(cause(f"gpu_ten_{name}"))


@pytest.mark.parametrize(
    ("name", "after"), [pair[:2] for pair in PAIRS if pair[0] != "small_weight"], ids=lambda x: x
)
def test_what_was_run_next_is_what_was_suggested(name: str, after: str):
    suggested = [(dict(e.env), e.command) for e in cause(f"gpu_ten_{name}").experiments]
    steps = json.loads((FIXTURES / f"gpu_ten_{name}_{after}" / "fixture.json").read_text())["steps"]
    ran = " ".join(step["command"] for step in steps)
    environment = {key: value for step in steps for key, value in step["env"].items()}

    def fits(env: dict[str, str], command: str) -> bool:
        tools = re.findall(r"compute-sanitizer|torchrun", command)
        return env.items() <= environment.items() and all(tool in ran for tool in tools)

    assert any(fits(env, command) for env, command in suggested)


def test_a_trace_names_the_tensor_on_the_other_device():
    found = cause("gpu_ten_mixed_devices_next")
    assert found.facts["odd_tensors"] == ["L['self'].shift"]
    assert found.facts["tensors_by_device"] == {"cpu": 1, "cuda:0": 3}


def test_checks_that_ran_and_refused_nothing_exclude_an_empty_tensor_and_a_wrong_layout():
    assert {v.code for v in cause("gpu_ten_scatter").verdicts} == {"AL101", "AL102", "AL105", "AL110"}
    assert {v.code for v in cause("gpu_ten_scatter_next").verdicts} == {"AL102", "AL105"}


def test_inputs_that_were_checked_leave_the_users_own_kernel():
    because = cause("gpu_ten_user_kernel_checked").verdicts[0].because
    assert any(text.startswith("the inputs fit") for text in because)
    possible = [text for text in because if text.startswith("possible")]
    assert not any("dtype" in text for text in possible)
    assert any("`row * stride`" in text and "overflows" in text for text in possible)


def test_kernels_of_the_users_own_are_named_as_suspects():
    because = cause("gpu_ten_user_kernel").verdicts[0].because
    assert any("`row_totals_kernel_0`" in text and text.startswith("possible") for text in because)


def test_a_weight_that_does_not_come_with_the_library_is_the_first_suspect_of_a_fault():
    found = cause("gpu_ten_missing_weight")
    possible = [text for text in found.verdicts[0].because if text.startswith("possible")]
    assert "never loaded" in possible[0]
    assert "`item_scale`" in possible[0]
    assert "load_constants(weights, check_full_update=True)" in str(found.experiments[0].change)


def test_weights_that_come_with_the_library_are_no_suspects_of_a_fault():
    possible = [text for text in cause("gpu_ten_wrong_device").verdicts[0].because if "possible" in text]
    assert possible
    assert not any("weight" in text for text in possible)


def test_a_kernel_that_faulted_is_told_with_the_weights_that_it_reads_and_that_the_library_lacks():
    because = cause("gpu_ten_missing_weight_names").verdicts[0].because
    assert any("it reads `item_scale` and `query.bias`" in text for text in because)


def test_a_printed_weight_whose_record_is_cut_was_likely_never_loaded():
    folder = FIXTURES / "gpu_ten_missing_weight_values"
    found = aoti_logs.load(folder / "run.log", context=str(folder)).explain().findings
    because = [text for f in found if f.rule == "AL403" for v in f.verdicts for text in v.because]
    assert because[0].startswith("likely: `item_scale` was never loaded")

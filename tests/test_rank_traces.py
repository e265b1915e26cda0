"""Traces of several ranks are compared: compiles, order of collectives, shapes, caches."""

import json
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.traces.outcomes import outcomes
from aoti_logs.parse.traces.rank_view import RankView
from aoti_logs.rules.rank_views import ranks_words, views_of_runs

FIXTURES = Path(__file__).parent.parent / "fixtures"
HEAD = "V1130 02:20:{second:02}.000000 {process} torch/_dynamo/utils.py:1] "
DIFFERENT = {"AL324", "AL325", "AL326", "AL327"}


def found(path, *rules):
    return [f for f in aoti_logs.load(path).explain() if f.rule in (rules or DIFFERENT)]


def record(entry, metadata, payload=None, *, compile_id=0, second=0, process=100, rank=None):
    """Write a record as torch/_logging/_internal.py does."""
    import hashlib

    envelope = {entry: metadata}
    if rank is not None:
        envelope["rank"] = rank
    envelope |= {"frame_id": 0, "frame_compile_id": compile_id, "attempt": 0}
    lines = ""
    if payload is not None:
        envelope["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
        lines = "".join(f"\t{line}\n" for line in payload.split("\n"))
    return HEAD.format(second=second, process=process) + json.dumps(envelope) + "\n" + lines


def compiled(*names, compile_id=0, second=0, function="step", artifact=True, shape=(4, 4), rank=0):
    """Write a compile that calls collectives."""
    kw = {"compile_id": compile_id, "second": second, "rank": rank}
    text = record("dynamo_start", {"stack": [{"line": 3, "name": function, "filename": 0}]}, **kw)
    text += record(
        "describe_tensor", {"id": 0, "describer_id": 0, "dtype": "torch.float32", "size": list(shape)}, **kw
    )
    text += record("describe_source", {"id": 0, "describer_id": 0, "source": "L['x']"}, **kw)
    ops = [f"torch.ops._c10d_functional.{name}.default" for name in names]
    if artifact:
        schedule = "[\n" + ",\n".join(map(json.dumps, ops)) + "\n]"
        text += record(
            "artifact", {"name": "inductor_collective_schedule", "encoding": "json"}, schedule, **kw
        )
    else:
        text += record(
            "inductor_output_code", {"filename": "a.py"}, "\n".join(f"    {op}(buf0)" for op in ops), **kw
        )
    return text + record("compilation_metrics", {"fail_type": None, "duration_us": 1000}, **kw)


def write(folder, *ranks):
    for number, text in enumerate(ranks):
        name = f"dedicated_log_torch_trace_rank_{number}_{'abcdefgh'[number] * 8}.log"
        (folder / name).write_text(HEAD.format(second=0, process=100) + '{"str": ["a.py", 0]}\n' + text)
    return folder


def test_a_hang_in_a_collective_is_led_back_to_its_other_order():
    explanation = aoti_logs.load(FIXTURES / "cpu_ranks_order").explain()
    lead = explanation.findings[0]
    assert (lead.rule, lead.facts["rank_differences"]) == ("AL321", ["AL325"])
    assert "AL325" in next(k.text for k in lead.chain if k.step == "ranks")
    (order,) = found(FIXTURES / "cpu_ranks_order")
    assert order.severity == "warning"
    assert order.facts["position"] == 0
    assert [o["collectives"] for o in order.facts["orders"]] == [
        ["all_reduce_", "all_gather_into_tensor"],
        ["all_gather_into_tensor", "all_reduce_"],
    ]


def test_a_batch_of_another_length_on_one_rank_is_named_with_its_input_and_shapes():
    (tensors,) = found(FIXTURES / "cpu_ranks_batch")
    assert tensors.rule == "AL326"
    assert tensors.severity == "warning"
    assert tensors.facts["collectives"] == ["all_reduce_"]
    (told,) = tensors.facts["inputs"]
    assert told["source"] == "L['x']"
    assert [t["tensor"] for t in told["tensors"]] == ["float32 [32, 16]", "float32 [24, 16]"]
    assert tensors.facts["operation"] == "extern_kernels.mm"


def test_a_cache_that_answers_one_rank_only_is_a_note_with_the_seconds_of_both():
    (caches,) = found(FIXTURES / "cpu_ranks_caches")
    assert (caches.rule, caches.role, caches.severity) == ("AL327", "note", "note")
    (told,) = caches.facts["answers"]
    assert [(a["status"], a["ranks"]) for a in told["answers"]] == [("hit", [0]), ("miss", [1])]
    assert told["answers"][0]["seconds"][0] < told["answers"][1]["seconds"][0]


def test_a_cache_hit_has_no_schedule_but_code_whose_collectives_are_compared_with_the_schedule_of_others():
    assert not found(FIXTURES / "cpu_ranks_caches", "AL325")
    traces = aoti_logs.load(FIXTURES / "cpu_ranks_caches").evidence.traces
    names = [v.schedules[("0/0", 0)].names for run in views_of_runs(traces) for v in run]
    assert names == [("all_reduce_",), ("all_reduce_",)]


def test_one_rank_that_compiles_again_is_told_with_the_reason():
    (again,) = found(FIXTURES / "gpu_ranks" / "trace")
    assert (again.rule, again.severity) == ("AL324", "note")
    (told,) = again.facts["differences"]
    assert (told["compile_id"], told["ranks"], told["not_on"]) == ("1/1", [1], [0])
    assert "size mismatch" in told["reason"]


def test_ranks_that_compile_alike_have_no_finding(tmp_path):
    one = compiled("all_reduce_", "wait_tensor")
    assert not found(write(tmp_path, one, one, one))


def test_waits_that_stand_elsewhere_are_no_other_order(tmp_path):
    first = compiled("all_reduce_", "wait_tensor", "all_gather_into_tensor", "wait_tensor")
    other = compiled("all_reduce_", "all_gather_into_tensor", "wait_tensor", "wait_tensor")
    assert not found(write(tmp_path, first, other))


def test_a_collective_that_only_one_rank_calls_is_another_order(tmp_path):
    (order,) = found(write(tmp_path, compiled("all_reduce_"), compiled("all_reduce_"), compiled()))
    assert (order.rule, order.facts["orders"][1]) == ("AL325", {"ranks": [2], "collectives": []})
    assert "number 1 is `all_reduce_` on ranks 0, 1, none on rank 2" in order.title


def test_the_order_in_generated_code_is_compared_where_torch_writes_no_schedule(tmp_path):
    first = compiled("all_reduce_", "all_gather_into_tensor", artifact=False)
    other = compiled("all_gather_into_tensor", "all_reduce_", artifact=False)
    (order,) = found(write(tmp_path, first, other))
    assert order.rule == "AL325"


def graph(*names, artifact=True):
    """Write one graph of a compile: its code, and the schedule behind it as `torch/_inductor/compile_fx.py` does."""
    ops = [f"torch.ops._c10d_functional.{name}.default" for name in names]
    text = record(
        "inductor_output_code", {"filename": "a.py"}, "\n".join(f"    {op}(buf0)" for op in ops), rank=0
    )
    schedule = {"name": "inductor_collective_schedule", "encoding": "json"}
    return text + (record("artifact", schedule, json.dumps(ops), rank=0) if artifact and ops else "")


def test_a_forward_that_came_from_a_cache_counts_beside_a_backward_that_was_compiled(tmp_path):
    start = record("dynamo_start", {"stack": [{"line": 3, "name": "step", "filename": 0}]}, rank=0)
    whole = graph("all_gather_into_tensor") + graph("reduce_scatter_tensor")
    cached = graph("all_gather_into_tensor", artifact=False) + graph("reduce_scatter_tensor")
    assert not found(write(tmp_path, start + whole, start + cached, start + whole))


def test_a_backward_that_a_rank_has_not_compiled_yet_is_no_other_order(tmp_path):
    start = record("dynamo_start", {"stack": [{"line": 3, "name": "step", "filename": 0}]}, rank=0)
    forward, backward = graph("all_gather_into_tensor"), graph("reduce_scatter_tensor")
    assert not found(write(tmp_path, start + forward + backward, start + forward), "AL325")


def test_sizes_of_its_own_that_a_rank_gives_to_an_all_to_all_are_no_warning(tmp_path):
    (told,) = found(
        write(
            tmp_path,
            compiled("all_to_all_single", shape=(4, 4)),
            compiled("all_to_all_single", shape=(3, 4)),
        )
    )
    assert (told.rule, told.severity) == ("AL326", "note")


def test_a_wrapper_of_torch_is_another_function_where_another_line_calls_it(tmp_path):
    text = compiled("all_reduce_", function="inner").replace("a.py", "torch/_dynamo/external_utils.py")
    stack = '"stack": [{"line": 3, "name": "inner", "filename": 0}]'
    called = '"stack": [{"line": LINE, "name": "main", "filename": 1}, {"line": 66, "name": "inner", "filename": 0}]'
    strings = HEAD.format(second=0, process=100) + '{"str": ["train.py", 1]}\n'
    one = strings + text.replace(stack, called.replace("LINE", "7"))
    other = strings + text.replace(stack, called.replace("LINE", "9")).replace(
        "all_reduce_", "all_gather_into_tensor"
    )
    write(tmp_path, one, other)
    for file in tmp_path.iterdir():
        file.write_text(file.read_text().replace('"a.py"', '"torch/_dynamo/external_utils.py"'))
    assert not found(tmp_path, "AL325")


def test_nothing_is_said_of_collectives_where_the_code_of_a_rank_is_not_recorded(tmp_path):
    bare = re.sub(r"(?m)^.*inductor_collective_schedule.*\n(?:\t.*\n)*", "", compiled("all_reduce_"))
    assert not found(write(tmp_path, compiled("all_reduce_"), bare), "AL325")


def test_an_id_that_stands_for_two_functions_is_told_and_their_code_is_not_compared(tmp_path):
    one, other = compiled("all_reduce_"), compiled("all_gather_into_tensor", function="warm_up")
    (told,) = found(write(tmp_path, one, other))
    assert told.rule == "AL324"
    assert [f["function"] for f in told.facts["differences"][0]["functions"]] == ["step", "warm_up"]


def test_other_shapes_without_collectives_are_no_more_than_a_note(tmp_path):
    (told,) = found(write(tmp_path, compiled(shape=(4, 4)), compiled(shape=(3, 4))))
    assert (told.rule, told.severity) == ("AL326", "note")


def test_traces_of_runs_one_after_the_other_are_not_compared(tmp_path):
    first, other = compiled("all_reduce_"), compiled("all_gather_into_tensor", second=50)
    write(tmp_path, first, "")
    later = tmp_path / "dedicated_log_torch_trace_rank_1_bbbbbbbb.log"
    later.write_text(HEAD.format(second=50, process=7) + '{"str": ["a.py", 0]}\n' + other)
    assert not found(tmp_path)


def test_a_rank_that_has_two_traces_at_a_time_is_not_compared(tmp_path):
    write(tmp_path, compiled("all_reduce_"), compiled("all_gather_into_tensor"))
    child = tmp_path / "dedicated_log_torch_trace_rank_1_cccccccc.log"
    child.write_text((tmp_path / "dedicated_log_torch_trace_rank_1_bbbbbbbb.log").read_text())
    assert not found(tmp_path)


def test_what_a_damaged_trace_lacks_is_likely_and_not_proven(tmp_path):
    both = compiled("all_reduce_") + compiled("all_reduce_", compile_id=1, second=1)
    write(tmp_path, both, both)
    torn = tmp_path / "dedicated_log_torch_trace_rank_1_bbbbbbbb.log"
    text = torn.read_text()
    torn.write_text(text[: text.index('"frame_compile_id": 1')])
    (told,) = found(tmp_path, "AL324")
    assert told.confidence == "likely"
    assert "damaged" in told.doubt


def test_the_order_in_which_graphs_ran_is_compared(tmp_path):
    both = compiled("all_reduce_") + compiled("all_gather_into_tensor", compile_id=1, second=1)
    name = {"name": "graph_execution", "encoding": "json"}
    ran = [
        record(
            "artifact",
            name,
            json.dumps({"graph_execution_order": [{"compile_id": i} for i in order]}),
            second=2,
        )
        for order in (("0/0", "0/1"), ("0/1", "0/0"), ("0/0",))
    ]
    (told,) = found(write(tmp_path, both + ran[0], both + ran[1]))
    assert (told.kind, told.facts["position"]) == ("graph_order_differs", 0)
    (tmp_path / "shorter").mkdir()
    assert not found(write(tmp_path / "shorter", both + ran[0], both + ran[2]), "AL325")


@pytest.mark.parametrize(
    ("ranks", "words"), [([3], "rank 3"), ([0, 1], "ranks 0, 1"), ([8, 0, 1, 2], "ranks 0 to 2, 8")]
)
def test_ranks_are_named_shortly(ranks, words):
    assert ranks_words(ranks) == words


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_damage_of_any_kind_never_raises_and_never_proves_what_was_lost(tmp_path_factory, seed):
    dice = random.Random(seed)
    folder = tmp_path_factory.mktemp("torn")
    text = compiled("all_reduce_", "wait_tensor") + compiled("all_reduce_", compile_id=1, second=1)
    write(folder, text, text)
    damaged = folder / "dedicated_log_torch_trace_rank_1_bbbbbbbb.log"
    data = bytearray(damaged.read_bytes())
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(data))
        data[at : at + dice.randrange(200)] = "".join(
            dice.choices(string.printable, k=dice.randrange(20))
        ).encode()
    damaged.write_bytes(bytes(data))
    for finding in found(folder):
        assert finding.role == "note"


def test_a_view_of_a_trace_without_compiles_is_empty(tmp_path):
    write(tmp_path, "", "")
    for trace in aoti_logs.load(tmp_path).evidence.traces:
        view = RankView(0, trace, outcomes(trace))
        assert (view.schedules, view.inputs, view.operations, view.caches, view.ran[0]) == (
            {},
            {},
            {},
            {},
            (),
        )

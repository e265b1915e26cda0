"""What TORCH_LOGS says over sizes and guards, as rows of the tables that traces fill."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs._grammar import parser
from aoti_logs.parse.guards.logged_guards import guards_in
from aoti_logs.parse.sizes.logged_replacements import replacements_in
from aoti_logs.parse.sizes.shape_log import (
    Decision,
    Narrowed,
    Origin,
    Replaced,
    Where,
    read_shape_line,
    shapes_in,
)
from tests.log_text import assert_partition, read
from tests.test_grammar_samples import ALL

SAMPLES = [(rule, text) for grammar, rule, text in ALL if grammar == "shape_log"]
PREFIX = "I1129 12:20:05.694000 15093 torch/fx/experimental/symbolic_shapes.py:4058] [0/0] "


@pytest.mark.parametrize(("rule", "text"), SAMPLES)
def test_every_sample_is_read_by_its_own_rule(rule, text):
    parser("shape_log", rule).parse(text)
    said = read_shape_line(text)
    kinds = {
        "replaced": Replaced, "skipped": Replaced, "specializing": Replaced, "range": Narrowed, "constrained": Narrowed,
        "origin": Origin,
    }  # fmt: skip
    assert isinstance(said, kinds.get(rule, Decision))


def test_a_guard_has_the_users_line_and_torchs():
    said = read_shape_line(
        "eval s77 > 3 [guard added] if x.shape[0] > 3:  # torch_logs_gen/gen_logs.py:8 in f (_dynamo/variables/tensor.py:2606 "
        'in evaluate_expr), for more info run with TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED="s77 > 3"'
    )
    where = Where(
        "if x.shape[0] > 3:",
        "torch_logs_gen/gen_logs.py",
        8,
        "f",
        "_dynamo/variables/tensor.py:2606 in evaluate_expr",
    )
    assert said == Decision("guard_added", "s77 > 3", "eval", where=where)


def test_a_suppressed_guard_is_not_checked():
    said = read_shape_line("eval [guard suppressed] Ne(s77, 1) [guard added] (a.py:1 in f)")
    assert isinstance(said, Decision) and not said.is_checked and said.expression == "Ne(s77, 1)"


def test_what_torch_prints_in_place_of_an_expression_is_none():
    said = read_shape_line("eval False == False [statically known]")
    assert isinstance(said, Decision) and (said.expression, said.result) == (None, "False")


def test_a_size_that_is_named_and_replaced_is_one_row():
    lines = [
        "create_symbol s77 = 8 for L['x'].size()[0] [2, int_oo] (a.py:1 in f)",
        "Specializing L['x'].size()[0] to 8",
        "set_replacement s77 = 8 (range_refined_to_singleton) VR[8, 8]",
    ]
    (found,) = replacements_in(read("".join(f"{PREFIX}{line}\n" for line in lines)).messages)
    assert (found.said.symbol, found.said.value, found.sources) == ("s77", "8", ("L['x'].size()[0]",))


def test_a_warning_that_a_size_is_specialised_stands_alone_too():
    (found,) = replacements_in(read(f"{PREFIX}Specializing L['x'].size()[0] to 8\n").messages)
    assert (found.said.symbol, found.sources) == (None, ("L['x'].size()[0]",))


def test_symbols_are_numbered_anew_in_a_new_environment():
    lines = [
        "create_symbol s0 = 8 for L['x'].size()[0] [2, int_oo] (a.py:1 in f)",
        "create_env",
        "set_replacement s0 = 8 (find) VR[8, 8]",
    ]
    (found,) = replacements_in(read("".join(f"{PREFIX}{line}\n" for line in lines)).messages)
    assert found.sources == ()


# torch 2.1 prints one guard a message; the text of the guards is of torch 2.13's own `add_code_part`.
PLAIN = "[2024-01-03 11:21:04,{:03}] [0/0] torch._dynamo.guards.__guards: [DEBUG] {}\n"
GUARDS = (
    "GUARDS:",
    "hasattr(L['x'], '_dynamo_dynamic_indices') == False           # return x.sin()  # mo/model.py:5 in f",
    "utils_device.CURRENT_DEVICE == None                           # _dynamo/output_graph.py:386 in init_ambient_guards",
    "check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect), torch.float32, device=None, requires_grad=False, size=[4], stride=[1])",
)


def test_guards_of_older_torch_are_a_plain_list():
    (found,) = guards_in(read("".join(PLAIN.format(n, text) for n, text in enumerate(GUARDS))).messages)
    assert (found.is_tree, found.tree.n_guards, found.lines) == (False, 3, (2, 3, 4))
    tensor = found.tree.lines[2].tensor
    assert tensor is not None and tensor.size == ("4",)


def test_output_below_a_tree_in_the_short_style_is_no_guard(fixtures_dir):
    text = (fixtures_dir / "cpu_log_sizes" / "run.log").read_text()
    assert "\noutput (3, 3)\n" in text
    assert [g.tree.n_unparsed for g in guards_in(read(text).messages)] == [0, 0]


SHARED = {
    "guards": (
        "depth",
        "kind",
        "is_leaf",
        "guarded",
        "type",
        "expression",
        "code",
        "user_file",
        "user_line",
        "hint",
        "text",
    ),
    "guard_trees": ("n_lines", "n_guards", "n_managers", "n_unparsed", "latency_us"),
    "recompile_reasons": (
        "position",
        "n_reasons",
        "cached_compile_id",
        "what",
        "guard",
        "code",
        "n_user_frames",
        "text",
    ),
    "symbols": ("symbol", "kind", "origin", "hint", "lower", "upper", "range"),
    "expressions": ("expression", "python", "operator", "symbols", "file_line", "function", "code"),
}


@pytest.mark.parametrize("table", SHARED)
def test_a_log_and_a_trace_of_one_run_have_the_same_rows(table, fixtures_dir):
    folder = fixtures_dir / "cpu_log_sizes"
    log, trace = (aoti_logs.load(folder / name).tables[table] for name in ("run.log", "trace"))
    if table == "symbols":
        log = log.filter(pl.col("range").list.len() > 0)  # only logs tell of sizes that join an older symbol
    assert log.height
    assert log.select(SHARED[table]).equals(trace.select(SHARED[table]))


@given(st.sampled_from([text for _, text in SAMPLES]), st.data())
def test_damage_never_raises_and_loses_no_byte(text, data):
    at = data.draw(st.integers(0, len(text)))
    line = (
        text[:at]
        + data.draw(st.text(st.characters(blacklist_categories=["Cs"]), max_size=20))
        + text[at + data.draw(st.integers(0, 9)) :]
    )
    log = f"{PREFIX}{line}\n"
    events = read(log)
    shapes_in(events.messages)
    replacements_in(events.messages)
    assert_partition(events, len(log.encode()))

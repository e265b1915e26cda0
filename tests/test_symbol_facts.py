"""Sizes of recorded models against what the ExportedProgram itself held (fixtures/sizes, fixtures/record/sizes.py)."""

import json
from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.code.sizes import answers as size_answers
from aoti_logs.code.sizes.definition import canonical, definition_text
from aoti_logs.code.view import ModelView
from aoti_logs.code.wrapper_cpp.body import EntryReader
from aoti_logs.explain import Confidence
from aoti_logs.parse.text import limit

EXPORTED = ("shared", "derived", "data", "nested")


class Recorded:
    """A recorded model: its two wrappers and the truth."""

    def __init__(self, folder: Path) -> None:
        self.run = aoti_logs.load(folder)
        views = {view.wrapper.flavour: view for view in self.run.views()}
        self.aoti, self.jit = views.get("aoti_cpp"), views["jit_python"]
        truth = folder / "truth.json"
        self.truth: dict[str, Any] = json.loads(truth.read_text()) if truth.exists() else {}

    @property
    def view(self) -> ModelView:
        assert self.aoti is not None
        return self.aoti


@pytest.fixture(scope="module")
def recorded(fixtures_dir: Path):
    known: dict[str, Recorded] = {}

    def load(name: str) -> Recorded:
        if name not in known:
            known[name] = Recorded(fixtures_dir / "sizes" / name)
        return known[name]

    return load


@pytest.mark.parametrize("name", EXPORTED)
def test_every_dimension_of_an_input_is_what_the_program_says(name: str, recorded):
    model = recorded(name)
    truth = [i["shape"] for i in model.truth["inputs"] if i["kind"] == "USER_INPUT"]
    assert len(model.view.wrapper.inputs) == len(truth)
    found: dict[int, list[str | None]] = {n: [] for n in range(len(truth))}
    for dim in model.view.input_dims:
        found[dim.input.index].append(None if dim.extent is None else canonical(dim.extent))
    assert found == {n: [canonical(str(s)) for s in shape] for n, shape in enumerate(truth)}


@pytest.mark.parametrize("name", EXPORTED)
def test_every_range_of_the_program_is_told_of_its_symbol(name: str, recorded):
    model = recorded(name)
    told = {}
    for symbol in model.view.symbols.names:
        for one in model.view.symbol(symbol).limits:
            if one.told_by == "exported_program":
                told[canonical(one.extent)] = [one.lower, one.upper]
    truth = {
        canonical(symbol): [limit(str(end)) for end in ends]
        for symbol, ends in model.truth["range_constraints"].items()
    }
    assert told == truth


@pytest.mark.parametrize("name", EXPORTED)
def test_inputs_and_weights_have_the_names_of_the_program(name: str, recorded):
    model = recorded(name)
    users = [i["name"] for i in model.truth["inputs"] if i["kind"] == "USER_INPUT"]
    names = [model.view.names[i.name] for i in model.view.wrapper.inputs]
    assert {n.strength for n in names} == {Confidence.PROVEN}
    run_together = [
        n.name.replace("['", "_").replace("']", "").replace("[", "_").replace("]", "") for n in names
    ]
    assert run_together == users
    targets = {i["target"] for i in model.truth["inputs"] if i["target"]}
    # Tensors of up to eight elements are written into the code.
    assert {c.fqn for c in model.view.wrapper.constants} <= targets
    assert all(c.name == (c.fqn or "").replace(".", "_") for c in model.view.wrapper.constants)


def test_keywords_and_containers_are_written_as_the_caller_writes_them(recorded):
    names = recorded("nested").view.names
    assert [n.name for n in names.values()] == [
        "batch['lengths']", "batch['x']", "pair[0]", "pair[1]", "scale"
    ]  # fmt: skip


def test_a_wrapper_alone_tells_keywords_and_keys_but_no_positional_names(fixtures_dir):
    path = fixtures_dir / "sizes" / "nested" / "model.wrapper.cpp"
    [view] = aoti_logs.load(path).views()
    assert {k: n.name for k, n in view.names.items()} == {
        "arg2_1": "args[0]['lengths']", "arg3_1": "args[0]['x']", "arg6_1": "scale"
    }  # fmt: skip


def test_inputs_that_share_a_dim_are_one_symbol_that_one_of_them_measures(recorded):
    facts = recorded("shared").view.symbol("s28")
    assert (facts.definition, facts.user_name, facts.aliases) == ("arg0_1_size[0]", "idx.size()[0]", ("s95",))
    assert [(d.input.name, d.dim, d.extent) for d in facts.unmeasured] == [("arg1_1", 0, "s28")]


def test_an_alias_has_the_same_answer_from_either_name(recorded):
    one, other = (recorded("shared").view.symbol(s) for s in ("s28", "s95"))
    assert (one.root, one.dims, one.hint) == (other.root, other.dims, other.hint)
    assert other.aliases == ("s28",)


def test_a_symbol_that_was_solved_for_tells_what_the_measured_size_is(recorded):
    facts = recorded("derived").view.symbol("s44")
    assert facts.measured is not None
    assert (facts.measured.tensor, facts.measured.dim, facts.extent) == ("arg0_1", 0, "2*s44")


def test_a_value_from_data_names_its_tensor_the_call_that_made_it_and_its_assertions(recorded):
    view = recorded("data").view
    count, found = view.symbol("u0"), view.symbol("u1")
    assert (count.definition, count.user_name, count.hint) == ("arg3_1.item()", "count.item()", None)
    tested = {(m.lower, m.upper) for m in count.limits if m.told_by == "runtime_assert"}
    assert tested == {(2, None), (None, 64)}
    assert found.made_by is not None and "nonzero" in found.made_by.kernel
    assert {str(m.enforced) for m in count.limits} == {"always", "never"}


def test_the_same_value_is_known_in_the_python_wrapper(recorded):
    view = recorded("data").jit
    facts = view.symbol("u5")
    assert (facts.definition, facts.user_name) == ("arg0_1.item()", "count.item()")


def test_what_the_export_allows_and_the_check_refuses_is_a_contradiction(recorded):
    [first, *_] = recorded("shared").view.symbol("s28").contradictions
    assert first.startswith("the exported program allows 0 to 1024 (export.log:20), the check of input 0")
    assert recorded("shared").view.symbol("s10").contradictions == ()


def test_a_number_among_the_inputs_of_torch_compile_is_a_symbol(recorded):
    view = recorded("scalar").jit
    assert size_answers.symbols_from_inputs(view) == {"s77": "arg0_1", "s86": "arg2_1"}
    facts = view.symbol("s86")
    assert (facts.user_name, facts.hint and facts.hint.value) == ("n", 7)


def test_a_stride_is_a_symbol_with_the_name_of_what_it_measures(recorded):
    facts = recorded("strided").jit.symbol("s97")
    assert (facts.user_name, facts.hint and facts.hint.value) == ("y.stride()[0]", 7)
    assert [(m.told_by, m.text, m.lower) for m in facts.limits if m.told_by == "guard"] == [
        ("guard", "2 <= L['y'].stride()[0]", 2)
    ]


def test_the_example_of_a_python_wrapper_tells_hints_without_a_trace(fixtures_dir):
    [view] = aoti_logs.load(fixtures_dir / "sizes" / "shared" / "output_code.py").views()
    assert size_answers.hints(view) == {"arg0_1": 9, "arg1_1": 3, "arg3_1": 5}
    hint = view.symbol("s10").hint
    assert hint is not None and hint.value == 9


def test_ranges_of_an_exported_program_are_not_told_of_torch_compiles_code(recorded):
    told = {
        m.told_by
        for s in recorded("shared").jit.symbols.names
        for m in recorded("shared").jit.symbol(s).limits
    }
    assert "exported_program" not in told


def test_torch_compile_has_guards_and_no_missing_checks(recorded):
    assert recorded("shared").jit.missing_checks == ()


def test_a_symbol_that_nothing_mentions_is_not_known(recorded):
    facts = recorded("shared").view.symbol("s999")
    assert (facts.definition, facts.dims, facts.limits, facts.hint) == (None, (), (), None)


@pytest.mark.parametrize(
    "table", ["sizes", "symbol_aliases", "wrapper_symbols", "size_limits", "input_checks", "missing_checks"]
)
def test_tables_keep_their_schema(table: str, recorded, tmp_path):
    from aoti_logs.tables import schema

    frame = recorded("data").run.tables[table]
    schema(table).validate(frame, cast=False)
    empty = tmp_path / "empty.log"
    empty.write_text("nothing\n")
    assert aoti_logs.load(empty).tables[table].height == 0


def test_without_size_assertions_nobody_tests_a_division_and_a_derived_size(fixtures_dir, tmp_path):
    """TORCHINDUCTOR_SIZE_ASSERTS=0 leaves these lines out, and so did torch before 2.13."""
    text = (fixtures_dir / "sizes" / "derived" / "model.wrapper.cpp").read_text()
    path = tmp_path / "model.wrapper.cpp"
    kept = (line for line in text.splitlines(keepends=True) if " assert_size_stride(arg" not in line)
    path.write_text("".join(kept))
    view = only(path)
    assert {("divisible", "arg0_1", 0), ("equal", "arg1_1", 0)} < gaps(view)
    why = {str(m.gap): m.why for m in view.missing_checks}
    assert "a rest of the division by 2 is dropped" in why["divisible"]
    assert view.symbol("s44").extent == "2*s44"


# ---------------------------------------------------------------- other versions


def test_numbers_of_tensors_in_torch_24_without_handles_are_inputs_and_values_from_data():
    """`{cpp_dtype} {input_key} = inputs[{idx}].item<{cpp_dtype}>();` and `auto {sym}_raw = {data}.item().{convert}();`
    (torch/_inductor/codegen/cpp_wrapper_cpu.py of 2.4, `write_wrapper_decl` and `codegen_dynamic_scalar`).
    """
    lines = ("int64_t arg1_1 = inputs[1].item<int64_t>();", "int64_t s0 = arg1_1;", "auto u0_raw = buf0.item().toLong();",
             "auto u0 = u0_raw;")  # fmt: skip
    body = EntryReader(frozenset(), {}).read("\n".join(lines), 1)
    assert (body.names.scalars, body.unread) == ({"arg1_1"}, [])
    raw = body.sizes[1]
    assert (raw.symbol, raw.tensor, raw.unbacked, definition_text(raw, ())) == (
        "u0_raw",
        "buf0",
        True,
        "buf0.item()",
    )


def only(view_of: Path) -> ModelView:
    [view] = [v for v in aoti_logs.load(view_of).views() if v.is_aot]
    return view


def gaps(view: ModelView) -> set[tuple[str, str | None, int | None]]:
    return {(str(m.gap), m.input.name if m.input else None, m.dim) for m in view.missing_checks}


def test_before_torch_213_nothing_compares_ranks(fixtures_dir):
    view = only(fixtures_dir / "gpu_gather_dynamic_bound")
    assert gaps(view) == {("rank", i.name, None) for i in view.wrapper.inputs}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "symbol", "enforced"),
    [("torch24", "s0", "never"), ("torch26", "s0", "never"), ("torch29", "s23", "AOTI_RUNTIME_CHECK_INPUTS")],
)
def test_a_shared_dim_that_nothing_compares_is_missing(corpus_dir, folder, symbol, enforced):
    view = only(corpus_dir / "versions" / folder / "recsys_plain")
    assert ("equal", "arg9_1", 0) in gaps(view)
    facts = view.symbol(symbol)
    assert facts.user_name == "ids.size()[0]"
    assert [(d.input.name, d.dim, str(d.enforced)) for d in facts.unchecked] == [("arg9_1", 0, enforced)]


@pytest.mark.corpus
def test_sizes_are_told_in_symbols_that_the_wrapper_has(corpus_dir):
    """Dynamo's graph calls a shared size s2; it was replaced by s1 before the code was made."""
    view = only(corpus_dir / "versions" / "torch26" / "scatter_printer2")
    assert [(d.input.name, d.extent) for d in view.symbol("s1").unmeasured] == [("arg2_1", "s1")]


@pytest.mark.corpus
@pytest.mark.parametrize("folder", ["torch24/recsys_plain", "torch26/gather_plain"])
def test_a_wrapper_without_checks_says_so_of_every_input(corpus_dir, folder):
    view = only(corpus_dir / "versions" / folder)
    assert {g[1] for g in gaps(view) if g[0] == "input"} == {i.name for i in view.wrapper.inputs}
    assert size_answers.input_ranges(view) == []


@pytest.mark.corpus
@pytest.mark.parametrize("folder", ["torch24/gather_abi_checked", "torch26/gather_debug_compile"])
def test_checks_that_were_compiled_in_on_request_are_always_made_and_know_no_device(corpus_dir, folder):
    view = only(corpus_dir / "versions" / folder)
    assert {str(d.enforced) for d in view.input_dims} == {"always"}
    assert {g[0] for g in gaps(view)} == {"rank", "device"}


@pytest.mark.corpus
def test_known_facts_of_every_recorded_wrapper_are_found(corpus_dir):
    """Sizes, aliases, ranges, assertions and outputs that were read by hand."""
    folder = corpus_dir / "cpu-torch2.13"
    keys = {
        "sizes", "symbol_aliases", "symbols_from_inputs", "unbacked_symbols", "hints", "input_ranges", "outputs",
    }  # fmt: skip
    compared = 0
    for line in (folder / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        wanted = {k: v for k, v in case["expected"].items() if k in keys}
        if "n_launches" not in case["expected"] or not wanted:
            continue
        views = list(aoti_logs.load(folder / case["case"] / case["log"]).views())
        for view in views:
            told = size_answers.size_facts(view)
            assert {k: told.get(k) for k in wanted} == wanted, case["id"]
            asserts = case["expected"].get("scalar_asserts", [])
            assert set(told.get("scalar_asserts", [])) == set(asserts), case["id"]
            compared += 1
    assert compared > 20

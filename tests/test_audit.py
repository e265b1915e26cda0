"""`run.audit()` and `aoti-logs audit`: each rule where it fires, where it must not, and on damaged models."""

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.explain import Audit, Confidence, Finding
from tests.code_damage import Damaged, damaged

FIXTURES = Path(__file__).parent.parent / "fixtures"
AUDIT = FIXTURES / "audit"
runner = CliRunner()


def audit(*path: str | Path) -> Audit:
    return aoti_logs.load([FIXTURES / p for p in path]).audit()


def warnings(found: Audit) -> set[str]:
    return {f.rule for f in found if f.severity == "warning"}


def of(found: Audit, rule: str) -> Finding:
    return next(f for f in found if f.rule == rule)


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("audit/still", set()),
        ("audit/index_asserts", set()),
        ("audit/no_index_asserts", set()),
        ("audit/no_size_asserts", {"AL712", "AL718"}),
        ("audit/no_scalar_asserts", {"AL717"}),
        ("audit/scattered", {"AL714"}),
        ("audit/gpu_index_asserts", set()),
        ("audit/gpu_no_index_asserts", {"AL716"}),
        ("sizes/shared", set()),
        ("sizes/data", set()),
        ("cpu_package_cpp_only/model.pt2", set()),
        ("cpu_package_no_weights/model.pt2", {"AL721", "AL722"}),
        ("cpu_package_pickle_weights/model.pt2", {"AL721", "AL722"}),
        ("gpu_code/scatter/aoti", {"AL712"}),
        ("gpu_code/custom_op/aoti", {"AL714"}),
    ],
)
def test_warnings_of_a_recorded_model(path: str, rules: set[str]):
    assert warnings(audit(path)) == rules


def test_a_model_that_says_nothing_unusual_has_two_notes():
    assert [f.rule for f in audit("audit/still")] == ["AL711", "AL723"]


def test_code_of_torch_compile_is_guarded_and_gets_no_finding():
    found = audit("sizes/shared/output_code.py", "sizes/scalar/output_code.py", "gpu_code/gather/compile")
    assert len(found.models) == 3
    assert not found.findings


def test_shared_size_names_both_inputs_and_quotes_where_it_is_read():
    found = of(audit("gpu_code/scatter/aoti"), "AL712")
    assert found.title == (
        "dimension 0 of `target` is taken to be that of dimension 0 of `values`, and nothing compares them"
    )
    assert found.chain[0].text == "int64_t s48 = arg0_1_size[0]"
    assert found.facts["taken_for_granted"] == [{"input": "arg1_1", "dim": 0, "extent": "s48"}]
    assert found.confidence is Confidence.PROVEN


def test_shared_size_that_a_check_compares_on_request_is_a_note_with_the_switch():
    found = of(audit("sizes/shared"), "AL712")
    assert found.severity == "note"
    assert found.facts["enforced"] == "AOTI_RUNTIME_CHECK_INPUTS"
    assert found.experiments[0].env == (("AOTI_RUNTIME_CHECK_INPUTS", "1"),)


def test_refused_sizes_are_proven_only_with_the_declared_range():
    assert of(audit("sizes/shared"), "AL713").confidence is Confidence.PROVEN
    alone = of(audit("sizes/shared/model.wrapper.cpp"), "AL713")
    assert alone.confidence is Confidence.POSSIBLE
    assert alone.missing


def test_small_sizes_are_no_finding_where_the_export_forbids_them():
    refused = of(audit("sizes/shared"), "AL713").facts["refused"]
    assert {(r["input"], r["dim"]) for r in refused} == {("arg0_1", 0), ("arg1_1", 0)}  # not rows, from 2 on


def test_bounds_checks_that_are_off_are_only_possible_in_cpp():
    assert of(audit("audit/no_index_asserts"), "AL716").confidence is Confidence.POSSIBLE
    assert not any(f.rule == "AL716" for f in audit("audit/index_asserts"))


def test_a_triton_kernel_names_the_setting_that_took_its_tests_of_indices_away():
    found = of(audit("audit/gpu_no_index_asserts"), "AL716")
    assert (found.severity, found.confidence) == ("warning", Confidence.PROVEN)
    assert "'assert_indirect_indexing': False" in found.chain[0].text
    assert found.facts["accesses"] == [
        {"kernel": "triton_poi_fused_index_mul_0", "kind": "load", "param": "in_ptr1", "line": 652}
    ]
    assert not any(f.rule == "AL716" for f in audit("gpu_code/gather/aoti"))
    assert not any(f.rule == "AL716" for f in audit("audit/gpu_index_asserts"))


def test_assertion_about_a_number_from_data_keeps_the_audit_silent():
    assert not any(f.rule == "AL717" for f in audit("sizes/data"))


def test_custom_operators_are_named():
    found = of(audit("cpu_package_operators/model.pt2"), "AL723")
    assert found.facts["operators"] == ["demo::mix", "demo::shift"]


def test_metadata_tells_the_machine():
    facts = of(audit("cpu_package_plain/model.pt2"), "AL723").facts
    assert (facts["platform"], facts["machine"], facts["cpu_isa"]) == ("linux", "x86_64", "AVX2")


def test_kernels_without_text_are_told_where_only_the_wrapper_is_given(tmp_path: Path):
    [source] = (FIXTURES / "cpu_gather_empty_table" / "sources").rglob("*.wrapper.cpp")
    (tmp_path / source.name).write_bytes(source.read_bytes())
    assert of(aoti_logs.load(tmp_path).audit(), "AL731").kind == "kernels_not_at_hand"
    assert not any(f.rule == "AL731" for f in audit("cpu_gather_empty_table"))


def test_debug_code_is_told_with_its_setting():
    found = of(audit("cpu_names_printed"), "AL724")
    assert found.facts["debug"] == "names_printed"
    assert "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3" in found.verdicts[0].because[0]


def test_package_is_whole_when_the_files_it_names_are_there(tmp_path: Path):
    path = tmp_path / "model.pt2"
    path.write_bytes((FIXTURES / "cpu_package_plain" / "model.pt2").read_bytes())
    library = of(aoti_logs.load(path).audit(), "AL722").facts["missing_files"]
    with zipfile.ZipFile(path, "a") as file:
        for name in library:
            file.writestr(f"model/{name}", b"\x7fELF")
    assert not warnings(aoti_logs.load(path).audit())


def test_model_of_a_context_is_not_judged():
    run = aoti_logs.load(AUDIT / "still", context=AUDIT / "scattered")
    assert not warnings(run.audit())


@pytest.mark.parametrize(
    "path",
    [*sorted(AUDIT.iterdir()), FIXTURES / "gpu_code", FIXTURES / "cpu_package_operators"],
    ids=lambda p: p.name,
)
def test_every_link_quotes_what_stands_there(path: Path):
    run = aoti_logs.load(path)
    sources = {s.name: s for s in run.all_sources}
    found = run.audit()
    assert found.findings
    for link in (link for f in found for link in f.chain):
        assert link.place is not None
        lines = sources[link.place.source].lines_from(link.place.line, link.place.line)
        if link.step not in {"named", "weights", "declared", "compiled", "operators", "setting"}:
            there = " ".join("".join(lines).split())
            assert there[:25].rstrip(";") in link.text or link.text[:25] in there


@pytest.mark.parametrize("name", ["no_size_asserts", "scattered", "no_index_asserts", "no_scalar_asserts"])
def test_screen_of_an_audit(name: str, golden):
    golden(f"screens/audit/{name}.txt", screen(str(AUDIT / name), "--all"))


def test_screen_of_a_package_without_its_weights(golden):
    golden(
        "screens/audit/cpu_package_no_weights.txt",
        screen(str(FIXTURES / "cpu_package_no_weights" / "model.pt2")),
    )


def screen(*arguments: str) -> str:
    done = runner.invoke(app, ["audit", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("audit/still", 0),
        ("audit/scattered", 1),
        ("cpu_gather_empty_table/run.log", 2),
        ("cpu_aoti_package_cut", 2),
    ],
)
def test_gate_fails_on_warnings_and_on_what_cannot_be_read(path: str, code: int):
    assert runner.invoke(app, ["audit", str(FIXTURES / path), "--check"]).exit_code == code


@pytest.mark.parametrize("form", ["json", "markdown", "html", "sarif", "github"])
def test_every_form_tells_the_warning(form: str):
    assert "AL714" in screen(str(AUDIT / "scattered"), "--format", form)


def test_json_has_the_models():
    told = json.loads(screen(str(AUDIT / "still"), "-f", "json"))
    assert [m["name"] for m in told["models"]] == ["model.wrapper.cpp"]
    assert told["findings"][0]["facts"]["wrapper"] == "model.wrapper.cpp"


def test_cut_wrapper_proves_no_absence(tmp_path: Path):
    text = (AUDIT / "no_size_asserts" / "model.wrapper.cpp").read_text()
    path = tmp_path / "model.wrapper.cpp"
    path.write_text(text[: text.index("} // AOTInductorModel::run_impl") - 200])
    found = aoti_logs.load(path).audit()
    assert of(found, "AL731").kind == "wrapper_cut"
    assert of(found, "AL712").confidence is Confidence.POSSIBLE


@settings(max_examples=25)
@given(damaged((AUDIT / "no_size_asserts" / "model.wrapper.cpp").read_text()))
def test_damage_never_raises(tmp_path_factory, text: Damaged):
    path = tmp_path_factory.mktemp("damaged") / "model.wrapper.cpp"
    path.write_bytes(text.data)
    found = aoti_logs.load(path).audit()
    assert str(found)
    assert found.to_dict()["findings"] is not None


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("versions/torch24/recsys_plain", {"AL711"}),
        ("versions/torch26/scatter_printer2/scatter.pt2", {"AL711", "AL714", "AL722"}),
        ("versions/torch29/attention_logs/attention.pt2", {"AL715", "AL722"}),
        ("cpu-torch2.13/aoti/wrapper/aoti_scatter/scatter.pt2", {"AL714", "AL722"}),
        ("cpu-torch2.13/aoti/wrapper/aoti_weights_disk/lookup.pt2", {"AL721", "AL722"}),
        ("gpu-torch2.11/gather_plain/gather.pt2", {"AL722"}),
    ],
)
def test_warnings_of_the_corpus(path: str, rules: set[str], corpus_dir: Path):
    assert warnings(aoti_logs.load(corpus_dir / path).audit()) >= rules


PACKAGE = (FIXTURES / "cpu_package_pickle_weights" / "model.pt2").read_bytes()


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, len(PACKAGE) - 1), st.integers(0, 255)), max_size=6),
    st.integers(1000, len(PACKAGE)),
)
def test_damaged_package_never_raises_and_is_no_clean_model(tmp_path_factory, bytes_, end):
    data = bytearray(PACKAGE)
    for at, value in bytes_:
        data[at] = value
    path = tmp_path_factory.mktemp("damaged") / "model.pt2"
    path.write_bytes(bytes(data[:end]))
    try:
        run = aoti_logs.load(path)
    except aoti_logs.LoadError:
        return
    found = run.audit()
    assert str(found)
    assert str(run.doctor())
    assert found.warned or found.problems or not found.models

"""Tables of kernels' insides, on what the repository holds and on the corpus."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import aoti_logs
from aoti_logs.code.body import Store
from aoti_logs.code.kernel.inside import check_texts, checks_of_model
from aoti_logs.code.model import Backend

NO_CODE = ("= compile error!",)
"""Text in real kernels that is no code: the fixture `cpu_trace_cxx_error` makes the compiler fail with it."""


@pytest.fixture(scope="module")
def run(fixtures_dir: Path) -> aoti_logs.Run:
    names = (
        "gpu_empty_events",
        "gpu_printer",
        "gpu_gather_dynamic_bound",
        "cpu_two_asserts_one_kernel",
        "gpu_illegal_read",
    )
    return aoti_logs.load([fixtures_dir / name for name in names])


def test_a_triton_kernel_has_its_decorator_in_columns(run):
    row = run.kernels.filter(pl.col("kind") == "pointwise").row(0, named=True)
    assert (row["heuristic"], row["device"], row["capability"], row["warp_size"]) == (
        "pointwise",
        "cuda",
        "90",
        32,
    )
    assert row["openmp"] is None and row["checks_indices"] is True


def test_a_kernel_of_a_user_is_told(run):
    """Its own file has its own name; wrappers call it by another."""
    assert set(run.kernels.filter(pl.col("kind") == "user")["name"]) == {
        "far_read_kernel",
        "far_read_kernel_0",
    }


def test_a_declaration_is_no_definition(run):
    cpp = run.kernels.filter(pl.col("backend") == "cpp")
    assert set(cpp["defined"]) == {True, False}
    assert cpp.filter(~pl.col("defined"))["openmp"].is_null().all()


def test_every_parameter_of_a_defined_kernel_is_a_row(run):
    wanted = run.kernels.filter("defined").select("source", "line", "params").explode("params")
    found = run.kernel_params.select("source", "line", params="param")
    assert found.sort(found.columns).equals(wanted.sort(wanted.columns))


def test_every_dtype_of_memory_is_torchs(run):
    memory = run.kernel_params.filter("pointer")
    assert memory["dtype"].is_not_null().all()


def test_accesses_name_parameters_of_their_kernel(run):
    known = set(run.kernel_params.select("kernel", "param").iter_rows())
    for row in run.kernel_accesses.filter(pl.col("kind") != "reduction").iter_rows(named=True):
        assert (row["kernel"], row["param"]) in known


def test_checks_are_those_that_the_text_has(run):
    found = run.index_checks.group_by("kernel", "message").len()
    told = (
        run.kernels.filter("defined")
        .select("name", "asserts")
        .explode("asserts")
        .drop_nulls()
        .filter(pl.col("asserts").str.starts_with("index out of bounds"))
    )
    wanted = told.group_by(kernel="name", message="asserts").len()
    columns = ["kernel", "message"]
    assert found.select(*columns, "len").sort(columns).equals(wanted.select(*columns, "len").sort(columns))


def test_a_negative_index_that_is_wrapped_says_what_is_added(run):
    row = run.index_checks.filter(pl.col("kernel").str.contains("gather|index")).row(0, named=True)
    assert row["wraps"] == row["bound"] and row["lower"] == "0"
    assert row["indexed"] and row["origins"][-1] == row["bound"]


def test_texts_of_checks_are_one_a_check(run):
    kernels = [i.kernel for i in run.insides("cpp_fused_embedding_0")]
    assert set(check_texts(kernels)) == {"0 <= tmp2 < 8L"} or len(check_texts(kernels)) >= 2


@pytest.mark.corpus
@pytest.mark.parametrize(
    "folder", ["gpu-torch2.11", "cpu-torch2.13/aoti/wrapper", "cpu-torch2.13/aoti/oob_cpu", "tlparse-inputs"]
)
def test_every_statement_of_every_kernel_of_the_corpus_is_read(corpus_dir, folder):
    for inside in aoti_logs.load(corpus_dir / folder).insides():
        assert [u for u in inside.unread if not u[1].endswith(NO_CODE)] == [], inside


@pytest.mark.corpus
def test_every_kernel_of_older_releases_is_read(corpus_dir):
    folders = [
        d
        for release in ("torch24", "torch26", "torch29")
        for d in sorted((corpus_dir / "versions" / release).glob("*gather*"))
    ]
    assert folders
    for inside in aoti_logs.load(folders).insides():
        assert inside.unread == (), inside
        assert inside.kernel.backend is Backend.CPP


@pytest.mark.corpus
def test_the_corpus_agrees_with_inductors_counts(corpus_dir):
    """Loads whose index has no `tmp`, seeds left out, and stores: `CSEProxy` of torch/_inductor/codegen/common.py."""
    compared = 0
    for inside in aoti_logs.load([corpus_dir / "gpu-torch2.11", corpus_dir / "tlparse-inputs"]).insides():
        if inside.meta is None or inside.meta.num_load is None:
            continue
        direct = [
            a for a in inside.accesses if a.kind == "load" and not re.search(r"\btmp\d|seed", str(a.index))
        ]
        stores = [
            s
            for s in inside.body.statements
            if isinstance(s, Store) and not s.operation.startswith("triton_helpers")
        ]
        assert len(direct) == inside.meta.num_load, inside
        if inside.meta.num_store is not None:
            assert len(stores) == inside.meta.num_store, inside
        written = {a.pointer for a in inside.accesses if a.kind != "load"}
        assert {p.name for p in inside.params if p.mutated} <= written, inside
        compared += 1
    assert compared > 100


def test_all_kernels_of_the_fixtures_are_read(fixtures_dir):
    folders = [d for d in sorted(fixtures_dir.iterdir()) if (d / "sources").is_dir()]
    for inside in aoti_logs.load(folders).insides():
        assert inside.unread == (), inside


@pytest.mark.corpus
def test_checks_of_a_wrapper_are_those_of_its_kernels(corpus_dir):
    """In a wrapper of AOTInductor the bodies stand in the kernel file beside it; in one of torch.compile in itself."""
    compared = 0
    for line in (corpus_dir / "cpu-torch2.13" / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        expected = case["expected"]
        if "n_index_checks" not in expected or "/wrapper/" not in case["case"]:
            continue
        path = corpus_dir / "cpu-torch2.13" / case["case"] / case["log"]
        (view, *_) = aoti_logs.load(path, context=path.parent).views()
        assert checks_of_model(view) == (tuple(expected["index_checks"]), expected["n_index_checks"])
        compared += 1
    assert compared > 5

"""Packages as data: every recorded package and folder, compared with what torch itself said of them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.code.packages.file import FileRole
from aoti_logs.code.packages.package import Form, Layout, Package, PackagedModel
from aoti_logs.code.packages.weights import ValueIn

FIXTURES = Path(__file__).parent.parent / "fixtures"
RECORDED = sorted(p.parent.name for p in FIXTURES.glob("?pu_package_*/model.pt2"))


def packages(*paths: Path) -> tuple[Package, ...]:
    return aoti_logs.load(list(paths)).evidence.packages


def one(path: Path) -> Package:
    (package,) = packages(path)
    return package


def model_of(name: str) -> PackagedModel:
    (model,) = one(FIXTURES / name / "model.pt2").models
    return model


def known(name: str) -> dict[str, Any]:
    return dict(json.loads((FIXTURES / name / "fixture.json").read_text()))


@pytest.mark.parametrize("name", RECORDED)
def test_metadata_and_constants_are_those_that_torch_reads(name: str):
    package = one(FIXTURES / name / "model.pt2")
    told = known(name)["known"]
    assert {m.name for m in package.models} == set(told)
    for model in package.models:
        assert model.metadata.values == told[model.name]["metadata"]
        assert model.problems == ()
        assert model.wrapper is not None and model.wrapper.base is not None
        fqns = [c.fqn for c in model.wrapper.constants]
        assert model.wrapper.base.constants == len(fqns)
        if "error" not in told[model.name]:
            assert sorted(f or "" for f in fqns) == told[model.name]["constant_fqns"]


@pytest.mark.parametrize("name", RECORDED)
def test_every_member_is_a_file_of_its_size(name: str):
    package = one(FIXTURES / name / "model.pt2")
    members = {f"{package.prefix}{f.path}": f.size for f in package.files}
    recorded = known(name)["members"]
    assert members == {n: s for n, s in recorded.items() if not n.endswith(".so")}
    assert not [f.path for f in package.files if f.role is FileRole.OTHER]


@pytest.mark.parametrize("name", RECORDED)
def test_the_library_that_was_left_out_is_what_is_missing(name: str):
    """Nothing else is where torch loaded the whole package; where it could not, what it did not find is missing, too."""
    package = one(FIXTURES / name / "model.pt2")
    left_out = {n.removeprefix(package.prefix) for n in known(name)["members"] if n.endswith(".so")}
    missing = {r.path for r in package.missing}
    assert left_out <= missing
    failed = any("error" in told for told in known(name)["known"].values())
    assert (missing > left_out) == failed


@pytest.mark.parametrize("name", RECORDED)
def test_who_brings_the_weights_is_what_the_run_showed(name: str):
    """`load` ran the package as it is, `load_weights` had torch read the weights that are files of it."""
    steps = {s["log"]: s["exit_code"] for s in known(name)["steps"]}
    for model in one(FIXTURES / name / "model.pt2").models:
        by_itself = model.weights.loaded_by_itself
        assert by_itself is None or by_itself == (steps["load.log"] == 0)
        if model.weights.location is ValueIn.FILES:
            assert steps["load_weights.log"] == 0
        if model.weights.location is ValueIn.CALLER:
            assert steps["load_weights.log"] != 0


@pytest.mark.parametrize("name", RECORDED)
def test_the_bounds_of_the_torch_version_hold_the_real_one(name: str):
    package = one(FIXTURES / name / "model.pt2")
    for part in package.parts:
        told, real = package.torch(part), known(name)["torch"]
        assert told.exact in {None, real}
        assert told.at_least is not None and (2, 8) <= _release(told.at_least) <= _release(real)
        assert told.below is None or _release(real) < _release(told.below)
        assert told.evidence


@pytest.mark.parametrize("name", [*RECORDED, "gpu_empty_events", "cpu_embedding_id_beyond_vocab"])
def test_an_unpacked_package_is_the_same_package(name: str, tmp_path: Path):
    archive = one(FIXTURES / name / "model.pt2")
    with zipfile.ZipFile(FIXTURES / name / "model.pt2") as file:
        file.extractall(tmp_path / "aotinductor_x1")
    folder = one(tmp_path / "aotinductor_x1")
    assert folder.form is Form.FOLDER and folder.layout is archive.layout
    assert {f.path: (f.role, f.model, f.size) for f in folder.files} == {
        f.path: (f.role, f.model, f.size) for f in archive.files
    }
    for one_model, other in zip(
        sorted(folder.models, key=lambda m: m.name), sorted(archive.models, key=lambda m: m.name), strict=True
    ):
        assert (one_model.name, one_model.folder) == (other.name, other.folder)
        assert [r.path for r in one_model.missing] == [r.path for r in other.missing]
        assert [(v.location, v.present, v.path) for v in one_model.values] == [
            (v.location, v.present, v.path) for v in other.values
        ]


def test_a_package_in_a_zip_is_found_as_the_member_that_it_is(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as out:
        out.write(FIXTURES / "gpu_empty_events" / "model.pt2", "deploy/model.pt2")
        out.write(FIXTURES / "gpu_empty_events" / "run.log", "run.log")
    package = one(tmp_path / "run.zip")
    assert package.name == "run.zip!deploy/model.pt2"
    assert [m.name for m in package.models] == ["model"]


def test_an_unpacked_package_in_a_zip_is_a_folder(tmp_path: Path):
    with (
        zipfile.ZipFile(FIXTURES / "gpu_empty_events" / "model.pt2") as file,
        zipfile.ZipFile(tmp_path / "all.zip", "w") as out,
    ):
        for member in file.infolist():
            out.writestr(f"here/{member.filename}", file.read(member))
        out.writestr("run.log", "hello\n")
    package = one(tmp_path / "all.zip")
    assert [m.name for m in package.models] == ["model"]
    assert package.layout is Layout.PREFIXED


def test_kernels_that_the_wrapper_loads_by_name_are_missed():
    model = model_of("gpu_empty_events")
    binaries = [r for r in model.missing if r.role is FileRole.KERNEL_BINARY]
    assert binaries and all(r.path.endswith(".cubin") and r.needed for r in binaries)
    for told in binaries:
        assert (
            told.by is not None and model.wrapper_file is not None and model.wrapper_file.source is not None
        )
        assert told.path.rpartition("/")[2] in model.wrapper_file.source.line_text(told.by.line)


def test_kernels_that_are_there_are_not_missed(tmp_path: Path):
    lacking = model_of("gpu_empty_events").missing
    with (
        zipfile.ZipFile(FIXTURES / "gpu_empty_events" / "model.pt2") as file,
        zipfile.ZipFile(tmp_path / "m.pt2", "w") as out,
    ):
        for member in file.infolist():
            out.writestr(member, file.read(member))
        prefix = file.namelist()[0].partition("/")[0]
        for told in lacking:
            out.writestr(f"{prefix}/{told.path}", b"\x7fELF" + bytes(60))
    package = one(tmp_path / "m.pt2")
    assert package.missing == ()
    assert len(package.models[0].kernel_binaries) == sum(r.role is FileRole.KERNEL_BINARY for r in lacking)


def test_files_beside_each_other_are_a_model_without_a_package():
    (package,) = packages(FIXTURES / "cpu_embedding_id_beyond_vocab" / "sources")
    (model,) = package.models
    assert package.form is Form.FILES and package.layout is Layout.FILES
    assert model.metadata.device == "cpu" and model.kernels and model.library is None
    assert [(v.location, v.present) for v in model.values] == [(ValueIn.LIBRARY, None)]


def test_a_printed_wrapper_is_no_package():
    """Code that a trace or a log holds was never a file to be loaded."""
    assert packages(FIXTURES / "cpu_embedding_id_beyond_vocab" / "trace") == ()


def test_tables_have_a_row_a_model_and_a_row_a_file():
    run = aoti_logs.load(FIXTURES / "gpu_empty_events" / "model.pt2")
    (row,) = run.packages.iter_rows(named=True)
    assert row["package"] == "model.pt2" and row["model"] == "model" and row["device"] == "cuda"
    assert row["weights"] == "nothing" or row["loads_weights"] is True
    files = run.package_files
    assert files.height == len(run.evidence.packages[0].files) + len(row["missing"])
    assert files.filter(files["missing"])["file"].null_count() == len(row["missing"])


def test_a_run_without_packages_has_empty_tables():
    run = aoti_logs.load(FIXTURES / "cpu_ok" / "run.log")
    assert run.packages.is_empty() and run.package_files.is_empty() and run.evidence.packages == ()


def test_the_view_of_a_packaged_model_answers_questions():
    run = aoti_logs.load(FIXTURES / "gpu_empty_events", context=FIXTURES / "gpu_empty_events")
    package = next(p for p in run.evidence.packages if p.form is Form.ARCHIVE)
    view = run.evidence.view_of(package.models[0])
    assert view is not None and view.wrapper.launches


def rewritten(
    name: str, path: Path, changes: dict[str, bytes], extra: dict[str, bytes] | None = None
) -> PackagedModel:
    """Return a recorded package's model with members changed, which are named by their endings."""
    with zipfile.ZipFile(FIXTURES / name / "model.pt2") as file, zipfile.ZipFile(path, "w") as out:
        folder = next(n for n in file.namelist() if n.endswith(".wrapper.cpp")).rpartition("/")[0]
        for member in file.namelist():
            ending = next((e for e in changes if member.endswith(e)), None)
            out.writestr(member, file.read(member) if ending is None else changes[ending])
        for base, data in (extra or {}).items():
            out.writestr(f"{folder}/{base}", data)
    (model,) = one(path).models
    return model


def test_metadata_of_wrapper_and_kernels_may_disagree(tmp_path: Path):
    changed = {".kernel_metadata.json": b'{"AOTI_DEVICE_KEY": "cuda"}'}
    model = rewritten("cpu_death_model_call", tmp_path / "m.pt2", changed)
    assert ("AOTI_DEVICE_KEY", "cpu", "cuda") in model.metadata.disagreements
    assert model.metadata.device == "cpu"
    assert any("AOTI_DEVICE_KEY is cpu in the wrapper's metadata and cuda" in p for p in model.problems)


def test_metadata_that_is_no_json_is_said_and_the_other_file_is_read(tmp_path: Path):
    model = rewritten("cpu_death_model_call", tmp_path / "m.pt2", {".wrapper_metadata.json": b"{"})
    assert model.metadata.device == "cpu"
    assert any("no JSON object" in p for p in model.problems)


def test_a_library_of_another_name_is_said(tmp_path: Path):
    model = rewritten("cpu_death_model_call", tmp_path / "m.pt2", {}, {"other.so": b"\x7fELF" + bytes(100)})
    assert model.library is not None and not model.missing
    assert any(p.startswith("the library is other.so, and the link command makes ") for p in model.problems)


def test_a_library_too_small_for_its_weights_does_not_hold_them(tmp_path: Path):
    name = "cpu_embedding_id_beyond_vocab"
    (archive,) = one(FIXTURES / name / "model.pt2").models
    (missing,) = archive.missing
    base = missing.path.rpartition("/")[2]
    model = rewritten(name, tmp_path / "m.pt2", {}, {base: b"\x7fELF" + bytes(100)})
    (value,) = model.values
    assert value.present is False and "104 bytes" in (value.problem or "")
    model = rewritten(name, tmp_path / "m.pt2", {}, {base: b"\x7fELF" + bytes(1 << 20)})
    (value,) = model.values
    assert value.present is True and value.problem is None and value.file is model.library


def test_a_wrapper_cut_off_does_not_say_how_much_there_is(tmp_path: Path):
    """Neither that there is nothing to store, nor where what it does not describe would lie."""
    with zipfile.ZipFile(FIXTURES / "cpu_package_program" / "model.pt2") as file:
        text = next(file.read(n) for n in file.namelist() if n.endswith(".wrapper.cpp"))
    for mark, described in ((b"constants_info_[0]", 0), (b"constants_info_[2]", 2)):
        model = rewritten(
            "cpu_package_program", tmp_path / "m.pt2", {".wrapper.cpp": text[: text.index(mark)]}
        )
        assert model.weights.location is ValueIn.LIBRARY and model.weights.size is None
        assert len(model.values) == described
        assert any(f"announces 5 constants and describes {described}" in p for p in model.problems)


@pytest.mark.corpus
def test_bounds_of_torch_versions_hold_for_every_package_of_the_corpus(corpus_dir: Path):
    """Folders of the corpus are named by the release that wrote what is in them."""
    releases = {
        "versions/torch24": (2, 4),
        "versions/torch26": (2, 6),
        "versions/torch29": (2, 9),
        "gpu-torch2.11": (2, 11),
        "cpu-torch2.13/aoti/wrapper": (2, 13),
    }
    seen = dict.fromkeys(releases, 0)
    for folder, release in releases.items():
        for path in sorted((corpus_dir / folder).iterdir()):
            if not path.is_dir():
                continue
            for package in packages(path):
                for part in package.parts:
                    told = package.torch(part)
                    assert told.at_least is None or _release(told.at_least) <= release, (package.name, told)
                    assert told.below is None or release < _release(told.below), (package.name, told)
                    seen[folder] += 1
    assert min(seen.values()) > 9, seen


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))


@pytest.mark.corpus
def test_packages_of_the_corpus_lack_their_libraries_and_nothing_else(corpus_dir: Path):
    paths = sorted(corpus_dir.glob("**/*.pt2"))
    assert len(paths) > 60
    for path in paths:
        if not zipfile.is_zipfile(path):
            continue
        package = one(path)
        names = zipfile.ZipFile(path).namelist()
        assert sorted(f"{package.prefix}{f.path}" for f in package.files) == sorted(names), path
        for model in package.models:
            assert {r.role for r in model.missing} == ({FileRole.LIBRARY} if not model.cpp_only else set()), (
                path
            )
            assert model.metadata.device in {"cpu", "cuda"} and model.metadata.disagreements == ()
            assert model.wrapper is not None and model.wrapper.base is not None
            assert len(model.values) == model.wrapper.base.constants
            assert model.problems == ()
            assert not [f.path for f in package.files if f.role is FileRole.OTHER]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("aoti_weights_disk/lookup.pt2", ValueIn.FILES),
        ("aoti_blob/lookup.pt2", ValueIn.BLOB),
        ("aoti_mmap/lookup.pt2", ValueIn.LIBRARY_TAIL),
        ("aoti_cpponly_lookup/lookup.pt2", ValueIn.OBJECT),
        ("aoti_constfold/nan.pt2", ValueIn.LIBRARY),
        ("aoti_masked/masked.pt2", ValueIn.NOTHING),
    ],
)
def test_where_the_weights_are_in_each_kind_of_package(name: str, location: ValueIn, corpus_dir: Path):
    (model,) = one(corpus_dir / "cpu-torch2.13" / "aoti" / "wrapper" / name).models
    assert model.weights.location is location
    assert model.weights.by is not None and model.weights.why


def test_a_weight_that_only_a_program_beside_the_model_holds_is_said_so(tmp_path: Path):
    """The model itself has to be given it."""
    with (
        zipfile.ZipFile(FIXTURES / "cpu_package_program" / "model.pt2") as file,
        zipfile.ZipFile(tmp_path / "m.pt2", "w") as out,
    ):
        for member in file.namelist():
            data = file.read(member)
            if member.endswith(".wrapper.cpp"):
                data = data.replace(
                    b"std::move(cubin_dir),\n" + b" " * 27 + b"true)", b"std::move(cubin_dir), false)"
                )
                assert b", false)" in data
            out.writestr(member, data)
    (model,) = one(tmp_path / "m.pt2").models
    held = {v.constant.fqn: (v.location, v.present, v.path) for v in model.values}
    assert held["words.weight"] == (ValueIn.CALLER, True, "data/weights/weight_0")
    assert held["_tensor_constant0"] == (ValueIn.CALLER, False, None)
    assert model.weights.loaded_by_itself is False

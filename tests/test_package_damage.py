"""Packages that are damaged, or made to do harm: what can be read is read, the rest is said."""

import io
import json
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.packages.file import FileRole
from aoti_logs.code.packages.package import Package
from aoti_logs.code.packages.weights import ValueIn
from aoti_logs.errors import LoadError

FIXTURES = Path(__file__).parent.parent / "fixtures"
PACKAGE = (FIXTURES / "cpu_death_model_call" / "model.pt2").read_bytes()
BELOW = "m/data/aotinductor/model/"


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


def read(path: Path, data: bytes) -> tuple[aoti_logs.Run, tuple[Package, ...]]:
    path.write_bytes(data)
    run = aoti_logs.load(path)
    for name in ("packages", "package_files", "constants"):
        assert run.tables[name] is not None
    return run, run.evidence.packages


def wrapper_of(data: bytes) -> tuple[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        name = next(n for n in file.namelist() if n.endswith(".wrapper.cpp"))
        return name.rpartition("/")[2], file.read(name)


def test_a_package_cut_off_lists_what_comes_before(tmp_path: Path):
    run, (package,) = read(tmp_path / "m.pt2", PACKAGE[: len(PACKAGE) * 3 // 4])
    assert package.files and package.models
    assert any("directory is missing" in p for p in package.problems)
    assert any("ends in the middle" in (f.problem or "") for f in package.files)
    assert run.packages["problems"].list.len().to_list() == [len(package.problems)]


def test_what_a_cut_package_lacks_may_have_been_there(tmp_path: Path):
    """Its weights are neither said to be missing nor to be the caller's to give: the list of them comes last."""
    (whole,) = read(tmp_path / "m.pt2", PACKAGE)[1]
    assert [(m.whole, m.weights.location) for m in whole.models] == [(True, ValueIn.FILES)]
    with zipfile.ZipFile(io.BytesIO(PACKAGE)) as file:
        at = next(i.header_offset for i in file.infolist() if i.filename.endswith("weights_config.json"))
    run, (package,) = read(tmp_path / "m.pt2", PACKAGE[:at])
    (model,) = package.models
    assert not model.whole and model.weights.location is ValueIn.UNKNOWN
    assert model.values and all(v.present is None for v in model.values)
    assert run.packages["whole"].to_list() == [False]


def test_a_folder_of_one_model_alone_is_not_all_of_its_package(tmp_path: Path):
    """What torch unpacks below /tmp are the model's own files only."""
    with zipfile.ZipFile(io.BytesIO(PACKAGE)) as file:
        for name in file.namelist():
            if "data/aotinductor/" in name:
                file.extract(name, tmp_path / "aotinductor_x1")
    (package,) = aoti_logs.load(tmp_path).evidence.packages
    (model,) = package.models
    assert not model.whole and model.weights.location is ValueIn.FILES
    assert all(v.present is None and "left of the package" in (v.problem or "") for v in model.values)


def test_members_of_the_same_name_are_both_files(tmp_path: Path):
    base, text = wrapper_of(PACKAGE)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(f"{BELOW}{base}", text)
        file.writestr(f"{BELOW}{base}", text[:-100])
        file.writestr("m/archive_version", "0")
    _, (package,) = read(tmp_path / "m.pt2", out.getvalue())
    assert next(f.path.rpartition("/")[2] for f in package.files if f.role is FileRole.WRAPPER) == base
    assert len([f for f in package.files if f.path.startswith("data/aotinductor/")]) == 2


@pytest.mark.parametrize(
    "name", ["../../etc/data/aotinductor/model/x.wrapper.cpp", "/data/aotinductor/model/x.wrapper.cpp",
             "..\\..\\data\\aotinductor\\model\\x.wrapper.cpp", "data/aotinductor/../../x.wrapper.cpp"],
)  # fmt: skip
def test_names_that_lead_outside_are_only_names(name: str, tmp_path: Path):
    _, text = wrapper_of(PACKAGE)
    _, (package,) = read(tmp_path / "m.pt2", zipped({name: text}))
    assert len(package.files) == 1 and len(package.models) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.pt2"]


def test_an_encrypted_member_is_a_file_that_cannot_be_read(tmp_path: Path):
    data = bytearray(zipped({f"{BELOW}x.wrapper.cpp": b"secret", "m/archive_version": b"0"}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature) + at
        data[place] |= 1
    _, (package,) = read(tmp_path / "m.pt2", bytes(data))
    (file,) = [f for f in package.files if f.role is FileRole.WRAPPER]
    assert file.problem == "it is encrypted" and file.source is None and file.size == 6
    (model,) = package.models
    assert model.weights.location is ValueIn.UNKNOWN and model.wrapper is None


def test_a_bomb_is_a_file_that_is_left_out(tmp_path: Path):
    data = bytearray(
        zipped({f"{BELOW}x.wrapper.cpp": bytes(110 << 20), "m/archive_version": b"0"}, zipfile.ZIP_DEFLATED)
    )
    _, (package,) = read(tmp_path / "m.pt2", bytes(data))
    (file,) = [f for f in package.files if f.role is FileRole.WRAPPER]
    assert "claim to unpack" in (file.problem or "") and file.size == 110 << 20


def test_a_huge_claimed_size_is_said_and_not_believed(tmp_path: Path):
    data = bytearray(zipped({f"{BELOW}x.wrapper.cpp": b"short", "m/archive_version": b"0"}))
    at = data.find(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<L", 0xFFFFFFF0)
    _, (package,) = read(tmp_path / "m.pt2", bytes(data))
    (file,) = [f for f in package.files if f.role is FileRole.WRAPPER]
    assert file.problem is not None and file.size == 0xFFFFFFF0


def test_a_wrong_checksum_is_told_of_the_file(tmp_path: Path):
    base, text = wrapper_of(PACKAGE)
    data = zipped({f"{BELOW}{base}": text, f"{BELOW}x_metadata.json": b'{"AOTI_DEVICE_KEY": "cpu"}'})
    _, (package,) = read(tmp_path / "m.pt2", data.replace(b'"cpu"}', b'"xpu"}', 1))
    (file,) = [f for f in package.files if f.role is FileRole.METADATA]
    assert "CRC" in (file.problem or "")


@pytest.mark.parametrize(
    "text", [b"not JSON", b"[1, 2]", b"", b"[" * 100_000, b'{"a":' * 100_000, b'{"emb": ' + b"1" * 5000 + b"}", b"\xff\xfe\x00{",
             b'{"emb.weight": [1, "x", {}, null]}', b'{"emb.weight": []}', b'{"nodes": [1, {"node": 5}, {"node": {"target": [1]}}]}'],
)  # fmt: skip
def test_json_that_says_nothing_is_survived(text: bytes, tmp_path: Path):
    base, code = wrapper_of(PACKAGE)
    names = (
        "weights_config.json",
        f"{base[:-4]}_metadata.json",
        "custom_objs_config.json",
        f"{base[:-4]}.json",
    )
    files = {f"{BELOW}{base}": code, **{f"{BELOW}{n}": text for n in names}, "m/archive_version": b"0"}
    files |= {"m/models/p.json": text, "m/data/weights/p_weights_config.json": text}
    _, (package,) = read(tmp_path / "m.pt2", zipped(files))
    assert [m.name for m in package.models] == ["model"] and [p.name for p in package.programs] == ["p"]
    for value in package.models[0].values:
        assert not value.present


def test_a_model_and_its_weights_config_may_disagree(tmp_path: Path):
    """Of `weights_config.json`, another shape is told; an unlisted weight has to be given; a file that is not there is missing."""
    with zipfile.ZipFile(io.BytesIO(PACKAGE)) as file:
        files = {n: file.read(n) for n in file.namelist()}
    (config,) = [n for n in files if n.endswith("weights_config.json")]
    listed = json.loads(files[config])
    fqn, (weight, shape, stride, offset) = next(iter(listed.items()))

    def value(changed: object, without: str = "") -> tuple[ValueIn, bool | None, str | None]:
        changed_files = {n: d for n, d in files.items() if not without or not n.endswith(without)}
        _, (package,) = read(
            tmp_path / "m.pt2", zipped({**changed_files, config: json.dumps(changed).encode()})
        )
        (found,) = [v for v in package.models[0].values if v.constant.fqn == fqn]
        return found.location, found.present, found.problem

    assert value(listed) == (ValueIn.FILES, True, None)
    location, present, problem = value(listed | {fqn: [weight, [*shape, 1], stride, offset]})
    assert (location, present) == (ValueIn.FILES, True) and "shape" in (problem or "")
    assert value({"other": [weight, shape, stride, offset]})[:2] == (ValueIn.CALLER, False)
    location, present, problem = value(listed, without=f"data/weights/{weight}")
    assert (location, present) == (ValueIn.FILES, False) and "not in the package" in (problem or "")


def test_tens_of_thousands_of_members_take_seconds(tmp_path: Path):
    files = {f"{BELOW}k{n}.cubin": b"\x7fELF" for n in range(20_000)}
    _, (package,) = read(tmp_path / "m.pt2", zipped(files))
    assert len(package.files) == 20_000 and len(package.models[0].kernel_binaries) == 20_000


def test_many_folders_that_look_like_packages_take_seconds(tmp_path: Path):
    files = {f"p{n}/data/aotinductor/model/x.cubin": b"\x7fELF" for n in range(5_000)}
    _, found = read(tmp_path / "m.pt2", zipped(files))
    assert len(found) == 5_000


def test_a_name_of_many_folders_takes_no_time(tmp_path: Path):
    files = {"models/" * 9000 + f"{n}": b"\x7fELF" for n in range(50)} | {
        "data/aotinductor/m/x.cubin": b"\x7fELF"
    }
    _, found = read(tmp_path / "m.pt2", zipped(files))
    assert found


def test_an_archive_of_nothing_has_a_row_all_the_same(tmp_path: Path):
    run, (package,) = read(tmp_path / "m.pt2", zipped({"m/archive_version": b"0", "m/byteorder": b"little"}))
    assert not package.models
    (row,) = run.packages.iter_rows(named=True)
    assert row["model"] is None and row["byteorder"] == "little"


def test_a_nested_archive_is_a_file_of_the_package(tmp_path: Path):
    inner = zipped({"note.txt": b"hello"})
    base, text = wrapper_of(PACKAGE)
    _, (package,) = read(
        tmp_path / "m.pt2",
        zipped({f"{BELOW}{base}": text, "m/extra/notes.zip": inner, "m/archive_version": b"0"}),
    )
    assert "extra/notes.zip" in {f.path for f in package.files}


@settings(max_examples=60)
@given(
    damage=st.lists(st.tuples(st.floats(0, 0.9999), st.sampled_from(["flip", "cut", "drop", "zero", "insert"])), min_size=1, max_size=4),
    name=st.sampled_from(["cpu_death_model_call", "gpu_empty_events"]),
)  # fmt: skip
def test_random_damage_never_raises_and_nothing_is_made_up(damage, name, tmp_path_factory):
    data = bytearray((FIXTURES / name / "model.pt2").read_bytes())
    with zipfile.ZipFile(FIXTURES / name / "model.pt2") as file:
        metadata = next(json.loads(file.read(n)) for n in file.namelist() if n.endswith("_metadata.json"))
    for where, how in damage:
        at = int(where * len(data))
        match how:
            case "flip":
                data[at] ^= 0xFF
            case "cut":
                del data[max(at, 64) :]
            case "drop":
                del data[at : at + 100]
            case "zero":
                data[at : at + 50] = bytes(len(data[at : at + 50]))
            case _:
                data[at:at] = b"PK\x03\x04" + bytes(20)
    path = tmp_path_factory.mktemp("damage") / "m.pt2"
    try:
        _, found = read(path, bytes(data))
    except LoadError:
        return  # nothing is left of it
    for package in found:
        for model in package.models:
            for value in model.values:
                # The libraries were left out when the package was recorded.
                assert not value.present or value.location in {
                    ValueIn.FILES,
                    ValueIn.COMPUTED,
                    ValueIn.NOTHING,
                }
            if not any(f.problem for f in package.files) and not package.problems and model.metadata.values:
                assert model.metadata.values == metadata

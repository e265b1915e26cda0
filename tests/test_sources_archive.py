"""Archives and compressed files: read in memory, with limits, as far as they go."""

import gzip
import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.errors import LoadError
from aoti_logs.sources import archive, compressed
from aoti_logs.sources.archive import members
from aoti_logs.sources.compressed import unpack
from aoti_logs.sources.find import find
from aoti_logs.sources.kinds import layer
from aoti_logs.sources.source import Kind, Role

WRAPPER = b"\n#include <torch/csrc/inductor/aoti_include/cpu.h>\n// Definition\n"
KERNEL = b"// Triton kernels are embedded as comments in /c/x.wrapper.cpp\n"
LOG = b"Traceback (most recent call last):\n"
PACKAGE = {
    "m/data/aotinductor/model/cabc.wrapper.cpp": WRAPPER,
    "m/data/aotinductor/model/cdef.kernel.cpp": KERNEL,
    "m/data/aotinductor/model/cabc.wrapper_metadata.json": b'{"AOTI_DEVICE_KEY": "cpu"}',
    "m/data/aotinductor/model/kernel_information.json": b'{"cpp_fused_0:1": {"stack_traces": []}}',
    "m/data/aotinductor/model/cabc.wrapper.so": b"\x7fELF" + bytes(100),
    "m/data/weights/weight_0": bytes(400),
    "m/archive_format": b"pt2",
    "m/.data/version": b"6\n",
}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


@pytest.fixture
def write(tmp_path):
    def write(name: str, data: bytes) -> Path:
        path: Path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def test_a_package_is_the_subject_and_its_texts_are_evidence(write):
    found = find([write("m.pt2", zipped(PACKAGE))])
    assert [(s.name, s.kind, s.role) for s in found.subjects] == [("m.pt2", Kind.PACKAGE, Role.SUBJECT)]
    kinds = {s.name.rsplit("/", 1)[-1]: s.kind for s in found.context}
    assert kinds == {
        "cabc.wrapper.cpp": Kind.WRAPPER_CPP,
        "cdef.kernel.cpp": Kind.KERNEL_CPP,
        "cabc.wrapper_metadata.json": Kind.JSON,
        "kernel_information.json": Kind.KERNEL_INFORMATION,
        "archive_format": Kind.TEXT,
        "version": Kind.TEXT,
    }
    wrapper = found.context[0]
    assert wrapper.name == "m.pt2!m/data/aotinductor/model/cabc.wrapper.cpp"
    assert wrapper.parent is found.subjects[0]
    assert wrapper.data == WRAPPER
    assert str(wrapper.place(2)) == f"{wrapper.name}:2"
    assert len(found.skipped) == 2


def test_packages_of_torch_2_6_have_no_prefix(write):
    files = {"version": b"1", "archive_format": b"pt2", "data/aotinductor/model/c.cpp": WRAPPER}
    found = find([write("m.pt2", zipped(files))])
    assert [s.kind for s in found] == [Kind.PACKAGE, Kind.TEXT, Kind.TEXT, Kind.WRAPPER_CPP]


def test_a_package_under_another_name_is_one(write):
    assert find([write("model.zip", zipped(PACKAGE))]).subjects[0].kind is Kind.PACKAGE


def test_a_zip_of_logs_and_packages_is_opened_layer_by_layer(write):
    found = find(
        [write("all.zip", zipped({"out/stderr.log": LOG, "m.pt2": zipped(PACKAGE)}, zipfile.ZIP_DEFLATED))]
    )
    assert [s.name for s in found.subjects] == ["all.zip!out/stderr.log"]
    assert found.subjects[0].data == LOG
    assert "all.zip!m.pt2!m/data/aotinductor/model/cabc.wrapper.cpp" in [s.name for s in found.context]


def test_names_in_an_archive_are_never_paths(write, tmp_path):
    found = find([write("a.zip", zipped({"../../evil.log": LOG, "/etc/evil.log": LOG}))])
    assert [s.data for s in found.subjects] == [LOG, LOG]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip"]


def test_two_members_of_one_name_are_both_read(write):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file, pytest.warns(UserWarning):
        file.writestr("a.log", b"one\n")
        file.writestr("a.log", b"two\n")
    found = find([write("a.zip", out.getvalue())])
    assert [(s.name, s.data) for s in found.subjects] == [
        ("a.zip!a.log", b"one\n"),
        ("a.zip!a.log (2)", b"two\n"),
    ]
    assert "two members of this name" in found.problems[0].sentence


def test_a_package_that_lost_its_directory_is_read_from_what_is_there(write):
    whole = zipped(PACKAGE)
    found = find([write("m.pt2", whole[: whole.index(b"PK\x01\x02")])])
    assert found.subjects[0].kind is Kind.PACKAGE
    assert found.context[0].data == WRAPPER
    assert "directory is missing" in found.problems[0].sentence


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_last_member_of_a_cut_zip_is_read_as_far_as_it_goes(write, method):
    text = b"".join(b"line %d\n" % (i * i) for i in range(5000))
    whole = zipped({"a.log": b"whole\n", "b.log": text}, method)
    found = find([write("a.zip", whole[: len(whole) * 2 // 3])])
    first, second = found.subjects
    assert first.data == b"whole\n"
    assert text.startswith(bytes(second.data))
    assert len(second.data) > 1000
    assert any("ends in the middle" in problem.sentence for problem in found.problems)


def test_a_zip_of_which_nothing_is_left_is_an_error(write):
    with pytest.raises(LoadError, match=r"a\.zip cannot be read: its directory is missing"):
        find([write("a.zip", zipped({"a.log": LOG})[:20])])


def test_an_encrypted_member_is_a_problem(write):
    data = bytearray(zipped({"a.log": LOG, "b.log": LOG}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    found = find([write("a.zip", bytes(data))])
    assert [s.name for s in found.subjects] == ["a.zip!b.log"]
    assert (found.problems[0].path, found.problems[0].sentence) == ("a.zip!a.log", "it is encrypted")


def test_a_member_with_a_wrong_checksum_is_read_and_reported(write):
    data = bytearray(zipped({"a.log": bytes(LOG) * 3}))
    data[data.index(LOG)] ^= 1
    found = find([write("a.zip", bytes(data))])
    assert found.subjects[0].size == len(LOG) * 3
    assert "Bad CRC-32" in found.problems[0].sentence


def test_bombs_are_left_out_with_a_word(write, monkeypatch):
    bomb = zipped({"zeros.log": bytes(5_000_000), "a.log": LOG}, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 1_000_000)
    found = find([write("a.zip", bomb)])
    assert [s.name for s in found.subjects] == ["a.zip!a.log"]
    assert "more than 1,000,000" in found.problems[0].sentence
    monkeypatch.setattr(archive, "MOST_MEMBERS", 1)
    assert len(members(zipped({"a": b"", "b": b""}), "zip").files) == 1
    assert unpack(gzip.compress(bytes(5_000_000)), "gzip", 1000) == (
        bytes(1000),
        "only its first 1,000 bytes are read: it unpacks to more",
    )


def test_archives_in_archives_end_somewhere(write):
    data = zipped({"a.log": LOG})
    for _ in range(6):
        data = zipped({"a.zip": data})
    with pytest.raises(LoadError, match="packed more than 4 times over"):
        find([write("a.zip", data)])


def test_saved_tensors_are_no_archives(write, tmp_path):
    write("x.pt", zipped({"x/data.pkl": b"\x80\x02}", "x/data/0": bytes(64)}))
    write("a.log", LOG)
    found = find([tmp_path])
    assert [s.name for s in found] == ["a.log"]
    assert found.skipped == ("x.pt",)


def compress(data: bytes, name: str) -> bytes:
    if name == "gzip":
        return gzip.compress(data)
    if name == "bzip2":
        import bz2

        return bz2.compress(data)
    if name == "xz":
        import lzma

        return lzma.compress(data)
    zstandard = pytest.importorskip("zstandard")
    packed: bytes = zstandard.compress(data)
    return packed


LAYERS = ["gzip", "bzip2", "xz", "zstd"]


@pytest.mark.parametrize("name", LAYERS)
def test_a_packed_log_is_a_log_under_its_own_name(write, name):
    source = find([write("run.log.gz", compress(LOG, name))]).subjects[0]
    assert (source.name, source.kind, source.data) == ("run.log.gz", Kind.LOG, LOG)


@pytest.mark.parametrize("name", LAYERS)
@given(data=st.binary(max_size=3000), copies=st.integers(1, 3), cut=st.integers(0, 4000))
def test_cut_files_give_a_beginning_and_whole_ones_everything(name, data, copies, cut):
    packed = compress(data, name)
    assert layer(packed) == name
    assert unpack(packed * copies, name) == (data * copies, None)
    part, problem = unpack(packed[: min(cut, len(packed) - 1)], name)
    assert data.startswith(part)
    assert problem is not None


@pytest.mark.parametrize("name", LAYERS)
def test_a_cut_file_is_read_and_reported(write, name):
    data = b"".join(b"step %d\n" % (i * 7919 % 100003) for i in range(300_000))
    packed = compress(data, name)
    found = find([write("run.log.gz", packed[: len(packed) * 3 // 4])])
    assert data.startswith(bytes(found.subjects[0].data))
    assert found.subjects[0].size > 1000
    assert "cut short or damaged" in found.problems[0].sentence


def test_a_tar_in_gzip_is_opened(write):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as file:
        info = tarfile.TarInfo("logs/rank_2/stderr.log")
        info.size = len(LOG)
        file.addfile(info, io.BytesIO(LOG))
        link = tarfile.TarInfo("logs/link")
        link.type = tarfile.SYMTYPE
        link.linkname = "../../etc/passwd"
        file.addfile(link)
    (source,) = find([write("logs.tar.gz", out.getvalue())])
    assert (source.name, source.rank, source.data) == ("logs.tar.gz!logs/rank_2/stderr.log", 2, LOG)


def test_a_missing_zstd_reader_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(LoadError, match=r"pip install aoti-logs\[zstd\]"):
        find([write("run.log.zst", b"\x28\xb5\x2f\xfd\x20\x00")])


def test_the_default_limits_are_what_the_page_says():
    assert (archive.MEMBER_LIMIT, compressed.LIMIT) == (512 << 20, 2 << 30)


@pytest.mark.corpus
def test_every_package_of_the_corpus_gives_its_wrapper(corpus_dir):
    for path in sorted(corpus_dir.rglob("*.pt2")):
        if layer(path.read_bytes()[:300]) != "zip" or "data/aotinductor" not in str(
            zipfile.ZipFile(path).namelist()
        ):
            continue
        found = find([path])
        wrappers = [s for s in found.context if s.kind is Kind.WRAPPER_CPP]
        members = zipfile.ZipFile(path)
        assert wrappers, path
        for source in found.context:
            assert source.data == members.read(source.label)

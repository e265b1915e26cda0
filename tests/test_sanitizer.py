"""Reports of compute-sanitizer and cuda-memcheck: what is read, in which wording, and what a rule says of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.errors.sanitizer import SanitizerReport
from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.shape import fields, mask
from tests.log_text import assert_partition, read

OLD = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 16 bytes
=========     at 0xda0 in /opt/app/fused_moe.py:175:fused_moe_kernel
=========     by thread (96,0,0) in block (44,0,0)
=========     Address 0x763995f9f000 is out of bounds
=========     and is 1,241,911,296 bytes before the nearest allocation at 0x7639e0000000 of size 5,033,164,800 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame: [0x2f26f0]
=========                in /usr/lib/x86_64-linux-gnu/libcuda.so.1
=========     Host Frame:PyObject_Call [0x22d1ab]
=========                in /usr/bin/python3
=========
========= ERROR SUMMARY: 1 error
"""
NEW = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 256 bytes
=========     at bulk_copy_range(unsigned char *, int)+0x120
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x147267fff80 is out of bounds
=========     and is inside the nearest allocation at 0x14725400000 of size 20971520 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: launch_bulk_copy_range(at::Tensor, int) [0x9544e] in bulk_copy_range.so
=========         Host Frame: main in scenarios.py:206
=========
"""


def reports(text: str) -> list[SanitizerReport]:
    return [e.detail for e in read(text).errors if isinstance(e.detail, SanitizerReport)]


def test_the_old_wording_is_read_whole():
    (report,) = reports(OLD)
    assert (report.access, report.space, report.size) == ("read", "global", 16)
    assert (report.kernel, report.file, report.line) == ("fused_moe_kernel", "/opt/app/fused_moe.py", 175)
    assert (report.pc, report.thread, report.block) == ("0xda0", (96, 0, 0), (44, 0, 0))
    assert (report.relation, report.distance, report.allocation_size) == ("before", 1241911296, 5033164800)
    assert [(f.symbol, f.library) for f in report.host_frames] == [
        (None, "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
        ("PyObject_Call", "/usr/bin/python3"),
    ]


def test_the_new_wording_is_read_whole():
    (report,) = reports(NEW)
    assert (report.kernel, report.pc_offset) == ("bulk_copy_range(unsigned char *, int)", "0x120")
    assert (report.file, report.relation, report.distance) == (None, "inside", None)
    assert report.host_frames[0].symbol == "launch_bulk_copy_range(at::Tensor, int)"
    assert (report.host_frames[1].file, report.host_frames[1].line) == ("scenarios.py", 206)


def test_cuda_memcheck_names_the_library_first():
    text = (
        "========= CUDA-MEMCHECK\n========= Invalid __global__ read of size 4\n"
        "=========     at 0x00000148 in kernel(float*)\n=========     by thread (31,0,0) in block (0,0,0)\n"
        "=========     Address 0x7f00000000 is out of bounds\n"
        "=========     Host Frame:/usr/lib/libcuda.so.1 (cuLaunchKernel + 0x2c5) [0x204505]\n"
    )
    (report,) = reports(text)
    assert (report.kernel, report.pc) == ("kernel(float*)", "0x00000148")
    assert (report.host_frames[0].symbol, report.host_frames[0].library) == (
        "cuLaunchKernel",
        "/usr/lib/libcuda.so.1",
    )


def test_output_of_the_program_within_a_report_stays_apart():
    lines = OLD.splitlines(keepends=True)
    lines.insert(4, "step 3 of 10\n")
    events = read("".join(lines))
    assert len([e for e in events.errors if e.form is ErrorForm.SANITIZER]) == 1
    assert [r.address for r in reports("".join(lines))] == ["0x763995f9f000"]
    assert [bytes(u.span.source.data[u.span.start : u.span.end]) for u in events.unparsed] == [
        b"step 3 of 10\n"
    ]


def test_a_rank_in_front_of_every_line_is_taken_off():
    (report,) = reports("".join(f"[rank3]: {line}\n" for line in OLD.splitlines()))
    assert report.line == 175


def test_pytest_rulers_are_not_reports():
    assert not read(
        "========== test session starts ==========\n========== 3 passed in 2.10s ==========\n"
    ).errors


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> aoti_logs.Explanation:
        (tmp_path / "run.log").write_text(text)
        return aoti_logs.load(tmp_path / "run.log").explain()

    return run


def test_a_report_proves_the_kernel(explain):
    (finding,) = explain(OLD).findings
    assert (finding.rule, finding.kind, finding.confidence) == ("AL303", "compute_sanitizer", "proven")
    assert finding.facts["suspect_kernel"] == "fused_moe_kernel"
    assert "int32" in str(explain(OLD))


def test_out_of_bounds_and_inside_an_allocation_is_doubted(explain):
    (finding,) = explain(NEW).findings
    assert finding.confidence == "possible" and finding.facts["suspect_false_positive"]
    assert "suspect_kernel" not in finding.facts


def test_an_access_that_ends_beyond_a_mapped_piece_is_not_called_impossible(explain):
    text = str(explain(NEW))
    assert "ends 128 bytes beyond its end: a real error, or one piece of memory" in text
    assert "cannot" not in text


def test_an_access_that_ends_beyond_a_plain_allocation_is_no_false_alarm(explain):
    (finding,) = explain(NEW.replace("size 20971520", "size 20971500")).findings
    assert finding.confidence == "proven" and not finding.facts["suspect_false_positive"]
    assert "ends 148 bytes beyond its end" in str(finding.verdicts[0].because)


def test_the_error_that_ends_the_run_follows_from_the_report(explain):
    text = f"{OLD}RuntimeError: CUDA error: unspecified launch failure\n"
    first = explain(text).findings[0]
    assert (first.rule, first.kind, first.role) == ("AL303", "cuda_illegal_memory_access", "cause")


def test_a_tool_that_could_not_check_says_so(explain):
    (finding,) = explain(
        "========= COMPUTE-SANITIZER\n========= Device not supported. Please refer to the docs\n"
    ).findings
    assert (finding.role, finding.kind) == ("note", "compute_sanitizer")


def test_a_clean_run_has_no_finding(explain):
    text = "========= COMPUTE-SANITIZER\nstatus: no error\n========= ERROR SUMMARY: 0 errors\n"
    assert not explain(text).findings


LINES = [line[10:].strip() for line in (OLD + NEW).splitlines()]
RULES = ("head", "at", "thread", "address", "nearest", "host", "device", "race", "summary")


@given(st.sampled_from(LINES), st.integers(0, 80), st.text(max_size=6))
def test_damage_never_raises_and_never_loses_bytes(line: str, at: int, put: str):
    """A shape has the parts of its line, and any damaged report still partitions its bytes."""
    damaged = line[:at] + put + line[at + 1 :]
    for rule in RULES:
        found = fields("sanitizer", rule, damaged)
        masked = fields("sanitizer", rule, mask(damaged))
        assert (found is None) == (masked is None)
    text = f"========= {line}\n========= {damaged}\n=========     {damaged}\n".encode("utf-8", "replace")
    assert_partition(read(text), len(text))

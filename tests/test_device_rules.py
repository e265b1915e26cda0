"""Device asserts of ATen, allocations that failed, outputs of CUDA graphs, lines of the kernel's log."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.errors.out_of_memory import out_of_memory, size
from aoti_logs.rules.aten_asserts import ASSERTS
from tests.log_text import assert_partition, read

ATEN = "/pytorch/aten/src/ATen/native/cuda/{}: operator(): block: [0,0,0], thread: [3,0,0] Assertion `{}` failed.\n"
OOM = (
    "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 3.25 MiB is free. "
    "Including non-PyTorch memory, this process has 79.14 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by "
    "PyTorch, and 4.80 GiB is reserved by PyTorch but unallocated."
)
GRAPH = (
    "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: "
    'File "/home/user/app/bug.py", line 7, in my_model\n    y = torch.matmul(x, x). To prevent overwriting, clone the tensor'
)


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> list[aoti_logs.Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain())

    return run


@pytest.mark.parametrize(
    ("file", "condition", "kind", "operators"),
    [
        (
            "IndexKernel.cu:93",
            'index >= -sizes[i] && index < sizes[i] && "index out of bounds"',
            "aten_index_assert",
            "x[index]",
        ),
        ("IndexKernel.cu:111", "-sizes[i] <= index && index < sizes[i]", "aten_index_assert", "x[index]"),
        ("Indexing.cu:1515", "srcIndex < srcSelectDimSize", "aten_index_assert", "embedding"),
        ("Loss.cu:245", "t >= 0 && t < n_classes", "aten_index_assert", "cross_entropy"),
        ("ScatterGatherKernel.cu:163", "idx_dim >= 0 && idx_dim < index_size", "aten_index_assert", "gather"),
        ("Loss.cu:90", "input_val >= zero && input_val <= one", "aten_value_assert", "binary_cross_entropy"),
        (
            "TensorCompare.cu:109",
            "probability tensor contains either `inf`, `nan` or element < 0",
            "aten_value_assert",
            "multinomial",
        ),
    ],
)
def test_a_condition_of_aten_tells_the_operator(explain, file, condition, kind, operators):
    (finding,) = explain(ATEN.format(file, condition))
    assert (finding.rule, finding.kind, finding.confidence) == ("AL309", kind, "proven")
    assert operators in finding.title
    assert finding.facts["generated_by_inductor"] is False
    assert finding.facts["kernel_file"] == file.split(":")[0]


def test_an_assert_of_another_cuda_source_is_not_atens(explain):
    (finding,) = explain(
        ATEN.format("moe.cu:9", "t >= 0 && t < n_classes").replace("/aten/src/ATen/native/cuda", "/vllm")
    )
    assert (finding.kind, finding.confidence) == ("cuda_device_assert", "unknown")


def test_an_assert_of_atens_that_the_table_lacks_is_only_quoted(explain):
    (finding,) = explain(ATEN.format("Sort.cu:9", "nsort <= 1024"))
    assert (finding.kind, finding.confidence) == ("aten_index_assert", "unknown")
    assert "nsort <= 1024" in finding.title


def test_windows_is_told_from_the_path(explain):
    line = r"C:\w\pytorch\aten\src\ATen\native\cuda\IndexKernel.cu:91: block: [26,0,0], thread: [32,0,0] Assertion `index >= -sizes[i] && index < sizes[i]` failed."
    (finding,) = explain(f"{line}\n")
    assert (finding.facts["platform"], finding.facts["kernel_file"]) == ("windows", "IndexKernel.cu")


DSA = """\
RuntimeError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Looking for device-side assertion failure information...
1 CUDA device-side assertion failures were found on GPU #0!
Assertion failure 0
  GPU assertion failure message = 0 <= i && i < n
  File containing assertion = /srv/demo/kernel.cu:25
  Device function containing assertion = check
  Thread ID that failed assertion = [3,0,0]
  Block ID that failed assertion = [1,0,0]
  File containing kernel launch = /srv/demo/kernel.cu:33
  Function containing kernel launch = run
  Name of kernel launched that led to failure = check_all
  Device that launched kernel = 0
  Stream kernel was launched on = 0
"""


def test_an_assertion_that_c10_collected_names_kernel_and_launch(explain):
    (finding,) = explain(DSA)
    assert (finding.rule, finding.confidence) == ("AL308", "proven")
    assert (finding.facts["kernel"], finding.facts["launch_line"], finding.facts["thread"]) == (
        "check_all",
        33,
        [3, 0, 0],
    )


def test_every_row_of_the_table_says_what_to_print():
    assert all(a.look and a.wrong and isinstance(a.condition, re.Pattern) for a in ASSERTS)


def test_sizes_are_bytes():
    assert [size(t) for t in ("20.00 MiB", "0 bytes", "1.45 GB", "4.80 KiB", None)] == [
        20971520,
        0,
        1556925645,
        4915,
        None,
    ]


def test_free_memory_in_pieces_is_told_and_mended(explain):
    (finding,) = explain(f"torch.OutOfMemoryError: {OOM}\n")
    assert (finding.rule, finding.kind, finding.facts["wanted"]) == ("AL304", "out_of_memory", 20971520)
    assert "expandable_segments" in finding.fixes[0]


def test_one_tensor_that_is_larger_than_the_device_is_told(explain):
    (finding,) = explain(f"torch.OutOfMemoryError: {OOM.replace('20.00 MiB', '4096.00 GiB')}\n")
    assert "more than the whole device has" in finding.verdicts[0].because[0] and not finding.fixes


@pytest.mark.parametrize(
    ("text", "backend", "wanted"),
    [
        ("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.20 GiB already allocated; 7.44 MiB free; 9.50 GiB reserved in total by PyTorch)", "cuda", 20971520),
        ("HIP out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 63.98 GiB of which 1.20 GiB is free.", "rocm", 2147483648),
        ("MPS backend out of memory (MPS allocated: 1.45 GB, other allocations: 7.42 GB, max allowed: 9.07 GB). Tried to allocate 563.62 MB on private pool.", "mps", 590998405),
        ("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 17592186044416 bytes. Error code 12 (Cannot allocate memory)", "cpu", 17592186044416),
        ("Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 7.00 GiB\nRequested               : 50.00 MiB\nDevice limit            : 15.73 GiB", "cuda", 52428800),
    ],
)  # fmt: skip
def test_every_allocator_is_read(text, backend, wanted):
    found = out_of_memory(text)
    assert found is not None and (found.backend, found.wanted) == (backend, wanted)


def test_a_message_that_only_quotes_the_words_is_no_failed_allocation():
    assert out_of_memory("ValueError: is the host out of memory. Tried nothing") is None


def test_an_overwritten_output_names_its_line(explain):
    (finding,) = explain(f"{GRAPH}\n")
    assert (finding.kind, finding.confidence) == ("cudagraph_output_overwritten", "proven")
    assert finding.facts["user_frame"] == {"file": "/home/user/app/bug.py", "line": 7, "function": "my_model"}
    assert finding.chain[-1].text.endswith("in my_model: y = torch.matmul(x, x)")


def test_xids_are_counted_and_explained(explain):
    line = "[   64.222208] NVRM: Xid (PCI:0000:00:06): {}, pid=1040, name=python3, {}\n"
    text = line.format(31, "Ch 00000018, MMU Fault: ENGINE GRAPHICS faulted @ 0x7f1b_2a000000") * 2
    (program,) = explain(text)
    assert (program.kind, program.role, program.facts["count"]) == ("xid", "note", 2)
    assert program.facts["caused_by"] == "program" and program.facts["pids"] == [1040]
    (hardware,) = explain(line.format(79, "GPU has fallen off the bus."))
    assert (hardware.role, hardware.facts["caused_by"]) == ("cause", "hardware")


def test_an_unknown_xid_is_not_explained(explain):
    (finding,) = explain("NVRM: Xid (PCI:0000:00:06): 7777, pid=1, name=x, what\n")
    assert finding.facts["meaning"] is None and finding.role == "note"


def test_amdgpus_page_fault_is_a_note(explain):
    (finding,) = explain(
        "amdgpu 0000:03:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8)\n"
    )
    assert (finding.rule, finding.role) == ("AL307", "note")


@given(
    st.sampled_from([OOM, GRAPH, "NVRM: Xid (PCI:0000:00:06): 43, pid=1, name=x, y"]),
    st.integers(0, 300),
    st.text(max_size=8),
)
def test_damage_never_raises_and_never_loses_bytes(line: str, at: int, put: str):
    damaged = line[:at] + put + line[at + 1 :]
    out_of_memory(damaged)
    data = f"{damaged}\nRuntimeError: {damaged}\n".encode("utf-8", "replace")
    assert_partition(read(data), len(data))


def test_an_xid_of_a_mended_error_is_no_failure(explain):
    (finding,) = explain("NVRM: Xid (PCI:0000:00:06): 63, pid=1, name=x, Row Remapper: New row marked\n")
    assert (finding.role, finding.severity) == ("note", "warning")

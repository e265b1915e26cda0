"""Facts that stand around an error: who sent it, the frames of its stack, the records of a message, what a log holds."""

from pathlib import Path

import aoti_logs

FRAME = (
    "frame #4: at::TensorMaker::make_tensor() + 0x9c6 (0x7f3dc435f656 in /opt/conda/lib/libtorch_cpu.so)\n"
)
# torch/csrc/inductor/aoti_torch/shim_common.cpp and c10/util/Exception.cpp
SHIM = (
    "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: some text of ATen.\n"
    "Exception raised from getDeviceFromPtr at ../aten/src/ATen/cuda/CUDADevice.h:16 (most recent call first):\n"
)


def explain(tmp_path: Path, text: str | bytes):
    path = tmp_path / "run.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return aoti_logs.load(path)


def test_frames_have_what_addr2line_takes(tmp_path):
    (finding,) = explain(tmp_path, SHIM + FRAME).explain()
    (frame,) = finding.facts["frames"]
    assert (frame["number"], frame["symbol"]) == (4, "at::TensorMaker::make_tensor()")
    assert (frame["offset"], frame["address"], frame["lib"]) == ("0x9c6", "0x7f3dc435f656", "libtorch_cpu.so")


def test_the_prefix_of_a_launcher_is_a_fact(tmp_path):
    """vllm/logger.py and vllm/utils/system_utils.py write the prefix."""
    prefix = "(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522] "
    (finding,) = explain(tmp_path, f"{prefix}RuntimeError: CUDA error: an illegal memory access\n").explain()
    assert finding.facts["prefix"] == {
        "worker": "VllmWorker", "rank": 2, "pid": 295, "level": "ERROR", "time": "06-18 08:08:25",
    }  # fmt: skip


def test_a_log_without_a_launcher_has_no_prefix(tmp_path):
    (finding,) = explain(tmp_path, "RuntimeError: CUDA error: an illegal memory access\n").explain()
    assert "prefix" not in finding.facts


MESSAGES = (
    "W0213 09:47:01.171000 226363 torch/fx/experimental/symbolic_shapes.py:6578] failed during evaluate_expr"
    "(Ne(u0, 589824), hint=None, size_oblivious=False, forcing_spec=False\n"
    "E0213 09:47:01.172000 226363 torch/fx/experimental/recording.py:299] failed while running evaluate_expr"
    "(*(Ne(u0, 589824), None), **{'fx_node': False})\n"
)


def test_the_records_that_tell_a_failure_are_facts(tmp_path):
    (finding,) = explain(tmp_path, MESSAGES).explain()
    assert [(r["level"], r["line"]) for r in finding.facts["records"]] == [("W", 6578), ("E", 299)]


def test_a_traceback_without_its_exception_stands_behind_what_has_a_name(tmp_path):
    torn = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    g()\n'
    rules = [f.rule for f in explain(tmp_path, MESSAGES + torn).explain() if f.role == "cause"]
    assert rules == ["AL506", "AL001"]


BRACKET = (
    "[2024-01-03 11:21:04,838] [0/0] torch.fx.experimental.symbolic_shapes: [DEBUG] Data dependent variable 'i1' allocated at:\n"
    '[2024-01-03 11:21:04,838] [0/0] torch.fx.experimental.symbolic_shapes: [DEBUG]   File "/a.py", line 45, in <module>\n'
    "[2024-01-03 11:21:04,838] [0/0] torch.fx.experimental.symbolic_shapes: [DEBUG]     y = compiled(x)\n"
)


def test_each_line_with_a_prefix_in_brackets_is_counted(tmp_path):
    (row,) = explain(tmp_path, BRACKET + "other\n").log_formats.to_dicts()
    assert (row["n_messages"], row["n_records"], row["n_unprefixed_lines"], row["quoted"]) == (1, 3, 1, False)


def test_a_quoted_log_is_told_from_others(tmp_path):
    quoted = "".join(f"> {line}" for line in BRACKET.splitlines(True))
    (row,) = explain(tmp_path, quoted).log_formats.to_dicts()
    assert (row["n_records"], row["quoted"]) == (3, True)


def test_nul_bytes_are_counted(tmp_path):
    (row,) = explain(
        tmp_path, MESSAGES.encode() + b"V0213 09:47:01.171000 2 torch/a.py:1] a\0b\0\0\n"
    ).log_formats.to_dicts()
    assert row["n_nul_bytes"] == 3


def test_an_index_that_aten_refused_has_its_values(tmp_path):
    text = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    x[i]\nIndexError: index -5 is out of bounds for dimension 1 with size 3\n'
    (finding,) = explain(tmp_path, text).explain()
    assert (finding.facts["index_value"], finding.facts["size_value"], finding.facts["dim"]) == (-5, 3, 1)


def test_the_call_that_met_a_lost_context_is_a_note_and_the_assert_is_the_cause(fixtures_dir: Path):
    folder = fixtures_dir / "gpu_assert_text_lost"
    found = list(aoti_logs.load(folder / "run.log", context=folder).explain())
    assert [(f.rule, f.kind, f.role) for f in found] == [
        ("AL109", "cuda_device_assert", "cause"),
        ("AL213", "aoti_shim_exception", "note"),
    ]
    assert found[1].facts["raised_from"]["function"] == "createCublasHandle"
    assert [dict(e.env) for e in found[0].experiments] == [
        {"AOTI_RUNTIME_CHECK_INPUTS": "1"},
        {"CUDA_LAUNCH_BLOCKING": "1"},
    ]


def test_records_of_run_time_have_no_attempt(tmp_path):
    """torch/_logging/_internal.py `trace_structured`; the last record is what torch 2.7 writes at run time."""
    head = "V0327 10:00:00.100000 5001 torch/_dynamo/convert_frame.py:950] "
    text = (
        head + '{"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}\n'
        + head + '{"artifact": {"name": "autotune_result", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 0}\n'
    )  # fmt: skip
    (row,) = explain(tmp_path, text).traces.to_dicts()
    assert (row["records_without_attempt"], row["compile_ids"]) == (1, ["0/0"])

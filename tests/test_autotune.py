"""What Inductor measured, as it stands on stderr and in messages."""

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs._run import Run
from aoti_logs.sources.source import Kind, Source
from tests.log_text import assert_partition, read

# torch/_inductor/select_algorithm.py, `log_results`
BLOCK = """\
AUTOTUNE mm(13120x256, 256x768)
strides: [256, 1], [1, 256]
dtypes: torch.bfloat16, torch.bfloat16
  mm 0.0184 ms 100.0%\x20
  triton_mm_125 0.0217 ms 84.8% ACC_TYPE='tl.float32', ALLOW_TF32=True, BLOCK_K=32, num_stages=3, num_warps=4
SingleProcess AUTOTUNE benchmarking takes 0.7107 seconds and 1.5040 seconds precompiling for 20 choices
"""
# torch/_inductor/runtime/triton_heuristics.py
MEASURED = "".join(
    f"V1129 12:34:11.000000 7 torch/_inductor/runtime/triton_heuristics.py:{line}] {text}\n"
    for line, text in (
        (947, "Benchmark all input configs for triton_poi_fused_add_1, get:"),
        (949, "XBLOCK: 16, num_warps: 4, num_stages: 1, maxnreg: None: 0.021440, nreg 24, nspill 0, #shared-mem 0"),
        (949, "XBLOCK: 4, num_warps: 1, num_stages: 1, maxnreg: None: 0.008416, nreg 26, nspill 0, #shared-mem 0"),
        (985, "Best config for triton_poi_fused_add_1: XBLOCK: 4, num_warps: 1: 0.008416, nreg 26, nspill 0, #shared-mem 0"),
    )
)  # fmt: skip


def table(text: str):
    return Run([Source("run.log", Kind.LOG, text.encode)], [], ()).autotuning


def test_a_block_has_a_row_a_choice():
    rows = table("printed\n" + BLOCK)
    assert rows.select("op", "name", "best", "ms", "speed", "num_warps", "num_stages", "line").rows() == [
        ("mm", "mm", True, 0.0184, 1.0, None, None, 5),
        ("mm", "triton_mm_125", False, 0.0217, 0.848, 4, 3, 6),
    ]
    row = rows.row(1, named=True)
    assert (row["shapes"], row["strides"], row["dtypes"]) == (
        ["13120x256", "256x768"],
        ["[256, 1]", "[1, 256]"],
        ["torch.bfloat16", "torch.bfloat16"],
    )
    assert row["options"][0] == "ACC_TYPE='tl.float32'"
    assert (row["benchmark_s"], row["precompile_s"], row["block_line"]) == (0.7107, 1.504, 2)


def test_an_indented_block_is_read():
    assert table("".join(f"    {row}\n" for row in BLOCK.splitlines()))["name"].to_list() == [
        "mm",
        "triton_mm_125",
    ]


def test_the_summary_before_a_block_is_no_free_text():
    assert not read('Autotune Choices Stats:\n{"num_choices": 2, "best_kernel": "mm"}\n' + BLOCK).unparsed


def test_a_block_that_was_cut_off_keeps_what_is_there():
    assert table("".join(BLOCK.splitlines(keepends=True)[:4])).select("name", "benchmark_s").rows() == [
        ("mm", None)
    ]


def test_blocks_of_ranks_that_interleave_are_told_apart():
    rows = BLOCK.splitlines(keepends=True)
    found = table("".join(f"[rank{r}]: {row}" for row in rows for r in (0, 1)))
    assert found.select("rank", "name").rows() == [
        (0, "mm"),
        (0, "triton_mm_125"),
        (1, "mm"),
        (1, "triton_mm_125"),
    ]


def test_a_choice_that_could_not_run_took_forever():
    (row,) = table("AUTOTUNE mm(2x2, 2x2)\n  triton_mm_4 inf ms 0.0% BLOCK_K=32\n").to_dicts()
    assert row["ms"] == float("inf")


def test_configurations_of_a_kernel_are_ordered_by_time():
    rows = table(MEASURED)
    assert rows.select("kernel", "best", "ms", "num_warps", "line").rows() == [
        ("triton_poi_fused_add_1", True, 0.008416, 1, 3),
        ("triton_poi_fused_add_1", False, 0.02144, 4, 2),
    ]


def test_a_block_is_no_free_text():
    assert not read(BLOCK).unparsed


@given(st.integers(0, len(BLOCK)), st.integers(0, len(BLOCK)), st.binary(max_size=4))
def test_damage_loses_no_byte(start, end, between):
    data = BLOCK.encode()[:end] + between + BLOCK.encode()[start:]
    assert_partition(read(data), len(data))

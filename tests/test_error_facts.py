"""What error texts say, as rows; and the workers that torchrun lists."""

from pathlib import Path

import aoti_logs


def test_a_sanitizer_report_is_rows_of_its_facts(fixtures_dir: Path):
    facts = aoti_logs.load(fixtures_dir / "gpu_sanitizer_triton" / "run.log").tables["error_facts"]
    first = facts.filter(facts["line"] == facts["line"].min())
    told = dict(zip(first["key"], first["value"], strict=True))
    assert (told["access"], told["space"], told["kernel"]) == ("read", "global", "far_read_kernel")
    assert dict(zip(first["key"], first["number"], strict=True))["size"] == 4.0


def test_without_an_error_the_table_has_its_columns_and_no_rows(fixtures_dir: Path):
    facts = aoti_logs.load(fixtures_dir / "cpu_ok" / "run.log").tables["error_facts"]
    assert facts.height == 0
    assert {"source", "line", "kind", "key", "value", "number"} <= set(facts.columns)


def test_the_workers_of_torchrun_are_rows_and_the_first_to_end_is_marked(fixtures_dir: Path):
    workers = aoti_logs.load(fixtures_dir / "gpu_ranks_one" / "run.log").tables["worker_failures"]
    assert workers.select("name", "rank", "first_failure", "exit_code").rows() == [
        ("train.py", 0, False, -15),
        ("train.py", 1, True, -6),
    ]


def test_a_worker_that_left_its_traceback_is_told_with_its_exception(tmp_path: Path):
    """The form of torch/distributed/elastic/multiprocessing/errors/__init__.py with an error file."""
    border, section = "=" * 20, "-" * 20
    (tmp_path / "run.log").write_text(
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"{border}\ntrain.py FAILED\n{section}\nFailures:\n  <NO_OTHER_FAILURES>\n{section}\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-29_20:26:57\n  host      : localhost\n"
        "  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 2131)\n  error_file: /srv/demo/error.json\n"
        "  traceback : Traceback (most recent call last):\n"
        '    File "/srv/demo/train.py", line 7, in main\n      raise ValueError("no rows")\n  ValueError: no rows\n'
        f"{border}\n"
    )
    run = aoti_logs.load(tmp_path / "run.log")
    (row,) = run.tables["worker_failures"].rows(named=True)
    assert (row["rank"], row["exception"], row["error_file"]) == (
        3,
        "ValueError: no rows",
        "/srv/demo/error.json",
    )
    (cause,) = [f for f in run.explain() if f.role == "cause"]
    assert (cause.rule, cause.title) == ("AL323", "rank 3 of `train.py` ended first: ValueError: no rows")


def test_a_table_of_workers_that_is_cut_off_loses_no_byte(fixtures_dir: Path, tmp_path: Path):
    whole = (fixtures_dir / "cpu_ranks_all" / "run.log").read_bytes()
    start = whole.index(b"ChildFailedError")
    for end in range(start, len(whole), 97):
        path = tmp_path / f"{end}.log"
        path.write_bytes(whole[:end])
        run = aoti_logs.load(path)
        (source,) = run.files
        records, unparsed = run.spans_of(source)
        assert sum(stop - begin for _, begin, stop in [*records, *unparsed]) == end

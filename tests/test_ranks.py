"""Failures of several ranks in one log, and how later errors stand to the cause."""

from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.rules.first_cause import cause_of
from aoti_logs.rules.relation import Relation, is_secondary, relation
from aoti_logs.sources.source import Kind, Source, Span


def _causes(path: Path, rank: int | None = None):
    return [f for f in aoti_logs.load(path).explain(rank=rank).findings if f.role == "cause"]


@pytest.mark.parametrize("name", ["cpu_ranks_one", "cpu_ranks_tee"])
def test_the_rank_that_failed_by_itself_leads_and_the_others_stand_under_it(name: str, fixtures_dir: Path):
    (cause,) = _causes(fixtures_dir / name / "run.log")
    assert cause.rank == 1
    assert cause.kind == "cpu_kernel_index_assert"
    under = [(k.step, k.text, k.details) for k in cause.consequences]
    assert any("a peer closed the connection" in text and "rank 0" in more for _, text, more in under)
    assert any("ChildFailedError" in text for _, text, _ in under)
    assert {step for step, _, _ in under} == {"follows"}


def test_one_failure_of_both_ranks_is_one_finding_with_their_number(fixtures_dir: Path):
    (cause,) = _causes(fixtures_dir / "cpu_ranks_all" / "run.log")
    assert cause.facts["n_ranks"] == 2
    assert sorted(cause.facts["ranks"]) == [0, 1]
    assert cause.facts["n_assert_lines"] == 1


@pytest.mark.parametrize("rank", [0, 1])
def test_asked_for_one_rank_its_own_failure_is_shown(rank: int, fixtures_dir: Path):
    causes = _causes(fixtures_dir / "cpu_ranks_all" / "run.log", rank)
    assert [f.rank for f in causes if f.rank is not None] == [rank]


def test_the_line_that_called_the_model_is_quoted(fixtures_dir: Path):
    (cause,) = _causes(fixtures_dir / "cpu_ranks_one" / "run.log")
    called = next(link for link in cause.chain if link.step == "called")
    assert "train.py:28 in main: out = compiled(table, idx)" in called.text


def _error(
    text: str, kind: str | None = None, at: int = 0, form: ErrorForm = ErrorForm.PYTHON, **more: Any
) -> ErrorText:
    source = Source("x.log", Kind.LOG, lambda: b" " * 1000)
    return ErrorText(form, text, Span(source, at, at + 10), exception_type=kind, text=text, **more)


def test_a_child_that_died_is_not_the_cause_when_an_error_of_its_own_stands_there():
    parent = _error("train.py FAILED", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError")
    child = _error("boom", "ValueError", 20)
    assert cause_of([parent, child]) is child


def test_words_about_workers_do_not_make_an_error_secondary():
    assert not is_secondary(_error("num_workers must not be negative", "ValueError"))


def test_an_error_of_unknown_relation_is_only_after_the_cause():
    assert relation(_error("first failure", "ValueError"), _error("second", "KeyError", 20)) is Relation.AFTER


def test_the_text_of_the_cause_in_a_later_error_is_the_same_again():
    later = _error("while serving: index 7 is out of bounds", "RuntimeError", 20)
    assert relation(_error("index 7 is out of bounds", "IndexError"), later) is Relation.AGAIN


def test_an_error_of_the_device_follows_from_a_sticky_one():
    cause = _error(
        "CUDA error: an illegal memory access was encountered", cuda_error="cudaErrorIllegalAddress"
    )
    later = _error(
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle)`", "RuntimeError", 20
    )
    assert relation(cause, later) is Relation.FOLLOWS


def test_an_error_of_the_device_does_not_follow_from_one_that_is_not_sticky():
    cause = _error("CUDA error: out of memory", cuda_error="cudaErrorMemoryAllocation")
    later = _error(
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", "RuntimeError", 20
    )
    assert relation(cause, later) is Relation.AFTER

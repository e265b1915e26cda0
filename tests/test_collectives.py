"""Collectives that time out or do not match, and watchdogs that only report an error of the device."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.errors.collective import (
    collective_timeout,
    fingerprints,
    group_status,
    nccl_error,
    watchdog_end,
)
from tests.log_text import assert_partition, read

WORK = "WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=10000)"
TIMEOUT = f"[Rank 0] Watchdog caught collective operation timeout: {WORK} ran for 10092 milliseconds before timing out."
RECENT = "[rank0]:[E1129 20:25:02.450489181 ProcessGroupNCCL.cpp:689] "
OLD = "[E ProcessGroupNCCL.cpp:475] "
STATUS = "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 2 PG status: last enqueued work: 2, last completed work: 1"
BEFORE = (
    "[PG ID 1 PG GUID 1 Rank 1] Exception (either an error or timeout) detected by watchdog at work: 1, last enqueued NCCL work: 4, "
    "last completed NCCL work: -1."
)
SIGNAL = (
    "[rank1]:[E1129 20:25:04.737253406 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 1] Received a dump signal due "
    "to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: {}, last "
    "completed NCCL work: 1.This is most likely caused by incorrect usages of collectives"
)
ENDED = "[PG 1 Rank 1] Process group watchdog thread terminated with exception: CUDA error: {}"


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> list[aoti_logs.Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain())

    return run


def test_a_timeout_is_read_with_its_fields():
    found = collective_timeout(TIMEOUT)
    assert found is not None
    assert (found.operation, found.sequence, found.timeout, found.elapsed) == ("ALLREDUCE", 2, 10000, 10092)
    assert dict(found.fields)["NumelIn"] == "1024"


def test_the_old_text_has_a_shape_instead():
    found = collective_timeout(TIMEOUT.replace("NumelIn=1024, NumelOut=1024", "TensorShape=[8, 4]"))
    assert found is not None and dict(found.fields)["TensorShape"] == "[8, 4]"


def test_states_of_all_releases_are_read():
    for text, failed, enqueued, completed in (
        (STATUS, 2, 2, 1),
        (
            BEFORE,
            1,
            4,
            -1,
        ),
        (
            "[PG 1 Rank 1] Timeout at NCCL work: 4, last enqueued NCCL work: 4, last completed NCCL work: 3.",
            4,
            4,
            3,
        ),
    ):
        found = group_status(text)
        assert found is not None and (found.failed, found.enqueued, found.completed) == (
            failed,
            enqueued,
            completed,
        )


def test_a_group_has_a_number_and_a_name():
    found = watchdog_end(ENDED.format("device-side assert triggered"))
    assert found is not None and (found.group.number, found.group.rank, found.group.name) == (1, 1, None)
    state = group_status(STATUS)
    assert state is not None and (state.group.number, state.group.name) == (0, "default_pg")


def test_an_error_of_nccl_has_code_version_and_last_error():
    found = nccl_error(
        "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, unhandled cuda error, NCCL version 2.19.3\n"
        "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'"
    )
    assert found is not None
    assert (found.what, found.version, found.result) == (
        "unhandled cuda error",
        "2.19.3",
        "ncclUnhandledCudaError",
    )
    assert found.last == "Cuda failure 2 'out of memory'"


def test_fingerprints_name_the_field_that_differs():
    one = "Rank {} is running collective: CollectiveFingerPrint(SequenceNumber=0, OpType=ALLREDUCE, TensorShape=[{}], TensorDtypes=Float)"
    found = fingerprints(
        f"Detected mismatch between collectives on ranks. {one.format(1, 512)}, but {one.format(0, 1024)}."
    )
    assert [(f.rank, dict(f.fields)["TensorShape"]) for f in found] == [(1, "[512]"), (0, "[1024]")]


@pytest.mark.parametrize("prefix", [RECENT, OLD, f"[rank0]:{OLD}"])
def test_a_timeout_alone_names_no_guilty_rank(explain, prefix):
    (finding,) = explain(f"{prefix}{TIMEOUT}\n")
    assert (finding.rule, finding.kind, finding.confidence) == ("AL320", "collective_timeout", "unknown")
    assert finding.facts["ranks_not_joined"] == [] and finding.missing


def test_a_rank_that_had_not_enqueued_it_is_named(explain):
    finding = explain(f"{RECENT}{TIMEOUT}\n{RECENT}{STATUS}\n{SIGNAL.format(1)}\n")[0]
    assert (finding.confidence, finding.facts["ranks_not_joined"]) == ("proven", [1])


def test_a_rank_that_had_joined_is_not_named(explain):
    finding = explain(f"{RECENT}{TIMEOUT}\n{RECENT}{STATUS}\n{SIGNAL.format(2)}\n")[0]
    assert (finding.confidence, finding.facts["ranks_not_joined"]) == ("unknown", [])


def test_a_watchdog_that_reports_a_fault_is_not_the_cause(explain):
    findings = explain(
        "terminate called after throwing an instance of 'c10::DistBackendError'\n"
        f"  what():  {ENDED.format('an illegal memory access was encountered')}\n"
    )
    roles = {f.rule: (f.role, f.kind) for f in findings}
    assert roles["AL301"] == ("cause", "cuda_illegal_memory_access")
    assert roles["AL322"] == ("consequence", "terminate")


def test_what_stands_below_a_line_without_rank_belongs_to_it():
    text = (
        f"{RECENT}{ENDED.format('device-side assert triggered')}\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n"
        "Exception raised from query at /pytorch/c10/cuda/CUDAEvent.h:111 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x9d (0x7f751f37305d in /opt/libc10.so)\n"
    )
    events = read(text)
    assert len(events.errors) == 1 and events.errors[0].stack is not None and not events.unparsed


def test_a_socket_of_another_program_is_no_collective(explain):
    assert all(
        f.rule != "AL321" for f in explain("ConnectionResetError: [Errno 104] Connection reset by peer\n")
    )


def test_the_librarys_own_log_is_claimed():
    events = read(
        "vm:1462:1462 [0] NCCL INFO Bootstrap\nvm:1462:1462 [0] init.cc:904 NCCL WARN Duplicate GPU detected\n"
    )
    assert [dict(n.facts)["text"] for n in events.notes] == ["Duplicate GPU detected"] and not events.unparsed


@given(st.sampled_from([TIMEOUT, STATUS, ENDED, SIGNAL]), st.integers(0, 200), st.text(max_size=8))
def test_damage_never_raises_and_never_loses_bytes(line: str, at: int, put: str):
    damaged = line[:at] + put + line[at + 1 :]
    for reader in (collective_timeout, group_status, watchdog_end, nccl_error, fingerprints):
        reader(damaged)
    data = f"{RECENT}{damaged}\n{OLD}{damaged}\n".encode("utf-8", "replace")
    assert_partition(read(data), len(data))


def test_numbers_of_a_send_say_nothing_of_other_ranks(explain):
    work = "WorkNCCL(SeqNum={}, OpType={}, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."
    state = "failure detected by watchdog at work sequence id: {0} PG status: last enqueued work: {0}, last completed work: {1}"
    lines = [
        f"[rank{rank}]:[E1129 10:00:00.000000000 ProcessGroupNCCL.cpp:{line}] {text}"
        for rank, number, operation in ((0, 12, "SEND"), (2, 4, "RECV"))
        for line, text in (
            (
                685,
                f"[Rank {rank}] Watchdog caught collective operation timeout: {work.format(number, operation)}",
            ),
            (2277, f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}]  {state.format(number, number - 1)}"),
        )
    ]
    assert all(f.confidence != "proven" for f in explain("\n".join(lines) + "\n") if f.rule == "AL320")


def test_a_wait_in_the_store_is_not_said_to_be_the_rendezvous(explain):
    text = (
        "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via "
        "c10d key-value store by key '0', but store->get('0') got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0\n"
    )
    assert "rendezvous" not in next(f for f in explain(text) if f.rule == "AL321").title

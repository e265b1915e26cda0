"""What stands right behind a progress bar or a person's quote mark is read as if it stood alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.logs.lead_in import behind_lead_in
from tests.log_text import assert_partition, read

# tqdm/std.py, `format_meter`, with cells of both kinds and without a total.
BARS = (
    "  1%|▏         | 1/100 [00:00<00:09, 10.00it/s]",
    "Epoch 0:   6%|#5        | 32040/500150 [6:28:43<94:39:17,  1.37it/s, loss=2.6, v_num=95nc]",
    "  0%|          | 0/327 [00:00<?, ?it/s]",
    "Capturing CUDA graphs (decode, FULL):  88%|████████▊ | 45/51 [00:05<00:00,  9.32it/s]",
    "12it [00:01, 10.20it/s]",
)
# What runtimes print to stderr: ROCR's PrintMemoryFault, libstdc++, torch's process groups.
FAULT = (
    "Memory access fault by GPU node-1 (Agent handle: 0x55e92f082620) on address (nil). "
    "Reason: Page not present or supervisor privilege."
)
TERMINATE = (
    "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: misaligned address"
)
WATCHDOG = (
    "[rank1]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds before timing out."
)


@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("said", [FAULT, TERMINATE, WATCHDOG])
def test_an_error_glued_to_a_progress_bar_is_read(bar, said):
    alone, glued = read(f"start\n{said}\n"), read(f"start\n{bar}{said}\n")
    assert [(e.message, e.rank) for e in glued.errors] == [(e.message, e.rank) for e in alone.errors]
    assert alone.errors


@pytest.mark.parametrize("bar", BARS)
def test_a_traceback_behind_a_bar_keeps_its_frames(bar):
    text = f'{bar}Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nRuntimeError: x\n'
    (error,) = read(text).errors
    assert (error.message, error.python_frames[0].line) == ("x", 3)


def test_several_bars_on_one_line_are_passed_over():
    (error,) = read(f"{BARS[0]}{BARS[2]}{FAULT}\n").errors
    assert error.message == FAULT


def test_one_quoted_line_among_prose_is_read():
    (error,) = read("Did you see this?\n\n> RuntimeError: CUDA error: misaligned address\n\nThanks!\n").errors
    assert error.message == "CUDA error: misaligned address"


@pytest.mark.parametrize("text", [">>> RuntimeError: x", '>       raise RuntimeError("x")', "1% | 2/3"])
def test_a_prompt_or_a_line_that_pytest_shows_is_no_quote(text):
    data = text.encode()
    assert behind_lead_in(data, 0, len(data)) == 0


def test_a_bar_alone_is_no_lead_in():
    for bar in BARS:
        data = f"{bar}\n".encode()
        assert behind_lead_in(data, 0, len(data)) == 0


@given(
    st.lists(
        st.one_of(st.sampled_from([*BARS, FAULT, "> ", "\r", "|", "%|", "\n"]), st.text(max_size=8)),
        max_size=12,
    )
)
def test_any_mixture_of_bars_and_text_stays_whole(parts):
    data = "".join(parts).encode("utf-8", "surrogatepass")
    assert_partition(read(data), len(data))
    at = behind_lead_in(data, 0, len(data))
    assert 0 <= at <= len(data)

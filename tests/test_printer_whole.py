"""The quick way for a whole block and the walk by lines read the same."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.printer import printer
from tests.log_text import CUDA, DUMP, SCALARS, assert_partition, read
from tests.test_printer_launches import block

PARTS = st.sampled_from(
    [
        DUMP,
        SCALARS,
        CUDA,
        block("before", "k", "buf0"),
        block("after", "k", "buf0", "nan"),
        "loss 0.25\n",
        "\n",
        "[rank1]: x\n",
    ]
)


def slowly(text: bytes, monkeypatch: pytest.MonkeyPatch) -> LogEvents:
    with monkeypatch.context() as patch:
        patch.setattr(printer, "read_whole", lambda log, line: None)
        return read(text)


def rows(events: LogEvents) -> list[tuple[object, ...]]:
    return [
        (
            *(repr(getattr(d, name)) for name in d.__dataclass_fields__ if name != "span"),
            d.span.start,
            d.span.end,
        )
        for d in events.dumps
    ]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PARTS, max_size=5), st.data())
def test_both_ways_read_the_same_also_of_damaged_text(monkeypatch, parts, data):
    text = "".join(parts).encode()
    if text and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text) - 1))
        put = data.draw(st.sampled_from([b"", b"\n", b" ", b"\r", b"x", b"1", b"\xff", b"\n\n", b"\x1b[0m"]))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 3)) :]
    quick, slow = read(text), slowly(text, monkeypatch)
    assert rows(quick) == rows(slow)
    assert_partition(quick, len(text))
    assert [(r.kind, r.span.start, r.span.end) for r in quick.records] == [
        (r.kind, r.span.start, r.span.end) for r in slow.records
    ]


def test_a_whole_block_takes_the_quick_way(monkeypatch):
    def walk(*args: object) -> None:
        raise AssertionError(args)

    monkeypatch.setattr(printer, "read_cpp", walk)
    (dump,) = read(block("after", "k", "buf0", "2")).dumps
    assert (dump.complete, dump.values) == (True, (2.0,))

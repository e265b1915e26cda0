"""Which readers are asked about a line, and what is imported for it."""

import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.logs import readers
from aoti_logs.rules import all_rules, index_rules
from aoti_logs.rules.log_notes import NAMES
from aoti_logs.rules.rule import never
from tests.log_text import CUDA, PIECES, read

READERS = (*readers._FIRST, *readers._SECOND)
NEEDS = sorted({need for reader in READERS for need in reader.needs})
WORDS = sorted(word.decode().lstrip("\n") for word in readers.WORDS)


@lru_cache
def _all(text):
    return readers._Fitting(readers._FIRST, True, readers._SECOND)


def _told(text):
    return repr(read(text)).replace("\n", " ").split(" object at 0x")[0]


def _asked_all(text):
    with mock.patch("aoti_logs.parse.logs.readers._fitting", _all):
        return _told(text)


@pytest.mark.parametrize("reader", READERS, ids=lambda r: f"{r.module}.{r.function}")
def test_every_reader_is_there(reader):
    assert callable(reader.read)
    assert all(need == need.lower() for need in reader.needs)


def test_asking_who_may_read_a_line_finds_what_asking_all_finds_in_recorded_runs(fixtures_dir: Path):
    for path in sorted(fixtures_dir.rglob("*.log")):
        data = path.read_bytes()
        if len(data) < 300_000:
            assert _told(data) == _asked_all(data), path


@given(
    st.lists(
        st.one_of(
            st.sampled_from(PIECES),
            st.lists(st.sampled_from([*NEEDS, *WORDS, " ", ": ", "x", "1", "(", "[", "`", "ERROR:", "/a/b.py:3"]), max_size=6)
            .map(lambda words: "".join(words) + "\n"),
        ),
        max_size=8,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_asking_who_may_read_a_line_finds_what_asking_all_finds(pieces):
    text = "".join(pieces)
    assert _told(text) == _asked_all(text)


def test_rules_that_are_not_asked_about_an_index_would_say_nothing():
    silent = {"AL001"}  # whose judge says nothing
    asked = {rule.code for rule in index_rules()}
    assert {rule.code for rule in all_rules() if rule.judge is not never} == asked | silent


def test_rules_of_notes_read_events_of_a_log():
    kinds = {kind for kinds in NAMES.values() for kind in kinds}
    assert kinds <= set(LogEvents.__dataclass_fields__)


def test_a_storm_is_explained_without_grammars_and_without_what_errors_need(tmp_path: Path):
    log = tmp_path / "run.log"
    log.write_text("INFO step 3 loss 0.1\n" + CUDA * 100)
    code = (
        "import sys, aoti_logs; print(aoti_logs.load(sys.argv[1]).explain()); "
        "print([n for n in ('lark', 'polars', 'aoti_logs.parse.python.traceback', 'aoti_logs.rules.other_failures') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(log)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    assert "an index is out of bounds" in done.stdout
    assert done.stdout.endswith("\n[]\n")


def test_what_readers_need_is_text_of_logs_and_no_name_of_a_module():
    assert not set(NEEDS) & {reader.module for reader in READERS}


def test_an_exception_alone_on_a_line_is_an_error():
    events = read("RuntimeError: CUDA error: an illegal memory access was encountered\n")
    assert [e.exception_type for e in events.errors] == ["RuntimeError"]

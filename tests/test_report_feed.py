"""The file that tlparse is given: the trace's own bytes unless something in it needs a change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.report.reasons import Reason
from aoti_logs.report.survey import LEFT_OUT, survey
from aoti_logs.report.tlparse import Options
from tests.report_text import PREFIX, artifact, fed, feed_of, record, recorded, with_rank


@pytest.mark.parametrize(
    "options", [Options(), Options(export=True), Options(plain=True, provenance=True)], ids=str
)
def test_a_recorded_trace_is_given_as_it_is(fixtures_dir, tmp_path, options):
    data = recorded(fixtures_dir)
    assert not feed_of(data, options).changed
    assert fed(data, tmp_path, options) == data


def test_torn_and_foreign_lines_stay_as_they_are(fixtures_dir, tmp_path):
    data = recorded(fixtures_dir)
    torn = data[:-40] + b"\nsome text\n" + PREFIX + b'{"artifact": {"name": "../\n' + artifact("../x")
    assert fed(torn, tmp_path) == torn[: -len(artifact("../x"))] + artifact(".._x")


def test_only_the_line_that_needs_it_is_changed(fixtures_dir, tmp_path):
    before, after = recorded(fixtures_dir), artifact("fine", "a\n\nb")
    data = before + artifact("../x", "evil") + after
    assert fed(data, tmp_path) == before + artifact(".._x", "evil") + after
    (sentence,) = feed_of(data).sentences()
    assert '"../x" is ".._x"' in sentence


def test_bytes_that_are_not_utf8_are_replaced_one_by_one(fixtures_dir, tmp_path):
    data = recorded(fixtures_dir)
    feed = feed_of(data + b"\xff\xfe caf\xe9\n")
    feed.write(tmp_path / "fed")
    assert (tmp_path / "fed").read_bytes() == data + "\ufffd\ufffd caf\ufffd\n".encode()
    assert feed.bad_bytes == 3
    assert feed.sentences()[0].startswith("bytes that are not UTF-8 were replaced (3)")


def test_bytes_are_counted_in_changed_lines_as_well(tmp_path):
    line = artifact("../x").replace(b'"string"', b'"string\xff"')
    feed = feed_of(line)
    feed.write(tmp_path / "fed")
    assert feed.bad_bytes == 1
    assert (tmp_path / "fed").read_bytes().count(b".._x") == 1


@given(st.binary())
def test_what_is_given_is_utf8_and_has_as_many_lines(tmp_path_factory, data):
    given_data = fed(data, tmp_path_factory.mktemp("feed"))
    given_data.decode()
    assert given_data.count(b"\n") == data.count(b"\n")


@given(st.binary())
def test_utf8_without_records_is_given_as_it_is(tmp_path_factory, data):
    text = data.decode("utf-8", "ignore").encode()
    assert fed(text, tmp_path_factory.mktemp("feed")) == text


def test_a_line_that_tlparse_must_not_see_is_left_out_and_keeps_its_place(tmp_path):
    huge = record({"str": ["a.py", 4_000_000_000]})
    deep = PREFIX + b'{"artifact": {"name": "x", "z": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}\n"
    number = artifact("x").replace(b" 4741 ", b" " + b"9" * 30 + b" ")
    data = artifact("one") + huge + deep + number + artifact("two")
    payload = b"\tx\n"
    left = LEFT_OUT + b"\n"
    assert fed(data, tmp_path) == artifact("one") + left + left + left + payload + artifact("two")
    reasons = set(survey(data, Options()).changes)
    assert reasons == {Reason.STRING, Reason.DEEP, Reason.NUMBER}


def test_a_record_inside_of_a_payload_is_changed_as_well(tmp_path):
    """tlparse takes a TAB line for a record when it waits for no payload."""
    data = record({"dynamo_start": {}}) + b"\t" + artifact("../x")
    assert fed(data, tmp_path) == record({"dynamo_start": {}}) + b"\t" + artifact(".._x")


# ------------------------------------------------------------ ranks


def test_a_record_without_rank_after_one_with_rank_is_given_it(fixtures_dir, tmp_path):
    data = with_rank(recorded(fixtures_dir), 3) + artifact("torch_version") + record({"str": ["a", 99]})
    given_data = fed(data, tmp_path)
    assert given_data.count(b'"rank": 3') == data.count(b'"rank": 3') + 1
    assert given_data.endswith(record({"str": ["a", 99]}))
    assert "records without a rank" in feed_of(data).sentences()[0]


def test_records_before_the_first_rank_stay_without(fixtures_dir, tmp_path):
    data = artifact("early") + with_rank(artifact("late"), 3)
    assert fed(data, tmp_path) == data


def test_each_rank_of_a_mixed_trace_gets_its_records_and_all_strings(tmp_path):
    other = PREFIX.replace(b" 4741 ", b" 4742 ")
    strings = record({"str": ["a.py", 0]}), record({"str": ["b.py", 0]}, prefix=other)
    data = b"".join(
        [
            strings[0],
            with_rank(artifact("zero", "0"), 0),
            strings[1],
            with_rank(record({"graph_dump": {"name": "one"}}, "1", prefix=other), 1),
            record({"graph_dump": {"name": "unranked"}}, "u", prefix=other),
        ]
    )
    zero, one = (fed(data, tmp_path, part=rank) for rank in (0, 1))
    assert zero == strings[0] + with_rank(artifact("zero", "0"), 0)
    assert one.startswith(strings[1])
    assert b'"unranked"' in one and one.count(b'"rank": 1') == 2

"""The order of errors that are printed inside one another."""

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.errors.nesting import inner_first
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.sources.source import Kind, Source, Span

LOG = Source("x.log", Kind.LOG, lambda: b" " * 1000)


def _error(name: str, start: int, end: int, within: Span | None = None) -> ErrorText:
    return ErrorText(ErrorForm.PYTHON, name, Span(LOG, start, end), within=within)


def test_what_a_message_holds_stands_before_it_though_another_rank_wrote_in_between():
    outer = _error("outer", 0, 100)
    other = _error("other", 10, 20)
    inner = _error("inner", 30, 60, within=outer.span)
    assert [e.message for e in inner_first([outer, other, inner])] == ["inner", "outer", "other"]


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 90), st.integers(-1, 5)), max_size=12))
def test_no_error_is_lost_or_doubled(places):
    errors: list[ErrorText] = []
    for start, size, holder in places:
        within = errors[holder].span if 0 <= holder < len(errors) else None
        errors.append(_error(str(len(errors)), start, start + size, within))
    assert sorted(e.message for e in inner_first(errors)) == sorted(e.message for e in errors)

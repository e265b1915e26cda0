"""Logs of many failures: each is laid to its run and its cause as one by one, in time that grows with them."""

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.index.episode import Episodes
from aoti_logs.parse.events import Assertion, AssertionForm, ErrorForm, ErrorText, LogEvents, Note
from aoti_logs.parse.logs.log import read_log
from aoti_logs.rules.consequences import Causes, follows
from aoti_logs.rules.engine import MOST, explain_log
from aoti_logs.sources.source import Kind, Source, Span

SOURCE = Source("run.log", Kind.LOG, lambda: b"x" * 100)
SPANS = st.integers(0, 50).flatmap(lambda a: st.integers(1, 9).map(lambda n: Span(SOURCE, a, a + n)))
RANKS = st.sampled_from([None, 0, 1])
MESSAGES = st.sampled_from(["index out of bounds: 0 <= a < 2", "index out of bounds: 0 <= b < 2", "other"])
ASSERTIONS = st.builds(
    lambda form, message, line, rank, span: Assertion(
        form=form, message=message, text=None, file=None, line=line, function=None, count=1, first=span,
        last=span, spans=(span,), rank=rank,
    ),
    st.sampled_from(AssertionForm), MESSAGES, st.sampled_from([None, 3]), RANKS, SPANS,
)  # fmt: skip
ERRORS = st.builds(
    lambda form, message, more, span, rank, own: ErrorText(
        form, message + more, span, rank=rank, assertion=own
    ),
    st.sampled_from(ErrorForm),
    MESSAGES,
    st.sampled_from(["", "; run_func_(x) API call failed at y", " CUDA error: device-side assert triggered"]),
    SPANS,
    RANKS,
    st.none() | ASSERTIONS,
)
NOTES = st.builds(
    lambda kind, span: Note(kind, span, ()), st.sampled_from(["command", "exit", "shape"]), SPANS
)


@given(st.lists(ASSERTIONS, max_size=5), ERRORS)
def test_causes_asked_together_say_what_each_says(assertions, error):
    assert Causes(assertions).explain(error) == any(follows(error, a) for a in assertions)


def of_events(errors=(), notes=()) -> LogEvents:
    return LogEvents(errors=tuple(errors), notes=tuple(notes))


@given(st.lists(ERRORS, max_size=6), st.lists(NOTES, max_size=4), st.integers(0, 60))
def test_a_run_begins_at_its_command_and_ends_with_its_exit_code(errors, notes, offset):
    run = Episodes(of_events(errors, notes)).of(offset)
    borders = [n.span.start for n in notes if n.kind == "command"]
    borders += [n.span.end for n in notes if n.kind == "exit"]
    assert run.start == max([0, *(b for b in borders if b <= offset)])
    assert run.end == min([2**63, *(b for b in borders if b > offset)])
    assert run.events.errors == tuple(e for e in errors if run.start <= e.span.start < run.end)
    assert run.events.notes == tuple(n for n in notes if run.start <= n.span.start < run.end)


def test_thousands_of_distinct_failures_are_explained_or_counted():
    from aoti_logs.code.evidence import Evidence

    text = b"".join(b"RuntimeError: index out of bounds: 0 <= tmp2 < %dL\n" % n for n in range(3000))
    source = Source("run.log", Kind.LOG, lambda: text)
    events = read_log(source)
    findings = explain_log(source, events, Evidence((source,), lambda _: events))
    assert len([f for f in findings if f.role == "cause"]) == MOST
    assert [f.facts["n_more"] for f in findings if f.kind == "more_assertions"] == [3000 - MOST]

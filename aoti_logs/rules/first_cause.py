"""Which error of a run and rank leads: the first that speaks of itself, was not handled, and says something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.python.traceback import is_header
from aoti_logs.rules.relation import Relation, hands_on, is_secondary, relation
from aoti_logs.rules.user_frames import is_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.events import ErrorText

_CLEANS_UP = re.compile(
    r"exit|close|clean|shut_?down|stop|finish|terminate|destroy|release|tear_?down|dispose|rollback|disconnect",
    re.IGNORECASE,
)
"""Names of what runs because something failed."""


def cause_of(errors: Sequence[ErrorText]) -> ErrorText:
    """Return the error that leads; the first where all of them only speak of other processes."""
    own = [e for e in errors if not is_secondary(e) and not _is_torn_copy(e, errors)] or list(errors)
    own = [
        e for e in own if e.message or e.exception_type
    ] or own  # a traceback that lost its end says nothing
    lead = own[0]
    if _own_words(lead, own):
        lead = next((e for e in own[1:] if e.python_frames), lead)
    for later in chain_behind(lead, errors):
        if later.chained == "context" and _replaces(later, lead):
            lead = later
    return lead


def _is_torn_copy(error: ErrorText, errors: Sequence[ErrorText]) -> bool:
    """Tell whether an error is the beginning of one that stands before it: the log was cut within its line."""
    said = error.message
    return bool(said) and any(
        e.span.start < error.span.start and len(e.message) > len(said) and e.message.startswith(said)
        for e in errors
    )


def chain_behind(error: ErrorText, errors: Sequence[ErrorText]) -> Iterator[ErrorText]:
    """Yield the exceptions that were raised from an error, or while it was handled, in their order."""
    at = next((n for n, e in enumerate(errors) if e is error), len(errors))
    for later in errors[at + 1 :]:
        if later.depth > error.depth:
            continue  # printed in the message of the next one
        if later.depth < error.depth or later.chained is None:
            return
        yield later


def raised_from(error: ErrorText, errors: Sequence[ErrorText]) -> list[ErrorText]:
    """Return the exceptions that say that they were raised from an error (`direct cause`)."""
    found = []
    for later in chain_behind(error, errors):
        if later.chained != "cause":
            break
        found.append(later)
    return found


def ended_by(cause: ErrorText, errors: Sequence[ErrorText]) -> ErrorText | None:
    """Return the exception that ended the program where the cause was printed by a handler, after which it went on.

    Python prints what nobody handled from the module or from the thread's first function on; a traceback that
    begins in a function of the program was printed by that function.
    """
    raised = [cause, *chain_behind(cause, errors)][-1]
    if not _whole(raised) or raised.python_frames[0].function == "<module>":
        return None
    if is_library(raised.python_frames[0].file):
        return None
    for error in reversed(errors):
        if error.span.start <= raised.span.start:
            return None
        if (
            not error.python_frames
            or error.python_frames[0].function != "<module>"
            or error.chained is not None
        ):
            continue
        if _whole(error) and not is_secondary(error):
            return error if relation(cause, error) is Relation.AFTER else None
    return None


def _whole(error: ErrorText) -> bool:
    """Tell whether an error is a traceback of this process, with its first line."""
    if error.form is not ErrorForm.PYTHON or error.depth or not error.python_frames:
        return False
    return is_header(error.span.source.line_text(error.span.line))


def _own_words(error: ErrorText, errors: Sequence[ErrorText]) -> bool:
    """Tell whether a line `Error: TEXT` is the program's own: nothing hands it on, and nothing shows a runtime in it."""
    if error.form is not ErrorForm.AOTI_ERROR or error.raised_from or error.stack or error.detail:
        return False
    if error.cuda_error or error.call:
        return False
    return not any(hands_on(e) or relation(error, e) is not Relation.AFTER for e in errors[1:])


def _replaces(later: ErrorText, earlier: ErrorText) -> bool:
    """Tell whether an exception raised while another one was handled is a failure of its own.

    What a handler raises in its own line translates the first one; what cleans up runs because of it.
    """
    if relation(earlier, later) is not Relation.AFTER or not earlier.python_frames or not later.python_frames:
        return False
    handler = earlier.python_frames[0]
    frames = later.python_frames
    at = next(
        (
            n
            for n in reversed(range(len(frames)))
            if (frames[n].file, frames[n].function) == (handler.file, handler.function)
        ),
        None,
    )
    if at is None or (at == len(frames) - 1 and (frames[at].code or "raise").startswith("raise")):
        return False
    names = (frames[at].marked or frames[at].code or "", *(f.function for f in frames[at + 1 :]))
    return not any(_CLEANS_UP.search(name) for name in names)

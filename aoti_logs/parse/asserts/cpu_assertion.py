"""Failed bounds checks of CPU kernels, out of the errors that carry their text.

A CPU kernel throws `index out of bounds: TEXT`; the same text is printed by the runtime, by Python, by
libstdc++: one assertion, printed several times. Since torch 2.9 a torch.compile kernel's text is
`FUNCTION, FILE:LINE, index out of bounds: TEXT`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.asserts.assertion import INDEX_CHECK, condition
from aoti_logs.parse.events import Assertion, AssertionForm, ErrorForm
from aoti_logs.parse.logs.sender import NOBODY
from aoti_logs.parse.shape import fields

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText

Place = tuple[str | None, int | None, str | None]
_Who = tuple[int | None, str | None, int | None]
"""Rank, worker, process."""


def _place(error: ErrorText) -> tuple[str, Place] | None:
    """Return the check's text, its file, line and function; None when the error is no such check."""
    message = error.message
    if error.raised_from is not None and message.startswith(INDEX_CHECK):
        raised = error.raised_from
        return message, (raised.file, raised.line, raised.function)
    if message.startswith(INDEX_CHECK):
        return message, (None, None, None)
    found = fields("error", "kernel", message) if f", {INDEX_CHECK}" in message else None
    if found is None or not found["TEXT"][0].startswith(INDEX_CHECK):
        return None
    return found["TEXT"][0], (found["KERNEL_FILE"][0], int(found["LINE"][0][:9]), found["FUNCTION"][0])


def cpu_assertions(errors: list[ErrorText]) -> tuple[list[Assertion], list[ErrorText]]:
    """Return one assertion for each text, place and rank, and the errors with theirs filled in.

    A printing without a place belongs to the only place that printed the same text, if there is one.
    """
    found: dict[int, tuple[str, Place]] = {}
    for number, error in enumerate(errors):
        told = None if error.form is ErrorForm.WARNING else _place(error)
        if told is not None:
            found[number] = told
    places: dict[str, set[tuple[str | None, int | None]]] = {}
    for message, place in found.values():
        if place[0] is not None:
            places.setdefault(message, set()).add(place[:2])
    groups: dict[tuple[str, str | None, int | None, _Who], list[int]] = {}
    for number, (message, place) in found.items():
        own_places = {place[:2]} if place[0] is not None else places.get(message, set())
        where = next(iter(own_places)) if len(own_places) == 1 else (None, None)
        sender = errors[number].sender or NOBODY
        who = errors[number].rank, sender.worker, sender.process
        groups.setdefault((message, *where, who), []).append(number)
    rows: list[Assertion] = []
    errors = list(errors)
    for (message, file, line, (rank, _, _)), numbers in groups.items():
        own = [errors[n] for n in numbers]
        function = next((p[2] for n in numbers if (p := found[n][1])[2] is not None), None)
        row = Assertion(
            form=AssertionForm.CPU,
            message=message,
            text=condition(message),
            file=file,
            line=line,
            function=function,
            count=len(own),
            first=own[0].span,
            last=own[-1].span,
            spans=tuple(e.span for e in own),
            rank=rank,
            sender=own[0].sender,
        )
        rows.append(row)
        for number in numbers:
            errors[number] = replace(errors[number], assertion=row)
    return rows, errors

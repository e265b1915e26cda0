"""Errors that a logger reports while the program goes on, although the device does not.

Format: torch/_inductor/select_algorithm.py (`Runtime error during autotuning: ` and the exception below it). A sticky
error of the device in there is the first of the run, whatever is raised later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm, ErrorText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

_AUTOTUNING = "Runtime error during autotuning:"
_GOES_ON = ("Ignoring this choice", ". ", ".")


def logged_errors(messages: Iterable[LogLine]) -> Iterator[ErrorText]:
    """Yield the sticky errors of a device that autotuning passed over."""
    for message in messages:
        if not message.text.startswith(_AUTOTUNING):
            continue
        from aoti_logs.parse.errors.device_fault import device_fault

        text = message.text.removeprefix(_AUTOTUNING).strip()
        fault = device_fault(text)
        if fault is None or fault.error is None or not fault.error.sticky:
            continue
        lines = [line for line in text.split("\n") if line.strip() and not line.startswith(_GOES_ON)]
        yield ErrorText(
            ErrorForm.LOGGED,
            lines[0].strip(),
            message.span,
            text="\n".join(lines),
            cuda_error=fault.error.name,
            rank=message.rank,
            detail=message,
        )

"""The traceback that a worker process hands on as text: which of its exceptions is the one that counts.

torch/_inductor/compile_worker/subproc_pool.py prints `traceback.format_exc()` of the worker.
"""

from __future__ import annotations

import re

_RAISED = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Resources|Failed|Failure|Construct|Interrupt)(?:: |$)"
)
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def root_text(text: str) -> str:
    """Return the text of the exception that the last one of a chain was raised from, from its type on.

    An exception that was only being handled when the next one was raised (a file missing in a cache) is not
    followed. A text without any exception is returned whole.
    """
    lines = text.split("\n")
    parts: list[tuple[bool, int | None, int]] = []  # raised from the part before; first exception; end
    start, direct = 0, False
    for number, line in enumerate([*lines, _CONTEXT]):
        row = line.strip()
        if row not in {_CAUSE, _CONTEXT}:
            continue
        told = next((n for n in range(start, number) if _RAISED.match(lines[n])), None)
        parts.append((direct, told, number))
        start, direct = number + 1, row == _CAUSE
    at = len(parts) - 1
    while at and parts[at][0] and parts[at - 1][1] is not None:
        at -= 1
    _, told, end = parts[at]
    return text if told is None else "\n".join(lines[told:end]).rstrip()

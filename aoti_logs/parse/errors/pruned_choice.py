"""Choices that autotuning leaves out because they do not compile, do not fit or do not run: no failures.

Who prints it: torch/_inductor/select_algorithm.py (`Exception X for benchmark choice Y`, with a traceback below it;
`Runtime error during autotuning: X. Ignoring this choice.`), torch/_inductor/autotune_process.py (`Failed to benchmark
choice '...'. It will be ignored.`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.triton_error import read_choice, read_resources
from aoti_logs.parse.events import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.compiles.failure import Resources
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.sources.source import Place


_EXCEPTION = re.compile(
    r"(?:.{0,200}?\b)?Exception (?P<said>\S.*?) for benchmark choice (?P<choice>\S.*)$", re.DOTALL
)
_FAILED = re.compile(
    r"(?:.{0,200}?\b)?Failed to benchmark choice '?(?P<choice>.*?)'?(?:\. It will be ignored\..*)?$"
)
_AUTOTUNING = re.compile(
    r"(?:Runtime error|CUDA compilation error|RuntimeError) during autotuning: ?\n(?P<said>.*?)\.? ?\nIgnoring this choice",
    re.DOTALL,
)
_VALUE = re.compile(r"-?\d{1,18}$")


@dataclass(frozen=True)
class PrunedChoice:
    """A choice that was left out. `settings` are (name, value) as printed, numbers as numbers."""

    said: str
    error: str | None
    resources: Resources | None
    caller: str | None
    file: str | None
    settings: tuple[tuple[str, str | int | bool], ...]


def pruned_choice(text: str) -> PrunedChoice | None:
    """Read a message about a choice; None when it is none."""
    first = text.partition("\n")[0] if " for benchmark choice " in text.partition("\n")[0] else text[:8192]
    found = _EXCEPTION.match(first) if " for benchmark choice " in first else None
    said = found["said"] if found else None
    if found is None and "Failed to benchmark choice" in first:
        found, said = _FAILED.match(first), None
    if found is None:
        told = _AUTOTUNING.match(text[:8192])
        if told is None:
            return None
        return _choice(told["said"].strip(), None)
    return _choice(said, found["choice"].partition("\n")[0])


def _choice(said: str | None, choice: str | None) -> PrunedChoice:
    read = read_choice(choice) if choice else None
    caller, file, settings = read if read is not None else (None, None, {})
    told = said or ""
    named = re.match(r"(?:No valid triton configs\. )?(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*): ", told)
    return PrunedChoice(
        said=told.partition("\n")[0] or (choice or ""),
        error=told.partition("\n")[0] or None if named is None else told.partition("\n")[0],
        resources=read_resources(told),
        caller=caller,
        file=file,
        settings=tuple((k, _setting(v)) for k, v in settings.items()),
    )


def _setting(text: str) -> str | int | bool:
    if _VALUE.match(text):
        return int(text)
    return {"True": True, "False": False}.get(text, text)


def read_pruned(log: Log, line: Line) -> bool:
    """Claim a line about a choice that stands without a logger's prefix."""
    text = line.text.strip()
    if " for benchmark choice " not in text or pruned_choice(text) is None:
        return False
    log.notes.append(Note("pruned_choice", log.claim("note", [line]), (("text", text),)))
    return True


def follows_choice(log: Log, start: int) -> bool:
    """Tell whether the line above an offset speaks of a choice that is left out: the traceback is that one's."""
    begin = log.data.rfind(b"\n", max(0, start - 16384), max(start - 1, 0)) + 1
    return b" for benchmark choice " in bytes(log.data[begin:start])


def pruned_in(events: LogEvents) -> Iterator[tuple[PrunedChoice, Place, int | None]]:
    """Yield the choices of a log with place and rank."""
    for note in events.notes:
        if note.kind == "pruned_choice":
            choice = pruned_choice(dict(note.facts)["text"])
            if choice is not None:
                yield choice, note.span.place, None
    for message in events.messages:
        if "select_algorithm" in message.module or "autotune_process" in message.module:
            choice = pruned_choice(message.text)
            if choice is not None:
                source = message.span.source
                yield choice, source.place(message.lines[0]), message.rank

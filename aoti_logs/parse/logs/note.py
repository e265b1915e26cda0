"""What a log tells about the run itself: its command and environment, its exit code, shapes of inputs.

Format: `grammars/note.lark`. Shapes are only believed in forms that nothing but a shape has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Note
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_SHAPE = re.compile(
    r"(?<![\w.\])\"'])[A-Za-z_]\w*(?:\.shape|\.size\(\))?(?:=|: ?)(?:\((?:\d+(?:, ?\d+)*,?)?\)|torch\.Size\(\[(?:\d+(?:, ?\d+)*)?\]\))(?![\w(])"
)
_EXIT = re.compile(
    r"(?:exit code|exit status|(?:process |command |program )?exited with code)[:=]? ?-?\d{1,5}\.?$|\[?exit(?:ed)? (?:code|status)?[:=]? ?-?\d{1,5}\]?$",
    re.IGNORECASE,
)
_EXIT_PART = re.compile(r"(?:exit code|exit status|exited with code)[:=]? ?-?\d{1,5}", re.IGNORECASE)
_CODE_TEXT = re.compile(
    r"^\s*(?:def |class |return |self\.|import |from |@|#)|[;{]\s*$|^\s*\w+(?:, \w+)* = |\)\s*:$|->"
)
_ENV = re.compile(r"\$ (?:/usr/bin/)?env (?=[A-Za-z_]\w*=)")
_SHELL_WORDS = re.compile(
    r"\$ (?:[A-Za-z_]\w*=|\S*(?:python|torchrun|bash|sh|env|\./|srun|mpirun|timeout)\S*\b)"
)


def read_note(log: Log, line: Line) -> bool:
    """Claim a line that tells something about the run."""
    text = line.text.strip()
    facts: tuple[tuple[str, str], ...] = ()
    kind = ""
    if text.startswith("$ ") and (_SHELL_WORDS.match(text) or line.start == 0):
        kind, facts = "command", _command(text)
    elif text.startswith("Script started on"):
        found = fields("note", "started", text)
        kind, facts = "command", (("command", found["COMMAND"][0]),) if found and "COMMAND" in found else ()
    elif text.startswith("Script done on"):
        found = fields("note", "finished", text)
        kind, facts = "exit", (("code", found["CODE"][0]),) if found else ()
    elif _EXIT.match(text):
        part = _EXIT_PART.search(text)
        found = fields("note", "exit", part[0].lower()) if part else None
        kind, facts = "exit", (("code", found["CODE"][0]),) if found else ()
    else:
        kind, facts = "shapes", _shapes(text)
    if not facts:
        return False
    log.notes.append(Note(kind, log.claim("note", [line]), facts))
    return True


def _command(text: str) -> tuple[tuple[str, str], ...]:
    # `env A=1 python serve.py` is the same as without `env`, whose own options are left alone
    found = fields("note", "command", _ENV.sub("$ ", text, count=1))
    if found is None:
        return ()
    facts: list[tuple[str, str]] = []
    for assignment in found.get("ASSIGNMENT", []):
        name, _, value = assignment.partition("=")
        facts.append((name, value.strip("'\"")))
    return (*facts, ("command", found["WORDS"][0]))


def _shapes(text: str) -> tuple[tuple[str, str], ...]:
    if "(" not in text or len(text) > 4096 or _CODE_TEXT.search(text):
        return ()
    facts: list[tuple[str, str]] = []
    for found in _SHAPE.finditer(text):
        before = text[: found.start()]
        if before.count("(") > before.count(")"):
            continue  # an argument of a call
        read = fields("note", "shape", found[0])
        if read is not None:
            shape = first(read, "TUPLE") or first(read, "LIST") or ""
            facts.append((read["NAME"][0], shape))
    return tuple(facts)

"""Commands that Inductor ran to compile and link, as `TORCH_LOGS=+inductor` prints them.

Printed by torch/_inductor/codecache.py; grammar `compile_log.lark`, rule `command`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

_HEAD = re.compile(r"[A-Za-z][\w+ ]{0,60}? ?command: (?=\S)")
_INPUT = re.compile(
    r"[^-/=][^=]*\.(?:cpp|cc|cxx|c|cu|o|obj|S|s|asm|bin|a|lib|ptx|cubin)$|/[^=]*\.(?:cpp|cc|cxx|c|cu|o|S|s|bin|a|ptx|cubin)$"
)
_HEAD_ENDS = 200
_MSVC_OUTPUT = re.compile(r"/(?:Fe|Fo|OUT:|out:)(.+)")


@dataclass(frozen=True)
class Command:
    """A command: `step` as torch names it (`aot wrapper compilation`), the program, what it reads and writes, and the
    other arguments in order.
    """

    message: LogLine
    step: str
    program: str
    inputs: tuple[str, ...]
    output: str | None
    flags: tuple[str, ...]
    text: str


def commands(messages: Iterable[LogLine]) -> Iterator[Command]:
    """Yield the commands in the order of the log."""
    for message in messages:
        if message.artifact is not None and message.artifact != "autotuning":
            continue
        if not _HEAD.match(message.text):
            continue
        line = message.text.partition("\n")[0].rstrip()
        found = fields(
            "compile_log", "command", line[:_HEAD_ENDS]
        )  # a linker may be given thousands of files
        if found is not None:
            head = found["COMMAND_OF"][0]
            yield _command(message, head.removesuffix("command: ").rstrip(), line[len(head) :])


def _command(message: LogLine, step: str, text: str) -> Command:
    words = _words(text)
    inputs: list[str] = []
    flags: list[str] = []
    output: str | None = None
    rest = iter(words[1:])
    for word in rest:
        msvc = _MSVC_OUTPUT.fullmatch(word)
        if word in {"-o", "--output"}:
            output = next(rest, None)
        elif msvc is not None:
            output = msvc[1]
        elif _INPUT.fullmatch(word):
            inputs.append(word)
        else:
            flags.append(word)
    return Command(message, step, words[0] if words else "", tuple(inputs), output, tuple(flags), text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, posix="\\" not in text)
    except ValueError:  # a quote that was cut off
        return text.split()

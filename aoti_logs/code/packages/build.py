"""How a model was compiled and linked: the commands at the end of its wrapper, or the flags in files of their own.

`AotCodeCompiler.compile` (`torch/_inductor/codecache.py`) appends `// Compile cmd` and `// Link cmd`; with
`package_cpp_only` it writes `*_compile_flags.json` and `*_linker_flags.json` (`BuildOptionsBase.save_flags_to_json`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.text import json_object

if TYPE_CHECKING:
    from aoti_logs.sources.source import Place, Source

_COMMAND = re.compile(rb"^// (Compile|Link) cmd\s*\n// ([^\n]*)", re.M)
_DEFINITION = re.compile(r"(?:^|\s)[-/]D\s*([^\s=\"']+)")
_OUTPUT = re.compile(r"(?:^|\s)(?:-o\s+|/OUT:|/Fe)\"?([^\s\"]+)")
_OBJECT = re.compile(r"(?:^|\s)\"?([^\s\"]+\.(?:o|obj))(?=[\s\"]|$)")
_TAIL = 1 << 20


@dataclass(frozen=True)
class Build:
    """One step of a build: `compile` or `link`.

    `text` is the command, or the JSON of the flags; `definitions` are its macros; `output` is the base name of what it makes and
    `objects` those of the object files that it takes, where a command tells.
    """

    step: str
    text: str
    definitions: tuple[str, ...]
    place: Place
    output: str | None = None
    objects: tuple[str, ...] = ()

    def defines(self, macro: str) -> bool:
        """Tell whether a macro is set."""
        return macro in self.definitions


def commands(source: Source) -> dict[str, Build]:
    """Return the commands at the end of a wrapper, by step."""
    data = source.data
    start = max(0, len(data) - _TAIL)
    found: dict[str, Build] = {}
    for match in _COMMAND.finditer(data, start):
        text = match[2].decode("utf-8", "replace").strip()
        output = None
        for told in _OUTPUT.finditer(text):
            output = _base(told[1])
        step = match[1].decode().lower()
        found[step] = Build(
            step,
            text,
            tuple(m[1] for m in _DEFINITION.finditer(text)),
            source.place(source.line_at(match.start(2))),
            output,
            tuple(_base(m[1]) for m in _OBJECT.finditer(text)),
        )
    return found


def flags(source: Source, step: str) -> Build | None:
    """Return the flags that a JSON file lists; None when it lists none."""
    listed = json_object(source)
    if not listed:
        return None
    text = source.cut(0, min(source.size, _TAIL)).strip()
    return Build(step, text, _words(listed.get("definitions")), source.place(1))


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(v).strip() for v in value) if isinstance(value, list) else ()


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]

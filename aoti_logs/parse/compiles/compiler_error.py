"""The output of a C++ compiler: its errors, out of what are often hundreds of warnings.

Format: `grammars/compiler_error.lark`. The text of a `CppCompileError` is made by torch/_inductor/exc.py:
`C++ compile error`, `Command:`, `Output:`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.failure import CompilerRun, Diagnostic
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.shape import Fields


_SAID = re.compile(r"(?:error|warning|note|unimplemented)(?: [A-Z]{1,4}\d+)?: ")
_LINKED = re.compile(r"(?:\S*/)?[\w.-]*\b(?:ld|lld|mold)(?:\.\w+)?: \S")
_SERIOUS = ("error", "fatal error", "internal compiler error", "sorry, unimplemented")
_CALLED = re.compile(r"Command '\[(?P<words>[^\n]{1,15000})\]' (?:returned non-zero exit status|died with)")
_ARGUMENT = re.compile(r"'((?:[^'\\]|\\.)*)'")
_COMPILER = re.compile(
    r"(?:[\w.-]*-)?(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|tcc|icx|icpx|hipcc|cl)(?:-\d+(?:\.\d+)*)?(?:\.exe)?"
)
_LONGEST = 4096  # of one line
_MOST = 200  # diagnostics that are kept
_SOURCES = (".cpp", ".cc", ".cxx", ".c", ".cu", ".hip", ".hpp", ".h", ".o", ".S", ".sycl")


def diagnostic(line: str, row: int = 0) -> Diagnostic | None:
    """Read one line; None when it is no diagnostic."""
    text = line.strip()[:_LONGEST]
    if _SAID.search(text) is None and _LINKED.match(text) is None:
        return None
    for start in ("at", "msvc", "program", "linker"):
        found = fields("compiler_error", start, text)
        if found is not None:
            return _diagnostic(found, row)
    return None


def _diagnostic(found: Fields, row: int) -> Diagnostic:
    message = first(found, "TEXT") or ""
    code = first(found, "CODE")
    return Diagnostic(
        severity=first(found, "SEVERITY") or ("error" if _is_linker_error(message) else "note"),
        message=f"{code}: {message}" if code else message,
        file=first(found, "FILE") or first(found, "MSVC_FILE"),
        line=_number(found, "LINE"),
        column=_number(found, "COLUMN"),
        program=first(found, "PROGRAM") or first(found, "LINKER"),
        row=row,
    )


def _is_linker_error(text: str) -> bool:
    return any(w in text for w in ("cannot find", "undefined reference", "undefined symbol", "No such file"))


def _number(found: Fields, name: str) -> int | None:
    value = first(found, name)
    return int(value[:9]) if value else None


def is_serious(found: Diagnostic) -> bool:
    """Tell whether a diagnostic stops the compile."""
    return found.severity in _SERIOUS


def diagnostics(output: str) -> tuple[tuple[Diagnostic, ...], int]:
    """Return the errors of a compiler's output, each with the notes below it, and the number of warnings."""
    kept: list[Diagnostic] = []
    warnings = 0
    after_error = False
    for found in _each(output):
        if found.severity == "warning":
            warnings += 1
            after_error = False
        elif is_serious(found) or after_error:
            after_error = True
            if len(kept) < _MOST:
                kept.append(found)
    return tuple(kept), warnings


def _each(output: str) -> Iterator[Diagnostic]:
    for row, line in enumerate(output.split("\n")):
        found = diagnostic(line, row)
        if found is not None:
            yield found


def compiler_run(text: str) -> CompilerRun:
    """Read the text of a `CppCompileError`; what is cut off or missing stays None."""
    _, told, rest = text.partition("Command:\n")
    command, has_output, output = rest.partition("\nOutput:\n") if told else ("", "", text)
    if told and not has_output:
        command, _, output = rest.partition("\n")
    command = command.strip().partition("\n")[0]
    recorded = bool(output.strip()) and output.strip() != "None"
    # Rows count lines of the whole text, so that a quote can name the line of the file.
    skipped = text[: len(text) - len(output)].count("\n")
    kept, warnings = diagnostics(output) if recorded else ((), 0)
    return CompilerRun(
        command=command or None,
        compiler=_words(command)[0] if command else None,
        source_file=_source(command),
        output_file=_after(command, "-o"),
        standard=_standard(command),
        diagnostics=tuple(_moved(d, skipped) for d in kept),
        n_warnings=warnings,
        recorded=recorded,
    )


def called_process(text: str) -> CompilerRun | None:
    """Read the text of a `CalledProcessError` of a C compiler that Triton called (triton/runtime/build.py, `_build`).

    None where another program failed. What the compiler said went to stderr.
    """
    found = _CALLED.match(text[: _LONGEST * 4])
    if found is None:
        return None
    words = [w.replace("\\\\", "\\") for w in _ARGUMENT.findall(found["words"])]
    if not words or _COMPILER.fullmatch(words[0].replace("\\", "/").rpartition("/")[2]) is None:
        return None
    output = words[words.index("-o") + 1] if "-o" in words[:-1] else None
    return CompilerRun(
        command=" ".join(words),
        compiler=words[0],
        source_file=next((w for w in words[1:] if w.endswith(_SOURCES) and not w.startswith("-")), None),
        output_file=output,
        standard=None,
        diagnostics=(),
        n_warnings=0,
        recorded=False,
    )


def _moved(found: Diagnostic, rows: int) -> Diagnostic:
    from dataclasses import replace

    return replace(found, row=found.row + rows)


def _words(command: str) -> list[str]:
    """Split a command line; torch joins its words with blanks, without quotes."""
    return [w.strip("'\"") for w in command.split()] or [""]


def _source(command: str) -> str | None:
    """Return the file that was compiled: the first one that is neither an option nor an option's value."""
    skip = True  # the compiler
    for word in _words(command):
        value, skip = skip, word in {"-o", "-D", "-I", "-include", "-x", "-L", "-isystem", "-MF", "-target"}
        if not value and not word.startswith(("-", "/std", "/D", "/I")) and word.endswith(_SOURCES):
            return word
    return None


def _after(command: str, option: str) -> str | None:
    words = _words(command)
    at = words.index(option) + 1 if option in words else len(words)
    return words[at] if at < len(words) else None


def _standard(command: str) -> str | None:
    found = re.search(r"[-/]std[=:](\S+)", command)
    return found[1] if found else None

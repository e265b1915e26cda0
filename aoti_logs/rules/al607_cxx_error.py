"""The C++ compiler returned an error.

## What it says
The finding has the compiler, the file that it was given, and its errors with file, line and text, out of what
are often hundreds of warnings. Where the error points at generated code that is at hand (in the trace, or in
the folder), that line is quoted. Where it points elsewhere, or at no file at all, nothing generated is blamed:
a missing header, an option that the compiler does not know, a broken installation.

## Why it matters
The exception's text is `C++ compile error` and a command of a thousand characters. The one line that counts
stands somewhere below it.

## Example
`<command-line>: fatal error: not_here.h: No such file or directory` while a header was compiled: the model
never came to its turn.

## Evidence it needs
The text of the exception (`Command:`, `Output:`), in a trace or in a log. Torch before 2.7 prints the output
of AOTInductor's compiler to stderr and writes `None`: then the log has it, above the traceback.

## What to do
Run the quoted command again: it shows the same errors in a second. An error in generated code is a bug of
Inductor: report it with the line. Any other is about the installation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import common_tail
from aoti_logs.explain import Link, Missing
from aoti_logs.parse.compiles.compiler_error import is_serious
from aoti_logs.parse.compiles.failure import CompilerRun
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.missing_files import brings, missing_file
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from aoti_logs.parse.compiles.failure import Diagnostic
    from aoti_logs.rules.failure_case import FailureCase
    from aoti_logs.sources.source import Source

_SHOWN = 3
_CAPABILITY = re.compile(r"-D ?CPU_CAPABILITY[_=](\w+)")
_AOTI_FILE = re.compile(r"/c[a-z2-7]{40,60}/c[a-z2-7]{40,60}\.\w")  # torch.compile's folders have two letters
_SYMBOL = re.compile(r"[‘'`](?:[\w:]+ )*(?P<symbol>[sui]\d{1,6})[’']")
_ECHO = re.compile(r" *\d+ \| (.*)")  # gcc and clang repeat the line under its error


def tell(case: FailureCase) -> Told:
    """Say what the compiler said about which file."""
    run = case.failure.detail if isinstance(case.failure.detail, CompilerRun) else None
    if run is None:
        return Told("the C++ compiler failed")
    errors = [d for d in run.diagnostics if is_serious(d)]
    language = "C" if errors and (errors[0].file or "").endswith(".c") else "C++"
    compiler = (run.compiler or "").rpartition("/")[2] or f"the {language} compiler"
    what = said(errors[0], short=True) if errors else "it returned an error and said nothing that is recorded"
    links = list(_links(case, run, errors))
    return Told(
        f"{compiler} failed: {what}",
        because=tuple(_because(case, run, errors)),
        links=tuple(links),
        facts=facts(run),
        missing=_missing(run),
        fixes=_fixes(errors),
        decide=("run the quoted command again: it shows the same errors",) if run.command else (),
    )


def said(found: Diagnostic, *, short: bool = False) -> str:
    """Write a diagnostic as the compiler does; the file's folders can be left out."""
    where = found.file or found.program or ""
    where = where.replace("\\", "/").rpartition("/")[2] if short else where
    place = ":".join(str(part) for part in (where, found.line, found.column) if part not in {None, ""})
    return f"{place}: {found.message}" if place else found.message


def facts(run: CompilerRun) -> dict[str, Any]:
    """Return what a compiler was called with and what it said, as plain values."""
    return {
        "compiler": run.compiler,
        "command": run.command,
        "source_file": run.source_file,
        "output_file": run.output_file,
        "std": run.standard,
        "compiler_errors": [
            {
                "file": d.file or d.program,
                "line": d.line,
                "col": d.column,
                "severity": d.severity,
                "message": d.message,
            }
            for d in run.diagnostics
        ],
        "n_compiler_warnings": run.n_warnings,
        "cpu_capability": _capability(run.command or ""),
        **_generated(run),
    }


def _capability(command: str) -> str | None:
    """Return the vector instructions that the code is compiled for: `AVX512`."""
    found = _CAPABILITY.search(command)
    return found[1] if found else None


def _generated(run: CompilerRun) -> dict[str, Any]:
    """Return what files and messages tell of the generated code: which runtime it is for, which size is at fault."""
    files = [run.source_file or "", *(d.file or "" for d in run.diagnostics)]
    facts: dict[str, Any] = {}
    if any(_AOTI_FILE.search(file.replace("\\", "/")) for file in files):
        facts["runtime"] = "aotinductor"
    named = next((m for d in run.diagnostics if is_serious(d) and (m := _SYMBOL.search(d.message))), None)
    if named is not None:
        # Unbacked sizes are `u0`, and were `i0` before torch 2.2; `s0` comes from an input's shape.
        facts |= {"symbol": named["symbol"], "unbacked": named["symbol"][0] in "ui"}
    return facts


def _links(case: FailureCase, run: CompilerRun, errors: list[Diagnostic]) -> Iterator[Link]:
    if run.command:
        row = case.failure.text.count("\n", 0, case.failure.text.find("Command:\n")) + 1
        given = f", given {run.source_file}" if run.source_file else ""
        yield Link("compiler", f"{run.compiler}{given}", case.place_of(row))
    for number, error in enumerate(errors[:_SHOWN]):
        if number or case.failure.exception_type is not None:  # the output alone begins with it
            yield Link("error", said(error), case.place_of(error.row))
        code = generated_at(case, error)
        if code is not None and error.line is not None:
            text = code.line_text(error.line).strip()
            yield Link("code", text, code.place(error.line))
    if len(errors) > _SHOWN:
        yield Link("error", f"and {len(errors) - _SHOWN} more errors", None)


def generated_at(case: FailureCase, error: Diagnostic) -> Source | None:
    """Return the generated code that an error points at, when exactly one text at hand was written there."""
    if error.file is None or error.line is None:
        return None
    fitting = [s for s in case.generated if s.filename and common_tail(error.file, s.filename)]
    if len({bytes(s.data) for s in fitting}) != 1:
        return None
    shown = _ECHO.match("".join(case.failure.text.split("\n")[error.row + 1 : error.row + 2]))
    same = shown is None or shown[1].strip() == fitting[0].line_text(error.line).strip()
    return fitting[0] if same else None


def _because(case: FailureCase, run: CompilerRun, errors: list[Diagnostic]) -> Iterator[str]:
    if not errors:
        return
    first = errors[0]
    if generated_at(case, first) is not None:
        yield "the error is in code that Inductor generated: a bug of Inductor, or of what the model asks for"
    elif "Killed signal" in first.message or "internal compiler error" in first.message:
        yield "the compiler itself did not end as it should; where it was killed, memory may have run out"
    elif first.line is None:
        yield "the compiler names no line of code: this is about its options or the installation"
    elif run.source_file and first.file and not common_tail(first.file, run.source_file):
        yield (
            f"the compiler was given {run.source_file.rpartition('/')[2]}, and the error is in "
            f"{first.file.rpartition('/')[2]}: no generated code at hand is at fault"
        )


def _fixes(errors: list[Diagnostic]) -> tuple[str, ...]:
    """Say what brings the files that the machine lacks."""
    files = [name for error in errors[:20] if (name := missing_file(error.message)) is not None]
    return tuple(dict.fromkeys(advice for name in files if (advice := brings(name)) is not None))


def _missing(run: CompilerRun) -> tuple[Missing, ...]:
    if any(is_serious(d) for d in run.diagnostics):
        return ()
    how = "stderr of the same run" if not run.recorded else "the command, run again by hand"
    return (Missing("what the compiler said", how),)


RULE = Rule("AL607", "cxx-compile-error", __doc__ or "")

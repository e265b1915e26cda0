"""A failed check for NaN or infinity of generated code, taken apart: what it checked, and where in the code it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.codebase import cache_name, path_parts
from aoti_logs.code.model import Backend

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.codebase import Code
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Launch
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.sources.source import Place

CHECKED = re.compile(r"At least one (?P<what>NaN|INF) in (?P<name>\S.*)$")
_CALL = re.compile(r"aoti_torch_check_inf_and_nan\((?:\"(?P<name>[^\"]+)\", ?)?(?P<value>[^)]*)\)")
PYTHON_CHECK = re.compile(r"assert not (?P<name>\w+)\.is(?P<what>nan|inf)\(\)\.any\(\)\.item\(\)")
_INPUT = re.compile(r"(?:arg\d+_\d+|primals_\d+|tangents_\d+)$")
_ANY_CHECK = re.compile(
    r"\baoti_torch_check_inf_and_nan\(|^\s*assert not \w+\.is(?:nan|inf)\(\)\.any\(\)\.item\(\)"
)
_FUNCTION = re.compile(r"^\s*def \w+\(|::run_impl\(|\binductor_entry_impl\(")
_GENERATED = re.compile(
    r"(?:^|[/\\!])c[a-z2-9]{51}\.py$|torchinductor|output_code\.py$|<torch_package|\.debug[/\\]"
)


@dataclass(frozen=True)
class NanCheck:
    """A failed check.

    `checked_by` is the C++ function, None for a Python assert. `check` is `isnan` or `isinf`, None where only
    the call is known. `file` and `line` are the wrapper's, as the error tells them.
    """

    name: str
    checked_by: str | None
    check: str | None
    file: str | None
    line: int | None
    function: str | None
    errors: tuple[ErrorText, ...]

    @property
    def words(self) -> str:
        """What was found."""
        return {"isnan": "NaN", "isinf": "an infinity"}.get(self.check or "", "NaN or an infinity")


def nan_check(error: ErrorText, group: Sequence[ErrorText], evidence: Evidence) -> NanCheck | None:
    """Return the check that failed with an error, or None.

    Args:
        error: what is asked about.
        group: the errors of the same run and rank; the call and the text are often two of them.
        evidence: for the source line of a traceback that was printed without it.
    """
    python = _python_assert(error, evidence)
    if python is not None:
        return python
    if CHECKED.search(error.message) is None and _call(error) is None:
        return None
    later = [e for e in group if e.span.start >= error.span.start]
    said = next((m for e in later if (m := CHECKED.search(e.message)) is not None), None)
    called = next(((e, m) for e in later if (m := _call(e)) is not None), None)
    name = said["name"] if said else (called[1]["name"] or called[1]["value"]) if called else ""
    own = tuple(e for e in later if CHECKED.search(e.message) or _call(e))
    return NanCheck(
        name.strip(),
        "aoti_torch_check_inf_and_nan",
        f"is{said['what'].lower()}" if said else None,
        called[0].call_file if called else None,
        called[0].call_line if called else None,
        None,
        own,
    )


def _call(error: ErrorText) -> re.Match[str] | None:
    return _CALL.match(error.call) if error.call else None


def _python_assert(error: ErrorText, evidence: Evidence) -> NanCheck | None:
    """Read `assert not buf2.isnan().any().item()`, which raises an AssertionError without a text."""
    if error.exception_type != "AssertionError" or error.message or not error.python_frames:
        return None
    frame = error.python_frames[-1]
    found = PYTHON_CHECK.match(frame.code or _line(frame.file, frame.line, evidence))
    # A user's own program may hold the same assert.
    if found is None or not is_generated(frame.file, evidence):
        return None
    return NanCheck(
        found["name"], None, f"is{found['what']}", frame.file, frame.line, frame.function, (error,)
    )


def _line(path: str, line: int, evidence: Evidence) -> str:
    found = code_of(path, evidence)
    return found.source.line_text(line).strip() if found is not None else ""


def is_generated(path: str, evidence: Evidence) -> bool:
    """Tell whether a file of a traceback is generated code, by its name or because it is at hand."""
    return _GENERATED.search(path) is not None or code_of(path, evidence) is not None


def code_of(path: str | None, evidence: Evidence) -> Code | None:
    """Return the generated wrapper that a path names: by the file's name, which is a hash of its text."""
    if not path:
        return None
    for code, _ in evidence.base.named(path):
        if code.wrapper is not None:
            return code
    stem = path_parts(path)[-1].partition(".")[0]
    if len(stem) != 52 or not stem.startswith("c"):
        return None
    return next((c for c in evidence.base.wrappers if cache_name(c.source.text) == stem), None)


@dataclass(frozen=True)
class CheckSite:
    """Where in a wrapper a check stands. `kernel` is the launch before it; None for a check of inputs."""

    view: ModelView
    place: Place
    text: str
    kernel: Launch | None
    returned: bool
    passed: int
    """How many checks stand above it in the same function: they were run before and did not fail."""

    def producer(self, name: str) -> Launch | None:
        """Return the call that wrote a buffer last before the check."""
        if self.kernel is None:
            return None
        if name in self.view.written_by(self.kernel):
            return self.kernel
        return self.view.producer(name, self.kernel.index)


def check_site(check: NanCheck, evidence: Evidence) -> CheckSite | None:
    """Return where the check stands, when the wrapper is at hand and its line is that check."""
    code = code_of(check.file, evidence)
    if code is None or code.wrapper is None or check.line is None:
        return None
    wrapper = code.wrapper
    text = wrapper.source.line_text(check.line).strip()
    if check.name not in text or _ANY_CHECK.search(text) is None:
        return None
    view = evidence.view(wrapper)
    before = [launch for launch in wrapper.launches if launch.line < check.line and not _is_check(launch)]
    returned = check.name == "var"
    return CheckSite(
        view,
        wrapper.source.place(check.line),
        text,
        before[-1] if before and not returned else None,
        returned,
        _passed(wrapper.source.lines_from(1, check.line - 1)),
    )


def _passed(above: Sequence[str]) -> int:
    """Count the checks between the beginning of a function and a line of it."""
    count = 0
    for line in reversed(above):
        if _FUNCTION.search(line):
            break
        count += _ANY_CHECK.search(line) is not None
    return count


def _is_check(launch: Launch) -> bool:
    return launch.backend is Backend.EXTERN and launch.kernel == "aoti_torch_check_inf_and_nan"


def position(check: NanCheck, site: CheckSite | None) -> str:
    """Return what was checked: `input`, `return value` or `kernel argument`."""
    if check.name == "var":
        return "return value"
    if site is not None:
        return "input" if site.kernel is None else "kernel argument"
    return "input" if _INPUT.match(check.name) else "kernel argument"


def candidates(site: CheckSite | None) -> Iterator[str]:
    """Yield the values that a loop over the return values checks."""
    if site is not None and site.returned:
        yield from dict.fromkeys(site.view.wrapper.model.outputs)

"""Graph breaks: where torch could not trace on, why, and what it suggests (`dynamo_graph_break_reason`).

Format: `grammars/graph_break.lark`, line by line; a line of no form goes on with what the line before said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from aoti_logs.parse.python.stack_text import StackLine, frames_of_stack
from aoti_logs.parse.shape import Fields, fields, first

_LONGEST_STACK = 1 << 20
_GIVEN_UP = "Failed to handle graph break gracefully."
_ID = re.compile(r"/(gb\d+)\.html")
# terminal of grammars/graph_break.lark: the part that its text belongs to
_PARTS = {
    "REASON_IS": "reason", "EXPLANATION_IS": "explanation", "HINT_IS": "hint", "OPERATOR_IS": "operator",
    "CONTEXT_IS": "context", "URL_IS": "url",
}  # fmt: skip


@dataclass(frozen=True)
class GraphBreak:
    """A graph break.

    Attributes:
        text: what was printed, without the compiler's traceback.
        file: file of the user's line where it broke.
        line: that line, from 1.
        function: function that the line is in.
        reason: why, all lines; a second graph break that followed while torch handled the first is behind it.
        kind: short name in torch's registry of graph breaks, of the first one; None without explanation (torch 2.6).
        explanation: what it means.
        hints: what to do about it.
        context: what torch's developers want to know.
        operator: higher order operator inside of which it broke.
        url: page about the kind.
        skipped: True when torch gave the whole frame up.
        user_frames: the user's stack, outermost first.
        n_compiler_frames: frames of the compiler's traceback.
        exception_type: exception that the traceback ends with.
    """

    text: str
    file: str | None = None
    line: int | None = None
    function: str | None = None
    reason: str | None = None
    kind: str | None = None
    explanation: str | None = None
    hints: tuple[str, ...] = ()
    context: str | None = None
    operator: str | None = None
    url: str | None = None
    skipped: bool = False
    user_frames: tuple[StackLine, ...] = ()
    n_compiler_frames: int = 0
    exception_type: str | None = None

    @property
    def gb_id(self) -> str | None:
        """Number in torch's registry of graph breaks, `gb0059`."""
        found = _ID.search(self.url or "")
        return found[1] if found else None


@dataclass
class _Parts:
    """The lines of each part, as they are found."""

    lines: dict[str, list[list[str]]] = field(default_factory=dict)
    now: str = ""
    head: Fields = field(default_factory=dict)
    skipped: bool = False
    in_traceback: bool = False
    has_reason: bool = False
    n_compiler_frames: int = 0
    exception: str | None = None
    before_traceback: list[str] = field(default_factory=list)

    def begin(self, part: str, text: str | None) -> None:
        self.now = part
        self.lines.setdefault(part, []).append([text or ""])

    def go_on(self, text: str) -> None:
        if self.now == "user_stack" and text[:1].strip():
            self.now = ""  # lines of a stack are indented
        if self.now:
            self.lines[self.now][-1].append(text)

    def texts(self, part: str) -> list[str]:
        return [_joined(lines) for lines in self.lines.get(part, [])]


def read_graph_break(text: str) -> GraphBreak:
    """Read the payload of `dynamo_graph_break_reason`; no text raises."""
    parts = _Parts()
    for line in text.split("\n"):
        _read_line(parts, line.removesuffix("\r"))
    return _graph_break(parts)


def read_restart_reason(text: str) -> GraphBreak:
    """Read an item of `restart_reasons` in `compilation_metrics`: a reason without place (torch 2.4 has no other)."""
    parts = _Parts()
    parts.begin("reason", None)
    for line in text.split("\n"):
        _read_line(parts, line)
    return _graph_break(parts)


def _read_line(parts: _Parts, line: str) -> None:
    found = fields("graph_break", "start", line) if line else None
    if found is not None and _is_traceback(parts, found):
        return
    if not parts.in_traceback:
        parts.before_traceback.append(line)
    if found is None or "OTHER" in found:
        parts.go_on(line)
        return
    if parts.in_traceback and parts.has_reason:
        return  # the exception says again what stood above
    part = next((name for terminal, name in _PARTS.items() if terminal in found), None)
    if part is not None:
        parts.begin(part, first(found, "TEXT"))
    elif "BREAK_AT" in found:
        parts.head, parts.now = found, ""
    elif "SKIPPED" in found or "SKIPPED_FRAME" in found:
        parts.skipped, parts.now = True, ""
    elif "NOT_CONVERTED" in found:
        parts.head, parts.now = found, ""
    elif "USER_CODE" in found:
        parts.begin("user_stack", None)
    elif "ATTRIBUTION" in found:
        parts.begin("attribution", None)
    elif "FRAME" in found or "EXCEPTION" in found:
        parts.go_on(line)
    elif "ANOTHER" in found:
        parts.begin("reason", None)
    elif "NOTE" in found:
        parts.now = ""


def _is_traceback(parts: _Parts, found: Fields) -> bool:
    """Claim lines of the compiler's traceback; the lines of its exception only where nothing gave a reason yet."""
    if "USER_CODE" in found:
        parts.in_traceback = False
    elif "TRACEBACK" in found or "NO_TRACEBACK" in found:
        parts.has_reason |= not parts.n_compiler_frames and "reason" in parts.lines
        parts.in_traceback, parts.now = True, ""
        return True
    elif parts.in_traceback and "FRAME" in found:
        parts.n_compiler_frames += 1
        parts.now = ""
        return True
    elif parts.in_traceback and "EXCEPTION" in found:
        parts.exception, parts.now = found["EXCEPTION"][0], ""
        if not parts.has_reason:  # of a chain of exceptions the last one counts
            for part in _PARTS.values():
                parts.lines.pop(part, None)
            parts.begin("reason", first(found, "TEXT"))
        return True
    return False


def _graph_break(parts: _Parts) -> GraphBreak:
    stack = "\n".join("\n".join(lines) for lines in parts.lines.get("user_stack", []))
    frames = frames_of_stack(stack[:_LONGEST_STACK])
    last = frames[-1] if frames else None
    file, line = first(parts.head, "FILE"), first(parts.head, "LINE")
    function = first(parts.head, "NAME")
    if function is not None:  # the line that is known is that of the function's head
        file, line = first(parts.head, "SKIPPED_FILE"), None
    if last is not None and line is None:
        file, line = last[0], str(last[1])
    if last is not None and (last[0], str(last[1])) == (file, line):
        function = last[2]
    reasons, explanations = parts.texts("reason"), parts.texts("explanation")
    reason = "\n".join(reasons) or None
    return GraphBreak(
        text="\n".join(parts.before_traceback).strip("\n"),
        file=file,
        line=int(line[:18]) if line else None,
        function=function,
        reason=reason,
        kind=reasons[0].rpartition("\n")[2] if reasons and explanations else None,
        explanation="\n".join(explanations) or None,
        hints=tuple(parts.texts("hint")),
        context="\n".join(parts.texts("context")) or None,
        operator=next(iter(parts.texts("operator")), None),
        url=next(iter(parts.texts("url")), None),
        skipped=parts.skipped or (reason or "").startswith(_GIVEN_UP),
        user_frames=frames,
        n_compiler_frames=parts.n_compiler_frames,
        exception_type=parts.exception,
    )


def _joined(lines: list[str]) -> str:
    """Return a part's lines; torch indents all but the first by four blanks."""
    head, *more = lines
    return "\n".join([head, *(one.removeprefix("    ") for one in more)]).strip()

"""Native stacks of every printer: frames that follow each other, with what stands between them.

Formats: `parse/stacks/stack_form.py` names the programs. Frame numbers are kept as printed: they jump where Python frames
were left out, and a captured traceback begins at 4. Frames without numbers are counted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Frame, RaisedFrom, Stack
from aoti_logs.parse.shape import LONGEST, fields
from aoti_logs.parse.stacks.frame_runs import frame_run
from aoti_logs.parse.stacks.stack_form import CAPTURED, Form, form_of, frame_fields

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.stacks.frame_runs import C10Frames


_RAISED = re.compile(
    r"Exception raised from (?P<function>\S(?:(?! at ).)*) at (?P<file>\S+):(?P<line>[0-9]+) \(most recent call first\):"
)
"""The commonest form, of which the grammar says the same."""
_OMITTED = "<omitting python frames>"
_HEADER = "C++ CapturedTraceback:"
_GDB_REST = re.compile(r"\s+(?:at|from) \S|.*\) (?:at|from) \S|\s+.*[,)]$")
_GDB_PLACE = re.compile(r"\s+(?:at|from) \S")
_FOLDED = 24  # lines of one frame of gdb
_BETWEEN = {
    "c10": re.compile(re.escape(_OMITTED)),
    # The pager, the end of a stack, and the locals and sources that `bt full` and `frame` show.
    "gdb": re.compile(
        r"--Type <RET> for more|---Type <return> to|Backtrace stopped: |\(More stack frames follow|No locals\.|"
        r"No symbol table info available\.|\s{8,}\S.* = |\d+\t"
    ),
    "folly": re.compile(r"\s{8,}(?:-> )?[^\s@]\S*$"),
    "glog": re.compile(r"\s{8,}(?:-> )?[^\s@]\S*$"),
    "absl": re.compile(r"\s*@\s+\.\.\. and at least \d+ more frames|https?://symbolize\S*"),
    "faulthandler": re.compile(r"\s*<(?:truncated rest of calls|system returned no|cannot get C stack)"),
}
_FILE_LINE = re.compile(r"\s*(?:-> )?(?P<file>\S+?)(?::(?P<line>\d{1,9}))?$")


def raised_from(log: Log, line: Line) -> RaisedFrom | None:
    """Read `Exception raised from FUNCTION at FILE:LINE (most recent call first):`."""
    if "Exception raised from " not in line.text:
        return None
    found = raised_place(line.text.strip())
    return None if found is None else RaisedFrom(*found, log.span(line.start, line.end))


def raised_place(text: str) -> tuple[str, str, int] | None:
    """Return function, file and line of `Exception raised from`."""
    plain = _RAISED.fullmatch(text) if len(text) <= LONGEST else None
    if plain is None:
        return raised_place_by_grammar(text)
    return plain["function"], plain["file"], int(plain["line"][:9])


def raised_place_by_grammar(text: str) -> tuple[str, str, int] | None:
    """Do the same by the grammar alone."""
    found = fields("frame", "raised", text)
    if found is None:
        return None
    return found["RAISED_FUNCTION"][0], found["RAISED_FILE"][0], int(found["LINE"][0][:9])


def stack_format(text: str) -> str | None:
    """Tell which format a line that begins a frame has (a key of `FORMATS`), or None."""
    form = form_of(text)
    if form is not None:
        return form.name
    return "captured_traceback" if text.strip() == _HEADER else None


def read_stack(log: Log, line: Line) -> tuple[Stack, list[Line], list[Line]] | None:
    """Read a stack whose first frame or header stands on this line.

    Returns the stack, its lines, and those lines that looked like frames and could not be read.
    """
    form = form_of(line.text) or (CAPTURED if line.text.strip() == _HEADER else None)
    return None if form is None else read_frames_of(log, line, form)


def read_frames_of(log: Log, line: Line, form: Form) -> tuple[Stack, list[Line], list[Line]] | None:
    """Read the frames of one format from this line on."""
    run = frame_run(log, line, _inlined) if form.name == "c10" else None
    if run is not None and not _goes_on(log, *run):
        whole, own_line = run
        return Stack(form.name, whole, log.span(own_line.start, own_line.end)), [own_line], []
    frames: list[Frame] = []
    lines: list[Line] = []
    bad: list[Line] = []
    omitted = False
    between = _BETWEEN.get(form.name)
    if line.start < log.unread.get(form.name, 0):
        return None
    now: Line | None = line
    while now is not None:
        if form_of(now.text) is form:
            frame, own = _frame(log, now, form, len(frames))
            if frames and frame is not None and form.numbered and frame.number <= frames[-1].number:
                break  # the next stack
            if frame is None:
                bad.append(now)
            elif now.text.lstrip().startswith("PC:"):
                own = [now]  # the first frame again
            else:
                frames.append(frame)
            lines.extend(own)
        elif now.text.strip() == _HEADER and form is CAPTURED and not frames:
            lines.append(now)
        elif (
            between is not None
            and (frames or form.name in {"c10", "faulthandler"})
            and between.match(now.text.rstrip())
        ):
            omitted = omitted or now.text.strip() == _OMITTED
            if frames and form.name in {"folly", "glog"}:
                frames[-1] = _with_place(frames[-1], now.text)
            lines.append(now)
        else:
            break
        now = log.after(lines[-1])
    if not frames:
        log.unread[form.name] = lines[
            -1
        ].end  # what begins on a later one of these lines has no frames either
        return None
    return (
        Stack(form.name, tuple(_inlined(frames)), log.span(lines[0].start, lines[-1].end), omitted),
        lines,
        bad,
    )


def _goes_on(log: Log, frames: C10Frames, run: Line) -> bool:
    """Tell whether a line below a run of frames belongs to the same stack."""
    below = log.after(run)
    if below is None:
        return False
    form = form_of(below.text)
    if form is not None and form.name == "c10":
        found = frame_fields(form, below.text.strip())
        return found is None or int(found["NUMBER"][0][:9]) > frames.last
    return _BETWEEN["c10"].match(below.text.rstrip()) is not None


def _frame(log: Log, line: Line, form: Form, number: int) -> tuple[Frame | None, list[Line]]:
    text, lines = line.text.strip(), [line]
    found = frame_fields(form, text)
    if form.name == "gdb" and (found is None or not ({"LINE", "GDB_LIBRARY", "GDB_MARK"} & found.keys())):
        joined, rest = text, [line]
        following = log.after(line)
        while following is not None and len(rest) < _FOLDED and form_of(following.text) is None:
            if not (_GDB_PLACE if found is not None else _GDB_REST).match(following.text):
                break
            joined = f"{joined} {following.text.strip()}"
            rest.append(following)
            again = frame_fields(form, joined)
            if again is not None:
                found, lines = again, list(rest)
                if {"LINE", "GDB_LIBRARY"} & again.keys():
                    break
            following = log.after(following)
    if found is None:
        return None, lines
    return form.row(found, log.span(lines[0].start, lines[-1].end), number), lines


def _with_place(frame: Frame, text: str) -> Frame:
    """Add the line of a source that folly prints below a frame."""
    found = _FILE_LINE.match(text.rstrip())
    if found is None or frame.file is not None:
        return frame
    return replace(frame, file=found["file"], line=int(found["line"]) if found["line"] else None)


def _inlined(frames: list[Frame]) -> list[Frame]:
    """Mark frames that have the address of the frame below: a sanitizer shows what is inlined that way."""
    out = list(frames)
    for at, frame in enumerate(frames[:-1]):
        if (
            frame.address is not None
            and frame.address == frames[at + 1].address
            and frame.symbol != frames[at + 1].symbol
        ):
            out[at] = replace(frame, inlined=True)
    return out


def read_stack_alone(log: Log, line: Line) -> bool:
    """Claim a stack without an error above it."""
    found = read_stack(log, line)
    if found is None:
        return False
    read, lines, unread = found
    for bad in unread:
        log.unreadable(bad.start, bad.end, "stack frame")
    log.claim("stack", lines)
    log.stacks.append(read)
    return True


def is_announced(text: str) -> bool:
    """Tell whether a line begins or continues a stack."""
    return stack_format(text) is not None or text.startswith("Exception raised from ")

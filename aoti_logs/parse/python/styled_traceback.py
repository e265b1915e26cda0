"""Python tracebacks as IPython and Jupyter, rich and pytest write them.

Format: `grammars/traceback_style.lark`. rich puts a box around one, which is taken off line by line
(`parse/logs/lines.py`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import PythonFrame
from aoti_logs.parse.python.traceback import join_above, raised
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.python.traceback import Block
    from aoti_logs.parse.shape import Fields

_TITLE = "Traceback (most recent call last)"
_NOTEBOOK = re.compile(rf"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*) {{2,}}{re.escape(_TITLE)}$")
_BOX = re.compile(rf"[╭┌+][─━-]+ {re.escape(_TITLE)} [─━-]+")
_BOX_END = re.compile(r"[╰└][─━]")
_INNER = re.compile(r"[╭┌][─━]+ locals [─━]+[╮┐]")
_CELL = re.compile(r"(?:Cell In ?\[|Input In \[|File \S.*:\d+|<ipython-input|[/~.]\S* in \S)")
_ROW = re.compile(r"(?:-+> ?\d+ ?|\s{2,}\d+ ?|\s+\.\.\.|\(\.\.\.\))")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: .*|:|)$")
_TOLD = re.compile(r"E {2,}(?P<text>\S.*)$")
_MORE = re.compile(r"E(?: {2,}(?P<text>.*))?$")
_PLACE = re.compile(r"\S[^:\n]*\.\w+:\d+: (?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)$")
_SHORT = re.compile(r"\S[^:\n]*\.\w+:\d+: in \S")
_STEP = re.compile(r"\S[^:\n]*\.\w+:\d+: $|\S[^:\n]*\.\w+:\d+:$")
_TITLE_OF_TEST = re.compile(r"_{3,} .* _{3,}$|={3,}")
_DEFINED = re.compile(r"\s*(?:async )?def (?P<name>\w+)\(")
_FRAMES, _ABOVE = 2000, 400
_BOX_HEAD = 40  # lines above the first frame in a box


def read_styled(log: Log, line: Line) -> bool:
    """Claim a traceback of IPython, rich or pytest that begins, or tells its exception, on this line."""
    text = line.text.strip()
    if text.endswith(_TITLE) and (found := _NOTEBOOK.match(text)) is not None:
        block = _notebook(log, line, found["type"])
    elif _TITLE in text and _BOX.match(text):
        block = _box(log, line)
    elif _TOLD.match(line.text) or (_PLACE.match(text) and not line.text[:1].isspace()):
        block = _pytest(log, line)
    else:
        return False
    if block is None:
        return False
    join_above(log, block)
    block.keep(log)
    return True


def _frame(log: Log, found: Fields, line: Line, *, code: str | None = None) -> PythonFrame:
    cell = first(found, "CELL")
    file = next((found[k][0] for k in ("FILE", "INPUT_FILE", "BOX_FILE", "SHORT_FILE") if k in found), None)
    number = first(found, "LINE")
    function = (first(found, "FUNCTION") or "").partition("(")[0]
    if file is None and not function:
        function = "<module>"
    return PythonFrame(
        file if file is not None else f"Cell In[{cell}]",
        int(number[:9]) if number else 0,
        function,
        code,
        log.span(line.start, line.end),
    )


def _notebook(log: Log, line: Line, kind: str) -> Block | None:
    frames: list[PythonFrame] = []
    lines = [line]
    now = log.after(line)
    while now is not None and len(frames) < _FRAMES:
        text = now.text.strip()
        if not text:
            following = log.after(now)
            if following is None:
                break
            lines.append(now)
            now = following
            continue
        if _CELL.match(text):
            start = "cell" if text.startswith("Cell") else "file" if text.startswith("File") else "input"
            found = fields("traceback_style", start, text[:4096])
            if found is None:
                break
            frames.append(_frame(log, found, now))
        elif _ROW.match(now.text):
            if text.startswith("-") and frames and frames[-1].code is None:
                frames[-1] = _with_code(log, frames[-1], now, "marked")
        else:
            break
        lines.append(now)
        now = log.after(now)
    return _end(log, now, lines, frames, kind)


def _with_code(log: Log, frame: PythonFrame, line: Line, start: str) -> PythonFrame:
    found = fields("traceback_style", start, line.text.strip()[:4096])
    if found is None:
        return frame
    code = (first(found, "CODE") or "").strip() or None
    span = log.span(frame.span.start, line.end)
    return replace(frame, line=int(found["LINE"][0][:9]), code=code, span=span)


def _box(log: Log, line: Line) -> Block | None:
    frames: list[PythonFrame] = []
    lines = [line]
    now = log.after(line)
    inner = 0  # boxes of a frame's local variables
    for _ in range(_FRAMES * 20):
        if now is None:
            break
        text = now.text.strip()
        if (not frames and len(lines) > _BOX_HEAD) or (_TITLE in text and _BOX.match(text)):
            break  # no box of a traceback, or the next one: the end of this one is cut off
        if _INNER.match(text):
            inner += 1
        elif inner and _BOX_END.match(text):
            inner -= 1
        elif _BOX_END.match(text):
            lines.append(now)
            now = log.after(now)
            break
        found = (
            fields("traceback_style", "box", text[:4096])
            if not inner and " in " in text and ":" in text and text[:1] not in "❱0123456789│"
            else None
        )
        if found is not None:
            frames.append(_frame(log, found, now))
        elif text.startswith("❱") and frames and frames[-1].code is None:
            frames[-1] = _with_code(log, frames[-1], now, "box_line")
        lines.append(now)
        now = log.after(now)
    return _end(log, now, lines, frames, None)


def _end(
    log: Log, last: Line | None, lines: list[Line], frames: list[PythonFrame], kind: str | None
) -> Block | None:
    """Read the exception below the frames; where it is cut off, its type may be known from above."""
    text = last.text.strip() if last is not None else ""
    short = kind.rpartition(".")[2] if kind else None
    told = _EXCEPTION.match(text) is not None and (
        short is None or text.partition(":")[0].rpartition(".")[2] == short
    )
    while lines and not lines[-1].text.strip():
        lines.pop()
    if last is None or not told:
        if kind is None and not frames:
            return None
        block = raised(log, lines[-1], kind or "", lines[:-1], tuple(frames), 0)
        # Nothing was read below the frames: the text is the type alone.
        block.errors[-1] = replace(block.errors[-1], exception_type=kind, message="", text="")
        return block
    return raised(log, last, text, lines, tuple(frames), 0)


def _pytest(log: Log, line: Line) -> Block | None:
    """Read `E   TYPE: TEXT` with what stands around it: the frames above, `file.py:3: TYPE` below."""
    told = _TOLD.match(line.text)
    if told is None and not _marked_above(log, line):
        return None
    above: list[Line] = []
    now = log.before(line)
    while now is not None and len(above) < _ABOVE and not _TITLE_OF_TEST.match(now.text):
        above.insert(0, now)
        now = log.before(now)
    if told is None and not any(_TOLD.match(row.text) for row in above[-40:]):
        return None
    lines = [line]
    if told is None:  # the place is what was announced: `E   assert x == y` names no exception
        at = next((n for n in range(len(above) - 1, -1, -1) if _MORE.match(above[n].text)), None)
        if at is None:
            return None
        begin = at
        while begin and _MORE.match(above[begin - 1].text):
            begin -= 1
        lines, rest, above = above[begin : at + 1], above[at + 1 :], above[:begin]
        if any(row.text.strip() for row in rest):
            return None
        place: Line | None = line
    else:
        after = log.after(line)
        while after is not None and _MORE.match(after.text):
            lines.append(after)
            after = log.after(after)
        rest = []
        while after is not None and not after.text.strip() and len(rest) < 2:
            rest.append(after)
            after = log.after(after)
        place = after if after is not None and _PLACE.match(after.text.strip()) else None
    texts = [(m["text"] or "") if (m := _MORE.match(row.text)) else "" for row in lines]
    frames, own = _frames_above(log, above)
    kind = None
    if place is not None:
        found = fields("traceback_style", "place", place.text.strip()[:4096])
        kind = first(found, "TYPE") if found else None
        if found is not None:
            frames = [*frames, _long_frame(log, found, place, above)]
    first_line = texts[0].strip()
    named = _EXCEPTION.match(first_line) is not None
    return _told(log, lines, own, rest if place is not None else [], place, texts, frames, named, kind)


def _marked_above(log: Log, line: Line) -> bool:
    """Tell whether the last line above with words in it is an `E` line: everything above is read only then."""
    now = log.before(line)
    for _ in range(_ABOVE):
        if now is None or now.text.strip():
            break
        now = log.before(now)
    return now is not None and _MORE.match(now.text) is not None


def _is_marked(log: Log, row: Line) -> bool:
    """Tell whether pytest marks a line of code; the mark looks like a quote's, which is taken off."""
    return bytes(log.data[row.start : row.start + 5]) == b">    "


def _long_frame(log: Log, found: Fields, place: Line, above: list[Line]) -> PythonFrame:
    """Return the frame of `file.py:6:`, with the function and the marked line above it."""
    marked = next((row for row in reversed(above) if _is_marked(log, row)), None)
    named = next((m["name"] for row in reversed(above) if (m := _DEFINED.match(row.text))), "")
    code = marked.text.removeprefix(">").strip() if marked is not None else None
    return replace(_frame(log, found, place, code=code), function=named)


def _told(
    log: Log,
    lines: list[Line],
    own: list[Line],
    rest: list[Line],
    place: Line | None,
    texts: list[str],
    frames: list[PythonFrame],
    named: bool,
    kind: str | None,
) -> Block | None:
    from aoti_logs.parse.errors.message import call_of, cuda_error
    from aoti_logs.parse.events import ErrorForm, ErrorText
    from aoti_logs.parse.python.traceback import Block

    head = fields("traceback", "exception", texts[0].strip()) if named else None
    said = (first(head, "MESSAGE") or "") if head else texts[0].strip()
    kind = first(head, "TYPE") if head else kind
    every = [*own, *lines, *rest, *([place] if place is not None else [])]
    text = "\n".join([said, *texts[1:]]).rstrip()
    call, file, number = call_of(said)
    error = ErrorText(
        form=ErrorForm.PYTHON,
        message=said,
        span=log.span(every[0].start, every[-1].end),
        exception_type=kind,
        call=call,
        call_file=file,
        call_line=number,
        text=text,
        cuda_error=cuda_error(text),
        rank=lines[0].rank,
        python_frames=tuple(frames),
    )
    return Block([error], every)


def _frames_above(log: Log, above: list[Line]) -> tuple[list[PythonFrame], list[Line]]:
    """Return the frames that pytest wrote above its `E` lines, and the lines from the first of them on."""
    frames: list[PythonFrame] = []
    begin: int | None = None
    for number, row in enumerate(above):
        text = row.text.rstrip()
        if _SHORT.match(text):
            found = fields("traceback_style", "short", text[:4096])
            below = above[number + 1].text if number + 1 < len(above) else ""
            code = below.strip() if below.startswith("    ") else None
        elif _STEP.match(row.text):
            found = fields("traceback_style", "place", text[:4096])
            code = None
        else:
            continue
        if found is not None:
            long = "FUNCTION" not in found
            frames.append(
                _long_frame(log, found, row, above[:number]) if long else _frame(log, found, row, code=code)
            )
            begin = number if begin is None else begin
    marked = next((n for n, row in enumerate(above) if _is_marked(log, row)), None)
    starts = [n for n in (begin, marked) if n is not None]
    return frames, above[min(starts) :] if starts else []

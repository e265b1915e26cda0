"""Python tracebacks: chains of exceptions, tracebacks within the message of another, and those that lost their
first line.

Format: `grammars/traceback.lark`. A message holds the traceback of another process where torch hands it on:
`SubprocException: An exception occurred in a subprocess:` (torch/_inductor/compile_worker/subproc_pool.py),
`ProcessRaisedException: -- Process 1 terminated with the following error:` (torch/multiprocessing/spawn.py),
`Caught X in DataLoader worker process 0.` with `Original Traceback` (torch/_utils.py), `RemoteTraceback: \"\"\"` (Python's
multiprocessing and concurrent.futures), `RayTaskError(X): ray::f() (pid=1, ip=...)` (ray/exceptions.py).
"""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.text import read_aoti
from aoti_logs.parse.errors.elastic import NAME as WORKERS
from aoti_logs.parse.errors.elastic import read_workers
from aoti_logs.parse.errors.message import Further, call_of, cuda_error, read_message
from aoti_logs.parse.errors.pruned_choice import follows_choice
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.logs.figure import is_figure
from aoti_logs.parse.python.exception_name import CLASS, ends_frames, is_bare_word, is_exception
from aoti_logs.parse.python.frames import is_faulthandler_frame, is_frame, read_frames
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame, Stack
    from aoti_logs.parse.logs.lines import Line, Log


HEADER = "Traceback (most recent call last):"
_CHAIN = re.compile(
    r"(?:(?P<cause>The above exception was the direct cause of)|During handling of the above exception,)"
)
_TYPE = r"(?:[A-Za-z_]\w*\.|<locals>\.)*[A-Za-z_]\w*(?:\([\w.]+\))?"
_LINE = re.compile(rf"(?P<type>{_TYPE})(?::(?: |$)(?P<message>.*))?$")
_ALONE = re.compile(
    r"(?:[^\n]{0,200}?\b(?:raised|exception|caught): )?"
    rf"(?P<error>(?:(?:[A-Za-z_]\w*\.)*{CLASS}(?:\([\w.]+\))?(?::(?: |$).*)?|(?:\w+\.)*OutOfResources: \S.*|Exception: \S.*))$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:An exception occurred in a subprocess|terminated with the following error|raised|error was|"
    r"[Tt]raceback|in DataLoader worker process \d+|in (?:replica|pin memory|thread) .{0,60}|\bray::.{0,400}|\"\"\")\W*$"
)
"""The last line of a message below which the traceback of another process stands."""
_BACKEND = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\.)*BackendCompilerFailed: )?backend='[^'\n]{1,200}' raised:$"
)
_FAILED_NODE = re.compile(r"Failed running .*:\s*$")
"""What torch before 2.7 writes above what an operator said of fake tensors (torch/_dynamo/utils.py)."""
_IGNORED = re.compile(r"Exception ignored (?:in|on|while)\b|--- Logging error ---$")
"""Lines of Python above the traceback of an exception that ends nothing (a destructor, logging's own handlers)."""
_QUOTES = {'"""', "'''"}
_DEEPEST = 8
_BETWEEN = 4


@dataclass
class Block:
    """Exceptions in the order in which they were raised, as far as the text tells, and their lines."""

    errors: list[ErrorText] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    unread: list[Line] = field(default_factory=list)

    def add(self, other: Block) -> None:
        """Append what was read below it."""
        self.errors += other.errors
        self.lines += other.lines
        self.stacks += other.stacks
        self.unread += other.unread

    def keep(self, log: Log, kind: str = "traceback") -> None:
        """Claim the lines and give the events to the log."""
        for line in self.unread:
            log.unreadable(line.start, line.end, "stack frame")
        log.claim(kind, self.lines)
        log.stacks += self.stacks
        log.errors += self.errors


def is_header(text: str) -> bool:
    """Tell whether a line ends with the first line of a traceback; other words may stand before it."""
    return text.rstrip().endswith(HEADER) and "Exception Group Traceback" not in text


def read_traceback(log: Log, line: Line) -> bool:
    """Claim a traceback that begins on this line (its header, or a frame where the header is lost)."""
    if _CHAIN.match(line.text.strip()):
        log.claim("traceback", [line])
        return True
    if not is_header(line.text) and (not is_frame(line.text) or is_faulthandler_frame(line.text)):
        return False
    above = log.before(line)
    outer = _remote(log, above)
    if outer is not None:
        handed = raised(log, outer, outer.text.strip(), [], (), 0)
        if handed.lines[-1].start >= line.start:
            _with_chain(log, handed, 0).keep(log)
            return True
    block = read_block(log, line)
    if block is None:
        return False
    ignored = above is not None and _IGNORED.match(above.text.strip()) is not None
    if above is not None and ignored:
        block.lines.insert(0, above)
    join_above(log, block)
    if ignored or follows_choice(log, line.start):
        block.errors = [replace(e, form=ErrorForm.WARNING) for e in block.errors]  # the program goes on
    block.keep(log)
    return True


def read_block(log: Log, line: Line, depth: int = 0) -> Block | None:
    """Read a traceback and those that it is chained to, from its header or a frame on.

    Nothing is claimed: `Block.keep` does.
    """
    block = _one(log, line, depth)
    return None if block is None else _with_chain(log, block, depth)


def _with_chain(log: Log, block: Block, depth: int) -> Block:
    """Append the tracebacks of exceptions that were raised from the last one, or while it was handled."""
    while True:
        between, chained, now = _chain(log, block.lines[-1])
        following = None if now is None else _one(log, now, depth)
        if following is None:
            return block
        if following.errors:
            following.errors[-1] = replace(following.errors[-1], chained=chained)
        block.lines += between
        block.add(following)


def _chain(log: Log, last: Line) -> tuple[list[Line], str | None, Line | None]:
    """Return the lines between two tracebacks of one chain, how they are related, and the second one's header."""
    between: list[Line] = []
    chained: str | None = None
    now = log.after(last)
    while now is not None and len(between) < _BETWEEN:
        text = now.text.strip()
        found = _CHAIN.match(text)
        if chained is not None and is_header(text):
            return between, chained, now
        if found is not None:
            chained = "cause" if found["cause"] else "context"
        elif text:
            break
        between.append(now)
        now = log.after(now)
    return [], None, None


def join_above(log: Log, block: Block) -> None:
    """Join a block with the words above it that say how it follows another exception."""
    own: list[Line] = []
    now = log.before(block.lines[0])
    while now is not None and len(own) < _BETWEEN:
        text = now.text.strip()
        found = _CHAIN.match(text)
        own.insert(0, now)
        if found is not None:
            chained = "cause" if found["cause"] else "context"
            first = next((n for n, e in enumerate(block.errors) if not e.depth), None)
            if first is not None and block.errors[first].chained is None:
                block.errors[first] = replace(block.errors[first], chained=chained)
            block.lines[:0] = own
            return
        if text:
            return
        now = log.before(now)


def _one(log: Log, line: Line, depth: int) -> Block | None:
    head = [line] if is_header(line.text) else []
    frames, lines = read_frames(log, log.after(line) if head else line)
    lines = head + lines
    if not lines:
        return None
    last = log.after(lines[-1])
    code = frames[-1].code if frames else None
    if last is not None and not last.text.strip() and frames:
        below = log.after(last)  # loguru, and old versions of IPython, leave a line blank
        if below is not None and ends_frames(below.text.strip(), code):
            lines, last = [*lines, last], below
    found = _LINE.match(last.text.strip()) if last is not None else None
    if last is None or found is None or (not head and not ends_frames(last.text.strip(), code)):
        block = Block(lines=lines)  # cut before its exception: frames are all there is
        if frames:
            span = log.span(lines[0].start, lines[-1].end)
            form = ErrorForm.PYTHON if head else ErrorForm.WARNING  # a program may print where it is
            block.errors.append(
                ErrorText(form, "", span, rank=line.rank, python_frames=tuple(frames), depth=depth)
            )
        return block
    return raised(log, last, last.text.strip(), lines, tuple(frames), depth)


def read_exception(log: Log, line: Line) -> bool:
    """Claim an exception's line that stands without a traceback."""
    text = line.text.strip()
    found = _ALONE.match(text)
    if found is None or not is_exception(found["error"]) or _is_metric(found["error"]):
        return False
    above = log.before(line)
    raises = above is not None and above.text.lstrip().startswith("raise ")
    if is_bare_word(found["error"]) and not raises:
        return False
    backend = _BACKEND.match(above.text.strip()) if above is not None else None
    if above is not None and backend is not None and backend["type"]:
        block = raised(log, above, above.text.strip(), [], (), 0)
    elif above is not None and backend is not None:
        # What raised it was cut off, and the rest says which backend it was.
        block = raised(log, line, f"{above.text.strip()}\n{found['error']}", [above], (), 0, typed=False)
    else:
        block = raised(log, line, found["error"], [], (), 0)
    _with_chain(log, block, 0).keep(log, "error")
    return True


def _is_metric(text: str) -> bool:
    """Tell whether a name like `MeanSquaredError` has a figure behind it; exceptions of Python itself may hold one."""
    kind, _, said = text.partition(": ")
    return is_figure(said) and not hasattr(builtins, kind)


def raised(
    log: Log,
    line: Line,
    text: str,
    lines: list[Line],
    frames: tuple[PythonFrame, ...],
    depth: int,
    *,
    typed: bool = True,
) -> Block:
    """Read an exception from its line on: its message and what is printed inside of it.

    Args:
        log: the log.
        line: the line `TYPE: MESSAGE`.
        text: what stands there, without marks of other programs.
        lines: the lines of its traceback.
        frames: the frames in them.
        depth: how many messages this one is printed inside of.
        typed: the text begins with the type of the exception.
    """
    parsed = fields("traceback", "exception", text) if typed else None
    kind = first(parsed, "TYPE") if parsed else None
    said = (first(parsed, "MESSAGE") or "") if parsed else text
    # Without frames above, only a text that announces another exception goes on in lines of any form.
    # A name without a colon has no message: what stands below it is somebody else's, unless it is indented.
    whole = (
        (bool(lines) and (":" in text or not typed))
        or said.rstrip().endswith(" raised:")
        or _FAILED_NODE.match(said) is not None
    )
    further = Further.ANY if whole else Further.INDENTED
    message = read_message(log, line, said, Further.KNOWN if "ray::" in said else further)
    inner = Block()
    while depth < _DEEPEST:
        told = _announced(log, message.lines[-1], [*message.texts], kind, depth)
        if told is None:
            break
        inner.add(told)
        message.lines += told.lines
        message.texts += [row.text for row in told.lines]
    workers = read_workers(log, message.lines[-1]) if (kind or "").endswith(WORKERS) else None
    if workers is not None:
        message.lines += workers[1]
        message.texts += [row.text for row in workers[1]]
    call, file, number = call_of(said)
    every = [*lines, *message.lines]
    span = log.span(every[0].start, every[-1].end)
    inner.errors = [e if e.within is not None else replace(e, within=span) for e in inner.errors]
    error = ErrorText(
        form=ErrorForm.PYTHON,
        message=said.partition("\n")[0],
        span=span,
        exception_type=kind,
        raised_from=message.raised,
        stack=message.stack,
        call=call,
        call_file=file,
        call_line=number,
        text=message.text,
        cuda_error=cuda_error(message.text),
        rank=line.rank,
        python_frames=frames,
        detail=workers[0] if workers is not None else read_aoti(message.text),
        depth=depth,
    )
    stacks = [*inner.stacks, *([message.stack] if message.stack is not None else []), *message.outer]
    return Block([*inner.errors, error], every, stacks, [*inner.unread, *message.unread])


def _announced(log: Log, last: Line, texts: list[str], kind: str | None, depth: int) -> Block | None:
    """Read the traceback that a message announces, with the lines before and behind it."""
    said = next((t for t in reversed(texts) if t.strip()), "")
    between: list[Line] = []
    now = log.after(last)
    while now is not None and len(between) < _BETWEEN:
        row = now.text.strip()
        if row and row not in _QUOTES and not row.startswith("Name="):
            break
        between.append(now)
        now = log.after(now)
    if now is None:
        return None
    row = now.text.strip()
    quoted = any(b.text.strip() in _QUOTES for b in between)
    colon = not between and said.rstrip().endswith(":") and " " in said.strip()  # `worker 3 failed:`
    sure = quoted or colon or _ANNOUNCES.search(said[-500:]) is not None or _is_remote(kind)
    if (is_header(row) and (row.startswith("Original Traceback") or sure)) or (
        is_frame(row) and not is_faulthandler_frame(row) and sure and "ray::" in said
    ):
        block = read_block(log, now, depth + 1)
    elif sure and is_exception(row) and _LINE.match(row):
        block = raised(log, now, row, [now], (), depth + 1)
        block.lines = block.lines[1:]  # its first line was given as a traceback, so that its text goes on
    else:
        return None
    if block is None:
        return None
    block.lines = [*between, *block.lines]
    after = log.after(block.lines[-1])
    if after is not None and after.text.strip() in _QUOTES:
        block.lines.append(after)
    return block


def _remote(log: Log, above: Line | None) -> Line | None:
    """Return the line `RemoteTraceback:` of a traceback in quotes; nothing else in it announces an exception."""
    if above is None or above.text.strip() not in _QUOTES:
        return None
    line = log.before(above)
    found = _LINE.match(line.text.strip()) if line is not None else None
    return line if found is not None and _is_remote(found["type"]) else None


def _is_remote(kind: str | None) -> bool:
    return kind is not None and kind.rpartition(".")[2] in {"RemoteTraceback", "_RemoteTraceback"}

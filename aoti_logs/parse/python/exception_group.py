"""Exception groups: the exceptions in them, each with its own traceback, behind a margin.

CPython, Lib/traceback.py, `TracebackException.format` (3.11 and later): `  + Exception Group Traceback`, a margin of `| `,
`+-+---------------- 1 ----------------` between the members. Some versions leave the margin out in further lines of a
message.
"""

from __future__ import annotations

import re
from dataclasses import replace

from aoti_logs.parse.logs.lines import Line, Log
from aoti_logs.parse.python.frames import read_frames
from aoti_logs.parse.python.traceback import Block, join_above, raised, read_block

_HEAD = re.compile(r"(?P<margin> *)\+ Exception Group Traceback \(most recent call last\):$")
_INNER_HEAD = re.compile(r" *Exception Group Traceback \(most recent call last\):$")
_MEMBER = re.compile(r"(?P<margin> *)(?:\+-)?\+-{8,}(?: (?P<number>\d+|\.\.\.) -{8,}|-*)$")
_DEEPEST = 12
_LOST = 40  # lines of a message without the margin


class Inset(Log):
    """A log as it is seen behind a margin: what has none does not belong to it."""

    def __init__(self, log: Log, margin: str) -> None:
        # The same bytes, claims and events; only its lines are other ones.
        self.__dict__.update(log.__dict__)
        self._margin = margin
        self._inner = log

    def line(self, at: int) -> Line:
        """Return the line without the margin."""
        found = self._inner.line(at)
        return replace(found, text=found.text[len(self._margin) :])

    def after(self, line: Line) -> Line | None:
        """Return the next line behind the same margin, also one of a message that has lost it."""
        found = self._inner.after(line)
        if found is None or _MEMBER.match(found.text.rstrip()):
            return None
        if (found.text + " ").startswith(self._margin):
            return replace(found, text=found.text[len(self._margin) :])
        below: Line | None = found
        for _ in range(_LOST):
            below = self._inner.after(below) if below is not None else None
            if below is None:
                return None
            if _MEMBER.match(below.text.rstrip()) or below.text.startswith(self._margin):
                return found
        return None

    def before(self, line: Line) -> Line | None:
        """Return the line above, behind the same margin."""
        found = self._inner.before(line)
        if found is None or not (found.text + " ").startswith(self._margin):
            return None
        return replace(found, text=found.text[len(self._margin) :])


def read_group(log: Log, line: Line) -> bool:
    """Claim an exception group that begins on this line."""
    found = _HEAD.match(line.text.rstrip()) if "Exception Group Traceback" in line.text else None
    if found is None:
        return False
    block = _group(log, line, f"{found['margin']}| ", 0)
    if block is None:
        return False
    join_above(log, block)
    block.keep(log)
    return True


def _group(log: Log, head: Line, margin: str, depth: int) -> Block | None:
    """Read a group from its header on: its own frames and text, then its members."""
    inset = Inset(log, margin)
    frames, lines = read_frames(inset, inset.after(head))
    last = inset.after(lines[-1] if lines else head)
    if last is None:
        return None
    block = raised(inset, last, last.text.strip(), [head, *lines], tuple(frames), depth)
    members = _members(log, block.lines[-1], depth + 1)
    span = log.span(block.lines[0].start, (members.lines or block.lines)[-1].end)
    own = replace(block.errors[-1], span=span)
    inside = [e if e.within is not None else replace(e, within=span) for e in members.errors]
    return Block(
        [*inside, own],
        [*block.lines, *members.lines],
        [*block.stacks, *members.stacks],
        [*block.unread, *members.unread],
    )


def _members(log: Log, last: Line, depth: int) -> Block:
    found = Block()
    now = log.after(last)
    while now is not None:
        head = _MEMBER.match(now.text.rstrip())
        if head is None:
            break
        found.lines.append(now)
        number = head["number"]
        first = log.after(now)
        # `+-+--- 1 ---` opens the members two columns further in, the others stand there.
        width = now.text.rindex("+-") if "+-+" not in now.text else now.text.index("+-+") + 2
        margin = f"{' ' * width}| "
        if number is None or first is None or not first.text.startswith(margin.rstrip()):
            if number is not None or first is None:
                break
            return found  # the line below the last member
        member = _member(
            Inset(log, margin), log, replace(first, text=first.text[len(margin) :]), margin, depth
        )
        if member is None:
            break
        found.add(member)
        now = log.after(found.lines[-1])
    return found


def _member(inset: Inset, log: Log, first: Line, margin: str, depth: int) -> Block | None:
    if depth > _DEEPEST:
        return None
    if _INNER_HEAD.match(first.text):
        return _group(log, first, margin, depth)
    block = read_block(inset, first, depth)
    if block is None:
        block = raised(inset, first, first.text.strip(), [], (), depth)
    now = inset.after(block.lines[-1])
    while now is not None and not _MEMBER.match(now.text.rstrip()):  # notes (PEP 678) behind a lost margin
        block.lines.append(now)
        now = inset.after(now)
    return block

"""Ways to damage generated code, drawn by hypothesis: what an editor, a copy or a torn file does to it."""

import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_STRING = re.compile(r'"[^"\n]*"')


@dataclass(frozen=True)
class Damaged:
    """A text and what happened to it; a failing example shows the latter."""

    text: str = field(repr=False)
    how: tuple[str, ...]

    @property
    def data(self) -> bytes:
        """The text as a file holds it."""
        return self.text.encode("utf-8", "surrogateescape")


@st.composite
def damaged(draw: Any, text: str) -> Damaged:
    """Draw one text that one or two accidents have happened to."""
    how = []
    for _ in range(draw(st.integers(1, 2))):
        accident = draw(st.sampled_from(ACCIDENTS))
        changed = accident(draw, text)
        how.append(f"{accident.__name__}: {difference(text, changed)}")
        text = changed
    return Damaged(text, tuple(how))


def difference(old: str, new: str) -> str:
    """Where two texts begin to differ, and how long they are."""
    at = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return f"at {at}, {len(new) - len(old):+}: {old[at - 40 : at + 40]!r} -> {new[at - 40 : at + 40]!r}"


def _lines(draw: Any, text: str) -> tuple[list[str], int, int]:
    """Lines and a range of them; the second half of a wrapper, where the calls are, is hit more often."""
    lines = text.split("\n")
    low = draw(st.sampled_from([0, len(lines) // 2]))
    start = draw(st.integers(low, len(lines) - 1))
    return lines, start, min(start + draw(st.sampled_from([1, 1, 1, 2, 5, 30])), len(lines))


def cut_end(draw: Any, text: str) -> str:
    return text[: draw(st.integers(len(text) // 4, len(text)))]


def cut_start(draw: Any, text: str) -> str:
    return text[draw(st.integers(0, len(text) // 2)) :]


def remove_lines(draw: Any, text: str) -> str:
    lines, start, stop = _lines(draw, text)
    return "\n".join(lines[:start] + lines[stop:])


def repeat_lines(draw: Any, text: str) -> str:
    lines, start, stop = _lines(draw, text)
    return "\n".join(lines[:stop] + lines[start:stop] + lines[stop:])


def move_lines(draw: Any, text: str) -> str:
    lines, start, stop = _lines(draw, text)
    rest = lines[:start] + lines[stop:]
    at = draw(st.integers(0, len(rest)))
    return "\n".join(rest[:at] + lines[start:stop] + rest[at:])


def comment_out(draw: Any, text: str) -> str:
    lines, start, stop = _lines(draw, text)
    marks = draw(
        st.sampled_from([("/*", "*/"), ("//", ""), ("# ", ""), ("'''", "'''"), ('R"(', ')";'), ("/*", "")])
    )
    return "\n".join(
        [*lines[:start], marks[0] + lines[start], *lines[start + 1 : stop], marks[1], *lines[stop:]]
    )


def rename(draw: Any, text: str) -> str:
    """Rename a variable, everywhere or in one place."""
    names = sorted(set(_NAME.findall(text[len(text) // 2 :])))
    if not names:
        return text
    old = draw(st.sampled_from(names))
    new = draw(st.sampled_from(["other", "buf0", "arg0_1", "in_ptr0", old + "1", "s70", "é"]))
    if draw(st.booleans()):
        return re.sub(rf"\b{old}\b", new, text)
    places = [m.start() for m in re.finditer(rf"\b{old}\b", text)]
    at = draw(st.sampled_from(places)) if places else 0
    return text[:at] + new + text[at + len(old) :] if places else text


def drop_character(draw: Any, text: str) -> str:
    places = [m.start() for m in re.finditer(r"[(){}\[\];,\"'<>*&]", text)]
    at = draw(st.sampled_from(places[len(places) // 3 :] or [0]))
    return text[:at] + text[at + 1 :]


def insert(draw: Any, text: str) -> str:
    at = draw(st.integers(0, len(text)))
    what = draw(
        st.sampled_from(
            [
                "(",
                ")",
                "{",
                "}",
                '"',
                "'",
                "/*",
                "*/",
                "\\",
                "\x00",
                "\x1b[31m",
                "\n",
                ",",
                "<<<",
                '"""',
                "é" * 50,
            ]
        )
    )
    return str(text[:at] + what + text[at:])


def move_string(draw: Any, text: str) -> str:
    strings = [m.group() for m in _STRING.finditer(text)]
    if not strings:
        return text
    at = draw(st.integers(0, len(text)))
    return str(text[:at] + draw(st.sampled_from(strings)) + text[at:])


def swap_lines(draw: Any, text: str) -> str:
    lines, start, _ = _lines(draw, text)
    other = draw(st.integers(len(lines) // 2, len(lines) - 1))
    lines[start], lines[other] = lines[other], lines[start]
    return "\n".join(lines)


ACCIDENTS = (
    cut_end, cut_start, remove_lines, remove_lines, repeat_lines, move_lines, comment_out, rename, rename,
    drop_character, insert, move_string, swap_lines,
)  # fmt: skip

"""The head of a printed FX graph: its inputs, their annotations, and the names users gave them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.parse.text import branches

if TYPE_CHECKING:
    from lark import Token, Tree

_FALLBACK = re.compile(r'(\w+)\s*:\s*"([^"\n]*)"')
_MACHINE_MADE = re.compile(r"(?:arg|primals_|tangents_|fwd_rng_|bwd_rng_)\d+(?:_\d+)?|(?:s|u|zf|zuf)\d+")
_DYNAMO_SOURCE = re.compile(r"[LG]_(?P<path>\w+?)_*")
_START = "def forward("
_PART = re.compile(
    r'[ \t\r\n\f]*(?:(?P<name>[A-Za-z_]\w*)(?:[ ]*:[ ]*(?:"(?P<annotation>[^"\\\n]*)"'
    r"|(?P<type>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?=[ ]*[,)])))?"
    r"|(?P<sep>,)|(?P<comment>#[^\n]*)|(?P<end>\)[ ]*:[ \t\r\n\f]*\Z))"
)
_LONGEST = 4 << 20
_DIGITS = 10


@dataclass(frozen=True)
class Parameter:
    """A formal parameter of `forward`: `line` counts from 1 at the line with `def`.

    `annotation` is without its quotes; `descriptor` is the comment behind it (`PlainAOTInput(idx=0)`).
    """

    name: str
    annotation: str | None
    line: int
    descriptor: str | None = None
    starred: bool = False


def read_head(text: str) -> tuple[Parameter, ...]:
    """Read `def forward(self, ...):`, one or many lines; without `self`.

    A head that was cut or damaged gives the parameters that can still be told.
    """
    parameters = _plain_head(text)
    return read_any_head(text) if parameters is None else parameters


def _plain_head(text: str) -> tuple[Parameter, ...] | None:
    """Read a head of names, annotations in quotes or plain names of types, and comments; None for any other.

    A head has thousands of parameters, a trace thousands of heads: nearly all are of this form.
    """
    if not text.startswith(_START) or not text.isascii() or len(text) > _LONGEST:
        return None
    parameters: list[Parameter] = []
    line, counted, at = 1, 0, len(_START)
    while (found := _PART.match(text, at)) is not None:
        at = found.end()
        match found.lastgroup:
            case "name" | "annotation" | "type":
                start = found.start("name")
                line += text.count("\n", counted, start)
                counted = start
                parameters.append(Parameter(found["name"], found["type"] or found["annotation"], line))
            case "comment" if parameters:
                last = parameters[-1]
                comment = found["comment"].lstrip("# ").rstrip()
                parameters[-1] = Parameter(last.name, last.annotation, last.line, comment)
            case "end":
                return tuple(p for p in parameters if p.name != "self")
    return None


def read_any_head(text: str) -> tuple[Parameter, ...]:
    """Read a head of any form by `grammars/graph.lark`."""
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tree = parser("graph", "definition").parse(text[:_LONGEST])
    except LarkError:
        return _told(text)
    parameters: list[Parameter] = []
    for child in tree.children:
        if getattr(child, "data", "") == "parameter":
            parameters.append(_parameter(child))  # type: ignore[arg-type]
        elif getattr(child, "type", "") == "COMMENT" and parameters:
            last = parameters[-1]
            comment = str(child).lstrip("# ").rstrip()
            parameters[-1] = Parameter(last.name, last.annotation, last.line, comment, last.starred)
    return tuple(p for p in parameters if p.name != "self")


def _parameter(tree: Tree[Token]) -> Parameter:
    stars, name, annotation, _ = tree.children
    text: str | None = None
    if isinstance(annotation, str):
        text = annotation[1:-1]
    elif annotation is not None:
        text = ".".join(str(t) for t in annotation.children if isinstance(t, str))
    return Parameter(str(name), text, getattr(name, "line", 1), starred=stars is not None)


def _told(text: str) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(found[1], found[2], number)
        for number, line in enumerate(text.split("\n"), 1)
        for found in _FALLBACK.finditer(line)
    )


@lru_cache(maxsize=4096)
def described_input(descriptor: str) -> tuple[int | None, str | None]:
    """Return (index among the caller's inputs, module path) of an AOT descriptor.

    `PlainAOTInput(idx=3)` is (3, None), `ParamAOTInput(target='emb.weight')` is (None, 'emb.weight');
    anything else, also a component of one of those, is (None, None).
    """
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    if len(descriptor) > 1000 or descriptor.count("(") > 20:
        return None, None
    try:
        tree = parser("graph", "descriptor").parse(descriptor)
    except LarkError:
        return None, None
    name = tree.children[0]
    values = {
        str(f.children[0]): str(f.children[1]) for f in branches(tree) if isinstance(f.children[1], str)
    }
    index = values.get("idx", "")
    if name == "PlainAOTInput" and index.isdecimal() and len(index) < _DIGITS:
        return int(index), None
    if name in {"ParamAOTInput", "BufferAOTInput"} and "target" in values:
        return None, values["target"][1:-1]
    return None, None


@lru_cache(maxsize=4096)
def user_name(name: str) -> str | None:
    """Return the name behind a name of Dynamo (`L_table_` is `table`), None for other names.

    Dynamo writes every other character of a source as `_` (torch/_dynamo/output_graph.py), so
    `L_batch_ids_` may be `batch_ids` or `batch['ids']`: a describe_source record tells them apart.
    """
    found = _DYNAMO_SOURCE.fullmatch(name)
    if found is None:
        return None
    path = found["path"]
    for table in ("_parameters_", "_buffers_"):
        before, middle, last = path.rpartition(table)
        if middle:
            modules = [part for part in before.split("_modules_") if part]
            if modules and modules[0] == "self":
                modules = modules[1:]
            elif modules and modules[0].endswith("_self"):
                modules[0] = modules[0].removesuffix("_self")
            return ".".join([*modules, last])
    return path


@lru_cache(maxsize=4096)
def machine_made(name: str) -> bool:
    """Tell names that AOTAutograd makes (`arg0_1`, `primals_2`, `s70`): no user gave them."""
    return _MACHINE_MADE.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def lifted(name: str) -> bool:
    """Tell a name that torch.export may have made for a parameter, buffer or constant (`p_emb_weight`)."""
    return re.match(r"(?:p|b|c|obj)_\w|token(?:_\d+)?$", name) is not None


@lru_cache(maxsize=4096)
def mangled(origin: str) -> str:
    """Return the graph input's name that Dynamo makes of a source (`L['x']` is `L_x_`)."""
    return re.sub(r"[^a-zA-Z0-9]+", "_", origin)

"""Small readings that several kinds of compile-time text share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Token, Tree

    from aoti_logs.sources.source import Source

# torch 2.4 and 2.6 use sys.maxsize (and its neighbours) where later releases print int_oo.
_INFINITE = 2**63 - 2
_LARGEST = 512 << 20


def limit(text: str) -> int | None:
    """Return an end of a value range as a number; None for infinity (`int_oo`, `oo`, `sys.maxsize - 1`).

    Ends that are not whole numbers are None too: sizes are whole.
    """
    try:
        value = int(text[:64])
    except ValueError:
        return None
    return None if abs(value) >= _INFINITE else value


def json_object(source: Source) -> dict[str, Any]:
    """Return a source's JSON object; empty when it is none, is cut, or is absurdly large."""
    import json

    import orjson

    if source.size > _LARGEST:
        return {}
    raw = bytes(source.data)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        # json.dumps of Python also writes NaN and Infinity, which orjson refuses.
        try:
            value = json.loads(raw.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def branches(tree: Tree[Token]) -> list[Tree[Token]]:
    """Return the subtrees right below a node, without tokens and without what was absent."""
    from lark import Tree as Branch

    return [child for child in tree.children if isinstance(child, Branch)]

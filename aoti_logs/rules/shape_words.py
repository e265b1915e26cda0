"""How rules name what a log says over sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs.parse.sizes.shape_log import Decision, Where


def where_words(where: Where) -> str:
    """Write where a guard comes from: the user's line, else the line that torch names."""
    if where.file is None:
        return where.framework or ""
    text = f"{where.file}:{where.line} in {where.function}"
    return f"{text}: {where.code}" if where.code else text


def user_facts(where: Where) -> dict[str, Any] | None:
    """Return the user's frame as plain values; None where none is told."""
    if where.file is None:
        return None
    return {"file": where.file, "line": where.line, "function": where.function, "code": where.code}


def guard_facts(said: Decision) -> dict[str, Any]:
    """Return a guard as plain values; `function` is the one that `framework_location` lies in."""
    location, _, function = (said.where.framework or "").partition(" in ")
    return {
        "expr": said.expression,
        "prefix": said.prefix,
        "user_frame": user_facts(said.where),
        "framework_location": location or None,
        "function": function or None,
    }


def source_words(symbol: str | None, sources: tuple[str, ...]) -> str:
    """Name a size: what it measures, else its symbol."""
    if sources:
        return f"`{sources[0]}`"
    return f"`{symbol}`" if symbol else "a size"

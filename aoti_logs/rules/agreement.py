"""What several readings of one failure have in common."""

from __future__ import annotations

from typing import Any


def agreed(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that are the same in both; those inside of a fact are compared one by one."""
    both: dict[str, Any] = {}
    for key, value in first.items():
        if key not in second:
            continue
        if isinstance(value, dict) and isinstance(second[key], dict):
            inside = agreed(value, second[key])
            if any(v is not None for v in inside.values()) or not value:
                both[key] = inside
        elif value == second[key]:
            both[key] = value
    return both

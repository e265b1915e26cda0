"""A place in a page that a link leads to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A page, and what one finds there. `href` is relative to the report, ready for an attribute."""

    href: str
    label: str

"""What a rule is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.explain import Verdict


def never(case: IndexCase) -> Verdict | None:
    """Say nothing about an index; the rule has evidence of another kind."""
    del case
    return None


@dataclass(frozen=True)
class Rule:
    """A judgement about one kind of evidence.

    `page` is the text of `aoti-logs rules CODE` and of `docs/rules/CODE.md`: the docstring of the
    rule's module. `judge` says what it concludes from an index case, None when the rule does not apply.
    """

    code: str
    name: str
    page: str
    judge: Callable[[IndexCase], Verdict | None] = never

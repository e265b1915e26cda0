"""The line that called the model makes an index int32: a hint, as far as one name for two things is one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.rules.wording import input_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.explain import Link, Verdict

_NARROWED = r"\.(?:int\(\)|(?:to|type)\((?:dtype ?= ?)?torch\.(?:int32|int)\))"


def with_narrowed(verdicts: list[Verdict], case: IndexCase, called: Sequence[Link]) -> list[Verdict]:
    """Let a possible AL106 quote the call that makes a tensor of the index's name int32, and stand first of its equals."""
    at = next((n for n, v in enumerate(verdicts) if v.code == "AL106"), None)
    if at is None or verdicts[at].confidence is not Confidence.POSSIBLE:
        return verdicts
    for tensor in input_sources(case):
        for link in called if tensor.name is not None else ():
            found = re.search(rf"(?<![\w.]){re.escape(tensor.name or '')}{_NARROWED}", link.text)
            if found is not None:
                told = f"possible: the line that called the model makes it int32, `{found[0]}` ({link.place})"
                lifted = replace(verdicts[at], because=(*verdicts[at].because, told))
                return [lifted, *(v for n, v in enumerate(verdicts) if n != at)]
    return verdicts

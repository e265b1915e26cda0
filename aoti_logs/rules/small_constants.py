"""Weights so small that Inductor writes their values into the code: they are no constants of the model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence

INLINED = 8
"""Elements of a tensor of one dimension that are still written into the code (`can_inline_constant`, torch/_inductor/graph.py)."""
_MOST = 1 << 20  # characters of an exported program that are searched


def inlined(name: str, evidence: Evidence) -> Link | None:
    """Return where an exported program declares a weight of that module name with so few elements, else None.

    All programs at hand that have the weight have to agree.
    """
    found: list[Link] = []
    for signature in evidence.signatures:
        lifted = [i.name for i in signature.inputs if i.target == name]
        if not lifted:
            continue
        text = signature.source.text[:_MOST]
        declared = re.search(rf'\b{re.escape(lifted[0])}: "\w{{1,9}}\[(\d{{1,9}})\]"', text)
        if declared is None or int(declared[1]) > INLINED:
            return None
        place = signature.source.place(text.count("\n", 0, declared.start()) + 1)
        found.append(Link("exported", declared[0], place, Confidence.LIKELY))
    return found[0] if found else None

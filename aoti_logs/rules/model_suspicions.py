"""What may be behind a fault or a death inside of a compiled model, from all that is at hand: the first checks.

Device of the package against that of the inputs, dtypes, sizes and strides that were printed against those of the compile,
weights, kernels and operators that the compiler did not write. Nothing is chosen: each is said as sure as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.rules.device_suspects import suspects
from aoti_logs.rules.given_inputs import Given, given_inputs
from aoti_logs.rules.model_death import compared, fits, package_device, possible_causes
from aoti_logs.rules.model_weights import model_weights

if TYPE_CHECKING:
    from aoti_logs.explain import Link
    from aoti_logs.rules.error_case import ErrorCase


@dataclass(frozen=True)
class Suspicions:
    """Reasons in words with what they rest on; `device` is the package's, `checked` that inputs were compared, by the model or as they were printed."""

    because: tuple[str, ...]
    links: tuple[Link, ...]
    device: str | None
    checked: bool


def suspicions(case: ErrorCase, *, aoti: bool) -> Suspicions:
    """Return what is possible of a model of AOTInductor, or (`aoti` False) of code that torch.compile wrote."""
    kinds = compared(case.evidence, case.events) if aoti else frozenset()
    device = package_device(case.evidence)
    weights = model_weights(case.evidence)
    given = (
        given_inputs(case.events, case.evidence, case.error.span.start, case.error.rank) if aoti else Given()
    )
    causes = possible_causes(
        device[0] if device else None,
        weights=weights,
        aoti=aoti,
        kinds=kinds,
        releases=case.evidence.releases,
        printed=given.settled and not given.misfits,
    )
    fitting = (f"the inputs fit: {fits(kinds)} were compared, and none was refused",) if kinds else ()
    links = [device[1] if device else None, weights.link, *(m.link for m in given.misfits)]
    return Suspicions(
        (*given.because, *fitting, *causes, *suspects(case.evidence)),
        tuple(link for link in links if link is not None),
        device[0] if device else None,
        bool(kinds) or given.settled,
    )

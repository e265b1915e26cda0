"""What is known to end a process inside a compiled model without a word, and what a package says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.code.packages.weights import ValueIn
from aoti_logs.explain import Link
from aoti_logs.rules.device_run import inputs_checked

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.wrapper_release import Releases
    from aoti_logs.parse.events import LogEvents

_MOST = 64
"""So many wrappers are looked into."""
_DEVICE_KEY = re.compile(rb'"AOTI_DEVICE_KEY":\s*"(\w{1,20})"')


def compared(evidence: Evidence, events: LogEvents) -> frozenset[CheckKind]:
    """Return what of the inputs the model compared with what it was compiled for, before it ran.

    Nothing, unless code is at hand that compares: always, or since the command sets the variable that it reads (2.7 and newer).
    """
    asked = inputs_checked(events)
    ran = [
        check.kind
        for code in evidence.base.wrappers[:_MOST]
        if code.wrapper is not None and code.wrapper.flavour == "aoti_cpp"
        for check in code.wrapper.checks
        if check.input_index is not None and (asked or not check.gated)
    ]
    return frozenset(ran)


def fits(kinds: frozenset[CheckKind]) -> str:
    """Say what was compared."""
    words = (("kinds of device", {CheckKind.DEVICE}), ("dtypes", {CheckKind.DTYPE}))
    said = [word for word, own in words if own & kinds]
    return ", ".join([*said, "and what the wrapper tests of sizes and strides"])


def possible_causes(
    device: str | None,
    *,
    weights: Weights,
    aoti: bool,
    kinds: frozenset[CheckKind] = frozenset(),
    releases: Releases | None = None,
    printed: bool = False,
) -> tuple[str, ...]:
    """Return what may have happened, each said to be possible; none is chosen.

    Args:
        device: of the package.
        weights: where they are.
        aoti: it is a model of AOTInductor, which tests its inputs only when asked to.
        kinds: what it compared of its inputs, and refused none (`compared`).
        releases: those that can have compiled it.
        printed: its inputs were printed, and are those of the compile.
    """
    where = f" than the package's ({device})" if device else " than the package's"
    said = []
    if CheckKind.DEVICE in kinds:
        if device != "cpu":
            said.append(
                "possible: an input on another GPU than the model is on: the check compares the kind of device, not its number"
            )
    elif aoti and not printed:
        asked = "no check of this code tests that"
        if not kinds and not (releases is not None and releases.before((2, 8))):
            asked = "nothing checks that unless asked to"
        said.append(f"possible: an input on another device{where}; {asked}")
    if not kinds and not printed:
        said.append(
            "possible: an input of another dtype, a shorter or strided one, or a meta tensor, read as raw memory"
        )
    if weights.outside is not None:
        said.insert(
            0, "possible: weights that were never loaded: they are not in the library (load_constants)"
        )
    elif aoti and not weights.with_it:
        said.append("possible: weights that are not in the library and were never loaded (load_constants)")
    return tuple(said)


def package_device(evidence: Evidence) -> tuple[str, Link] | None:
    """Return the device that the model was compiled for, where one and only one is at hand."""
    found: dict[str, Link] = {}
    for source in evidence.sources:
        if source.name.endswith(("wrapper_metadata.json", "_metadata.json")) and len(source.data) < 1 << 20:
            key = _DEVICE_KEY.search(bytes(source.data))
            if key is not None:
                device = key[1].decode()
                found.setdefault(device, Link("package", f'"AOTI_DEVICE_KEY": "{device}"', source.place(1)))
    if not found:
        for code in evidence.base.wrappers:
            wrapper = code.wrapper
            if wrapper is not None and len(wrapper.devices) == 1:
                device = wrapper.devices[0]
                found.setdefault(
                    device, Link("package", f"the wrapper is compiled for {device}", wrapper.source.place(1))
                )
    return next(iter(found.items())) if len(found) == 1 else None


@dataclass(frozen=True)
class Weights:
    """Where the weights of the models at hand are: `outside` quotes that somebody has to load them, `with_it` that nobody has to."""

    outside: Link | None = None
    with_it: bool = False


def weights_told(evidence: Evidence) -> Weights:
    """Return what the wrappers and packages at hand say about weights."""
    stores = [model.weights for package in evidence.packages for model in package.models]
    for store in stores:
        if store.loaded_by_itself is False:
            return Weights(Link("weights", f"weights are not in the library: {store.why}", store.by))
    every = all(s.location is ValueIn.NOTHING or s.loaded_by_itself for s in stores)
    return Weights(with_it=bool(stores) and every)

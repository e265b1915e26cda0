"""What is known to end a process inside a compiled model without a word, and what a package says about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Link
from aoti_logs.rules.device_run import inputs_checked

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.wrapper_release import Releases
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.rules.model_weights import ModelWeights

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
    weights: ModelWeights,
    aoti: bool,
    kinds: frozenset[CheckKind] = frozenset(),
    releases: Releases | None = None,
    printed: bool = False,
) -> tuple[str, ...]:
    """Return what may have happened, each said to be possible; none is chosen.

    Args:
        device: of the package.
        weights: what is known of the model's weights.
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
    if aoti and weights.possible is not None:
        said.insert(0 if weights.absent else len(said), weights.possible)
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

"""A package was made on another platform, CPU or GPU than it is loaded on.

## What it says
Which key of the package's metadata differs (`AOTI_PLATFORM`, `AOTI_MACHINE`, `AOTI_CPU_ISA`,
`AOTI_COMPUTE_CAPABILITY`), what it is here and what the package says. It is a note: torch warns and goes on.

## Why it matters
Nothing happens where the difference does not matter. Where it does, the process dies of an illegal instruction, the
library does not load, or the driver refuses a kernel, and this warning is the only explanation.

## Example
`Device information mismatch for AOTI_MACHINE: x86_64 vs aarch64.`: here first, the package second.

## Evidence it needs
The warning (torch 2.10 and later).

## What to do
Compile on the kind of machine that serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.aoti.facts import DeviceInformation
from aoti_logs.parse.shape import fields, first
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.rules.log_notes import LogCase

_BEGINS = "Device information mismatch for "


def device_information(text: str) -> DeviceInformation | None:
    """Read the warning; None for any other text."""
    found = (
        fields("aoti_text", "information", text.partition("\n")[0].strip())
        if text.startswith(_BEGINS)
        else None
    )
    if found is None:
        return None
    return DeviceInformation(found["KEY"][0], first(found, "HERE") or "", first(found, "PACKAGE") or "")


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for each key that differs."""
    seen: set[DeviceInformation] = set()
    for message in case.events.messages:
        told = device_information(message.text)
        if told is None or told in seen:
            continue
        seen.add(told)
        title = f"the package was made for another machine: {told.key} is `{told.package}` there and `{told.current}` here"
        yield Finding(
            rule="AL219",
            kind="device_information_mismatch",
            role="note",
            severity="note",
            confidence=Confidence.PROVEN,
            title=title,
            facts={
                "device_information": {"key": told.key, "current": told.current, "package": told.package},
                "message": message.text,
            },
            rank=message.rank if message.rank is not None else case.source.rank,
            log=case.source.name,
            chain=(Link("warning", message.text, message.span.place),),
            verdicts=(Verdict("AL219", title, Confidence.PROVEN),),
        )


RULE = Rule("AL219", "package-of-another-machine", __doc__ or "")

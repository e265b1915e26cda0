"""The operating system's kernel wrote something about a GPU.

## What it says
NVIDIA's driver reports faults as Xids, with a number, the GPU and the process. The finding says what the number means, and
whether mostly
a program, the driver or the hardware is behind it; NVIDIA names several possible reasons for many of them.

## Why it matters
It tells a fault of the program (13, 31, 43) from one of the hardware (48, 74, 79, 94, 95), which no change of code mends,
and from mere cleaning up (45). An Xid 31 has the address and the direction of the access.

## Example
`NVRM: Xid (PCI:0000:01:00): 79, pid=4242, name=python3, GPU has fallen off the bus.`

## Evidence it needs
Lines of `dmesg`, `journalctl -k` or syslog. They are of the whole machine: the process id tells whether one belongs to the
run that failed.

## What to do
For a program's fault, find the kernel (AL301). For hardware, drain the machine, read `nvidia-smi -q` (ECC, retired pages,
remapped rows, NVLink), reset or replace the GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.errors.kernel_log import xids
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import Note
    from aoti_logs.rules.log_notes import LogCase

_MOST = 20
_MENDED = {63, 92, 121}
"""Xids that tell of errors which the hardware mended: nothing failed."""
_SOURCES = {
    "program": "mostly a program causes it",
    "driver": "mostly the driver or the firmware is behind it",
    "hardware": "mostly the hardware is behind it",
    "either": "a program or the hardware causes it",
}


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield a finding for each kind of Xid and GPU, and for each GPU of AMD."""
    groups: dict[tuple[str, ...], list[Note]] = {}
    for note in case.events.notes:
        facts = dict(note.facts)
        if note.kind == "xid":
            groups.setdefault(("xid", facts["number"], facts["device"]), []).append(note)
        elif note.kind == "amdgpu":
            groups.setdefault(("amdgpu", facts["text"], facts["device"]), []).append(note)
    failed = any(f.role == "cause" for f in case.told)
    for (kind, *_), notes in list(groups.items())[:_MOST]:
        yield _xid(case, notes, failed=failed) if kind == "xid" else _amdgpu(case, notes)


def _xid(case: LogCase, notes: list[Note], *, failed: bool) -> Finding:
    facts = dict(notes[0].facts)
    number = int(facts["number"][:9])
    known = xids().get(number) if facts["kind"] == "Xid" else None
    meaning = known.meaning if known is not None else "NVIDIA's catalogue has its meaning"
    times = f", {len(notes)} times" if len(notes) > 1 else ""
    title = f"{facts['kind']} {number} on GPU {facts['device']}{times}: {meaning}"
    hardware = known is not None and known.source == "hardware"
    because = (_SOURCES[known.source],) if known is not None else ()
    values: dict[str, Any] = {
        "xid": number,
        "device": facts["device"],
        "meaning": meaning if known is not None else None,
        "caused_by": known.source if known is not None else None,
        "count": len(notes),
        "pids": sorted(
            {int(p) for n in notes if (p := dict(n.facts).get("pid", "")).isdigit() and len(p) < 10}
        ),
        "process": facts.get("name"),
        "text": facts["text"],
    }
    lead = hardware and not failed and number not in _MENDED
    return Finding(
        rule="AL307",
        kind="xid",
        role="cause" if lead else "note",
        severity="error" if lead else "warning" if hardware else "note",
        confidence=Confidence.PROVEN,
        title=title,
        facts=values,
        log=case.source.name,
        rank=case.source.rank,
        chain=(Link("kernel log", facts["text"] or title, notes[0].span.place),),
        verdicts=(Verdict("AL307", title, Confidence.PROVEN, because),),
    )


def _amdgpu(case: LogCase, notes: list[Note]) -> Finding:
    facts = dict(notes[0].facts)
    times = f", {len(notes)} times" if len(notes) > 1 else ""
    title = f"amdgpu reports a {facts['text']} on GPU {facts['device']}{times}"
    return Finding(
        rule="AL307",
        kind="amdgpu",
        role="note",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "device": facts["device"],
            "text": facts["text"],
            "details": facts["details"],
            "count": len(notes),
        },
        log=case.source.name,
        rank=case.source.rank,
        chain=(Link("kernel log", f"{facts['text']} {facts['details']}".strip(), notes[0].span.place),),
        verdicts=(Verdict("AL307", title, Confidence.PROVEN, ()),),
    )


RULE = Rule("AL307", "kernel-log", __doc__ or "")

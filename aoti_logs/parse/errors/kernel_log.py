"""Lines of the operating system's kernel about a GPU: NVIDIA's Xids, page faults and timeouts of amdgpu.

Format: `grammars/kernel_log.lark`. dmesg, journald and syslog put their own time and host in front, which is not read
here. The meanings of Xids are those of NVIDIA's Xid catalogue (docs.nvidia.com/deploy/xid-errors).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Note
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_NVIDIA = re.compile(r"\bNVRM: S?Xid \([^\n]*")
_OTHER = re.compile(r"\bNVRM: ")
_AMD = re.compile(r"\bamdgpu [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d: [^\n]*")


@dataclass(frozen=True)
class Xid:
    """What an Xid means. `source` is `program`, `driver`, `hardware` or `either` (program or hardware)."""

    number: int
    meaning: str
    source: str


_XIDS = """\
8|driver|the GPU stopped processing
13|program|an exception of the graphics engine: an array index or an instruction of a kernel was illegal
31|program|a page fault of the GPU: a kernel used an address that is not mapped
32|either|an invalid or corrupted push buffer stream; the bus (PCIe) can be at fault, too
43|program|the GPU stopped a channel after an error of the program that uses it
45|program|channels are taken down because their program ended or was killed; a consequence
48|hardware|a double bit ECC error
56|hardware|an error of the display engine
57|hardware|an error in programming the video memory interface
58|hardware|unstable video memory interface, or errors from it
61|driver|a breakpoint or warning of the GPU's microcontroller
62|hardware|the GPU's microcontroller halted
63|hardware|a row of memory was remapped, or a page retired, after ECC errors
64|hardware|a row of memory could not be remapped, or a page not be retired
65|hardware|an exception of the video processor
68|driver|an exception of the NVDEC video engine
69|program|an exception of the graphics engine's class: a kernel or its launch was illegal
74|hardware|an error of NVLink
79|hardware|the GPU has fallen off the bus
92|hardware|a high rate of single bit ECC errors
94|hardware|a contained memory error: the program that used the memory ends, others go on
95|hardware|an uncontained memory error: all programs on the GPU end
109|driver|a context switch did not end in time
119|driver|the GPU's system processor (GSP) did not answer in time
120|driver|an error of the GPU's system processor (GSP)
121|hardware|a correctable error of the C2C link
136|driver|an event of the link training of NVLink
137|program|a fault of a peer's memory access over NVLink
140|hardware|an unrecovered ECC error
143|driver|an error while the GPU was initialised
145|hardware|an error of NVLink's receiver or transmitter
149|hardware|an error of NVLink
154|driver|what has to be done for the GPU to recover changed
"""


def xids() -> dict[int, Xid]:
    """Return the Xids that matter, by number."""
    rows = (row.split("|", 2) for row in _XIDS.splitlines())
    return {int(number): Xid(int(number), meaning, source) for number, source, meaning in rows}


def read_kernel_log(log: Log, line: Line) -> bool:
    """Claim a line of the kernel about a GPU."""
    text = line.text
    if "NVRM: " not in text and "amdgpu " not in text:
        return False
    found = _NVIDIA.search(text)
    if found is not None:
        read = fields("kernel_log", "xid", found[0].rstrip())
        if read is None:
            return False
        facts = [("number", read["NUMBER"][0]), ("device", read["DEVICE"][0]), ("kind", read["KIND"][0])]
        for key in ("PID", "NAME"):
            value = (first(read, key) or "").partition("=")[2].strip("'")
            if value:
                facts.append((key.lower(), value))
        facts.append(("text", first(read, "TEXT") or ""))
        log.notes.append(Note("xid", log.claim("kernel_log", [line]), tuple(facts)))
        return True
    if _OTHER.search(text):
        log.claim("kernel_log", [line])
        return True
    found = _AMD.search(text)
    read = fields("kernel_log", "amd", found[0].rstrip()) if found is not None else None
    if read is None:
        return False
    said = first(read, "FAULT") or read["RING"][0]
    facts = [("device", read["DEVICE"][0]), ("text", said), ("details", first(read, "DETAILS") or "")]
    log.notes.append(Note("amdgpu", log.claim("kernel_log", [line]), tuple(facts)))
    return True

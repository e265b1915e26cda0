"""Kernels that faulted, as NVIDIA's driver tells while it writes a core dump, and as cuda-gdb shows them.

Format: `grammars/device_exception.lark`. Both name the kernel in which the exception was raised: that is proof. The
driver's own log (`CUDA_LOG_FILE=stderr`) names the call that returned an error first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.device_errors import device_errors
from aoti_logs.parse.events import ErrorForm, ErrorText, Note
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_DUMP = re.compile(r"\[\d\d:\d\d:\d\d\.\d+\] coredump: ")
_LOG = re.compile(r"\[\d\d:\d\d:\d\d\.\d+\]\[\d+\]\[CUDA\]\[\w\] ")
_GDB_SAYS = re.compile(r"CUDA Exception: ")
_GDB_STOPS = re.compile(r"(?:Thread .*|Program) received signal CUDA_EXCEPTION_")
_GDB_MORE = re.compile(
    r"The exception was triggered at PC |\[(?:Switching focus|Current focus set) to CUDA kernel "
)
_GDB_FRAME = re.compile(r"(?P<number>#0\s+)?0x[0-9a-f]+ in (?P<name>\S.*)$|#0\s+(?P<bare>\S.*)$")
_LAUNCH = re.compile(r"(?P<kernel>.*?)\s?<<<\(")
_FUNCTION = re.compile(r"(?P<kernel>\S.*?)(?: \(|$)")
_AT = re.compile(r"\) at (?P<file>\S+):(?P<line>\d+)$")
_BLANK = 2  # blank lines within one exception: cuda-gdb writes one before the signal
_WHAT = {
    "WARP_ILLEGAL_ADDRESS": "cudaErrorIllegalAddress",
    "LANE_ILLEGAL_ADDRESS": "cudaErrorIllegalAddress",
    "DEVICE_ILLEGAL_ADDRESS": "cudaErrorIllegalAddress",
    "WARP_OUT_OF_RANGE_ADDRESS": "cudaErrorIllegalAddress",
    "WARP_MISALIGNED_ADDRESS": "cudaErrorMisalignedAddress",
    "LANE_MISALIGNED_ADDRESS": "cudaErrorMisalignedAddress",
    "WARP_INVALID_ADDRESS_SPACE": "cudaErrorInvalidAddressSpace",
    "WARP_ILLEGAL_INSTRUCTION": "cudaErrorIllegalInstruction",
    "WARP_INVALID_PC": "cudaErrorInvalidPc",
    "WARP_HARDWARE_STACK_OVERFLOW": "cudaErrorHardwareStackError",
    "DEVICE_HARDWARE_STACK_OVERFLOW": "cudaErrorHardwareStackError",
    "WARP_ASSERT": "cudaErrorAssert",
    "LANE_USER_STACK_OVERFLOW": "cudaErrorLaunchFailure",
}
"""Exceptions of cudadebugger.h and the error that the runtime returns for them."""
_MOST = 4000  # lines of one dump


@dataclass(frozen=True)
class DeviceException:
    """An exception of a kernel. `name` is that of cudadebugger.h without its prefix (`WARP_ILLEGAL_ADDRESS`).

    `kernel` is the innermost frame on the device; `frames` are all of them. `thread` and `block` where cuda-gdb tells.
    """

    name: str
    code: int
    error: str | None = None
    kernel: str | None = None
    frames: tuple[str, ...] = ()
    pc: str | None = None
    file: str | None = None
    line: int | None = None
    device: str | None = None
    sm: str | None = None
    warp: str | None = None
    thread: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None


def read_device_exception(log: Log, line: Line) -> bool:
    """Claim what the driver or cuda-gdb says of a kernel that faulted."""
    text = line.text.strip()
    if _DUMP.match(text):
        return _dump(log, line)
    if _LOG.match(text):
        return _driver_log(log, line, text)
    # A focus alone is no exception: a person moved it, or a core dump of a kernel that hangs was opened.
    return _gdb(log, line) if _GDB_SAYS.match(text) or _GDB_STOPS.match(text) else False


def _dump(log: Log, line: Line) -> bool:
    lines: list[Line] = []
    found: DeviceException | None = None
    closed = False
    now: Line | None = line
    while now is not None and len(lines) < _MOST and _DUMP.match(now.text.strip()):
        lines.append(now)
        read = fields("device_exception", "dump", now.text.strip())
        if read is not None and "EXCEPTION" in read:
            closed = found is not None  # the next warp: the first one is told
            found = found or _exception(read["EXCEPTION"][0].removeprefix("CUDBG_EXCEPTION_"), read)
        elif read is not None and found is not None and not closed:
            found = _more(found, read)
        now = log.after(now)
    _add(log, lines, found)
    return True


def _exception(name: str, read: Fields) -> DeviceException:
    return DeviceException(name, int(read["CODE"][0][:9]), _WHAT.get(name))


def _more(found: DeviceException, read: Fields) -> DeviceException:
    if "KERNEL" in read:
        frames = (*found.frames, read["KERNEL"][0].strip())
        return replace(found, frames=frames, kernel=found.kernel or frames[0])
    key = (first(read, "FIELD") or "").lower()
    value = (first(read, "VALUE") or "").lstrip(": ")
    if key in {"device", "sm", "warp", "pc"} and getattr(found, key) is None:
        return replace(found, **{key: value})  # type: ignore[arg-type]  # these fields are texts
    return found


def _gdb(log: Log, line: Line) -> bool:
    lines: list[Line] = []
    parts: dict[str, object] = {}
    said = ""
    blank: list[Line] = []
    stopped = False
    now: Line | None = line
    while now is not None and len(lines) < _MOST and len(blank) <= _BLANK:
        text = now.text.strip()
        if not text:
            blank.append(now)
            now = log.after(now)
            continue
        frame = _GDB_FRAME.match(text)
        if frame is not None:
            _gdb_frame(parts, frame, text)
            if frame["name"] and not frame["number"]:
                lines += (*blank, now)  # a numbered one belongs to the stack below
            break
        signal = _GDB_STOPS.match(text) is not None
        if (signal and stopped) or (lines and _GDB_SAYS.match(text)):
            break  # the next exception
        if not signal and now is not line and not _GDB_MORE.match(text):
            break
        stopped = stopped or signal
        lines += (*blank, now)
        blank = []
        read = fields("device_exception", "gdb", text) or {}
        said = said or first(read, "EXPLAINED") or ""
        _gdb_parts(parts, read)
        now = log.after(now)
    name = re.sub(r"[^A-Z0-9]+", "_", said.upper()).strip("_") or "UNKNOWN"
    code = parts.pop("code", 0)
    function = parts.pop("function", None)
    if function is not None:
        parts.setdefault("kernel", function)
    found = DeviceException(name, int(str(code)), _WHAT.get(name))
    _add(log, lines, replace(found, **parts))  # type: ignore[arg-type]  # the keys are names of its fields
    return True


def _gdb_frame(parts: dict[str, object], frame: re.Match[str], text: str) -> None:
    """Take the kernel from a frame: surely where it shows the launch, else if nothing else tells a name."""
    name = frame["name"] or frame["bare"]
    launch = _LAUNCH.match(name)
    plain = _FUNCTION.match(name)
    if launch is not None:
        parts["kernel"] = launch["kernel"].strip()
    elif plain is not None:
        parts.setdefault("function", plain["kernel"].strip())
    at = _AT.search(text)
    if at is not None and "file" not in parts:
        parts |= {"file": at["file"], "line": int(at["line"][:9])}


def _gdb_parts(parts: dict[str, object], read: Fields) -> None:
    if "CODE" in read:
        parts["code"] = int(read["CODE"][0][:9])
    if "ADDRESS" in read:
        parts["pc"] = read["ADDRESS"][0]
    if "FUNCTION" in read:
        parts["function"] = read["FUNCTION"][0].strip()
    if "FILE" in read:
        parts |= {"file": read["FILE"][0], "line": int(read["LINE"][0][:9])}
    if "TRIPLE" in read:
        block, thread = (tuple(int(n[:9]) for n in t.strip("()").split(",")) for t in read["TRIPLE"])
        parts |= {"block": block, "thread": thread}


def _add(log: Log, lines: list[Line], found: DeviceException | None) -> None:
    span = log.claim("device_exception", lines)
    if found is None:
        return
    message = f"{found.name}" + (f" in {found.kernel}" if found.kernel else "")
    log.errors.append(
        ErrorText(
            ErrorForm.DEVICE,
            message,
            span,
            text=message,
            cuda_error=found.error,
            rank=lines[0].rank,
            detail=found,
        )
    )


def _driver_log(log: Log, line: Line, text: str) -> bool:
    """Claim a line of the driver's log; keep which call returned a sticky error."""
    read = fields("device_exception", "log", text)
    span = log.claim("cuda_log", [line])
    if read is not None and "API" in read:
        code = int(read["CODE"][0][:9])
        if any(e.code == code and e.sticky for e in device_errors().values()):
            facts = (("code", str(code)), ("error", read["ERROR"][0]), ("api", read["API"][0]))
            log.notes.append(Note("cuda_log", span, facts))
    return True

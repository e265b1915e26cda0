"""What is printed after a device or a process has failed, and is never the cause: as data, with the reason for each.

After a sticky error every later call of the process into CUDA returns the same error again: destructors, the caching
allocator, the watchdog thread of a process group. After a process died, its peers and its launcher report that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.errors.sanitizer import SanitizerReport
from aoti_logs.parse.events import ErrorForm

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText


@dataclass(frozen=True)
class Aftermath:
    """A text that follows from something else. `who` reports it, `why` it is not the cause.

    `sure` is False where the text can also be the first sign of a failure (a network that broke).
    """

    who: str
    why: str
    pattern: re.Pattern[str]
    sure: bool = True


AFTERMATHS: tuple[Aftermath, ...] = (
    Aftermath(
        "watchdog",
        "the watchdog thread of a process group asks the device whether collectives are done, and gets the error of an "
        "earlier kernel",
        re.compile(r"[Ww]atchdog thread terminated with exception: (?:CUDA|HIP) error"),
    ),
    Aftermath(
        "watchdog",
        "a process group takes its process down after a collective failed",
        re.compile(
            r"Some NCCL operations have failed or timed out|we are taking the entire process down|"
            r"Terminating the process after|(?:failure|Exception \(either an error or timeout\)) detected by watchdog|"
            r"Received a dump signal|Process group watchdog thread terminated with exception: \[Rank|"
            r"Process will be terminated|Stack trace of the failed collective"
        ),
    ),
    Aftermath(
        "watchdog",
        "the watchdog of a process group raises again what it was told: the text of that stands above, or is lost",
        re.compile(
            r"Exception raised from (?:run|runLoop|watchdogHandler|ncclCommWatchdog\w*|workCleanupLoop) at "
            r"\S{0,400}ProcessGroupNCCL\.cpp"
        ),
    ),
    Aftermath(
        "watchdog",
        "the monitor of the watchdog says that it waited in vain for it: a collective or a call into the device hangs",
        re.compile(
            r"watchdog got stuck for \d+ ?seconds|Heartbeat monitor timed out!|ProcessGroupNCCL watchdog hang"
        ),
        sure=False,
    ),
    Aftermath(
        "destructor",
        "a destructor returns what it holds to a device that has failed already",
        re.compile(r"Failed to \w+ [^:]{1,60} in AOTInductor model"),
    ),
    Aftermath(
        "launcher",
        "a launcher reports that a worker ended",
        re.compile(
            r"ChildFailedError|ProcessRaisedException|ProcessExitedException|SignalException|"
            r"process \d+ terminated with (?:signal|exit code)|EngineDeadError|Engine core proc\w* died"
        ),
    ),
    Aftermath(
        "peer",
        "a connection was closed from the other side: that process had ended",
        re.compile(
            r"(?:sendBytes|recvValue\w*|recvVector) failed on|Failed to recv, got 0 bytes|"
            r"Connection (?:reset|closed) by peer|Broken pipe|remote process exited or there was a network error|"
            r"ncclRemoteError|Application timeout caused pair closure"
        ),
        sure=False,
    ),
)


def aftermath(error: ErrorText) -> Aftermath | None:
    """Return why an error is no cause whatever stands before it, None where it may be one."""
    raised = error.raised_from
    said = error.message
    if not said and raised is not None:
        said = f"Exception raised from {raised.function} at {raised.file}"
    text = f"{error.exception_type or ''}: {said}"[:2000]
    return next((a for a in AFTERMATHS if a.pattern.search(text)), None)


def is_sticky(error: ErrorText) -> bool:
    """Tell whether later calls of the process into the device's runtime return the same error again."""
    if error.form is ErrorForm.SANITIZER:
        report = error.detail
        return isinstance(report, SanitizerReport) and report.what == "access"
    fault = device_fault(error.text or error.message)
    return fault is not None and fault.error is not None and fault.error.sticky


def repeats(error: ErrorText, cause: ErrorText) -> str | None:
    """Return why a later error follows from a sticky one of the same process, None where it does not show that.

    A library's status (`CUBLAS_STATUS_EXECUTION_FAILED`) and a failed launch are what a sticky error looks like from
    there. An error that stood before the cause, or one that is no device's, follows from nothing here.
    """
    if error.span.start <= cause.span.start or not is_sticky(cause):
        return None
    if error.rank is not None and cause.rank is not None and error.rank != cause.rank:
        return None
    known = aftermath(error)
    if known is not None and known.who in {"watchdog", "destructor"}:
        return known.why
    if error.form is ErrorForm.SANITIZER:
        return "compute-sanitizer goes on with the next thread" if cause.form is ErrorForm.SANITIZER else None
    fault, first = device_fault(error.text or error.message), device_fault(cause.text or cause.message)
    if fault is None:
        return None
    if first is not None and fault.error is not None and first.error is not None:
        same = fault.error.name == first.error.name
        return "every later call into the device's runtime returns the same error" if same else None
    return "a call into a device that has failed already"

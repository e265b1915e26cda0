"""How a later error of a run stands to the one that is its cause: the same again, known to follow, or only after it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.aftermath import aftermath, is_sticky, repeats

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.sources.source import Span


class Relation(StrEnum):
    """What is known about a later error."""

    AGAIN = "again"
    """The same failure, told once more."""
    FOLLOWS = "follows"
    """It is a kind of error that comes of the cause."""
    AFTER = "after"
    """It stands after it; whether it follows is not known."""
    BEFORE = "before"
    """It stands before it: handled, or the program's own words."""


_PARENT = re.compile(
    r"(?:[\w.]*\.)?(?:ChildFailedError|ProcessRaisedException|ProcessExitedException|ProcessException|RayTaskError|"
    r"RayActorError|ActorDiedError|OwnerDiedError|WorkerCrashedError|NodeDiedError|RemoteError|EngineDeadError|"
    r"EngineGenerateError|BrokenProcessPool|CalledProcessError|EOFError|BrokenPipeError|ConnectionResetError|"
    r"ConnectionRefusedError|ConnectionAbortedError|DistStoreError|DistNetworkError)\b"
)
"""Exceptions of a process whose child, worker or peer failed."""
_HEARD = re.compile(
    r"(?i:see (?:the )?(?:root cause|error|stack trace|traceback)s? above)|Engine core (?:proc|initialization)|"
    r"died with <Signals|died unexpectedly|terminated with (?:signal|the following error|exit code)|exitcode *:|"
    r"recvBytes failed|Connection (?:reset by peer|closed by (?:remote )?peer)|remote process (?:has )?exited|"
    r"Process group watchdog|Watchdog caught|detected by watchdog|Stack trace of the failed collective|Some NCCL operations have failed or timed out|taking (?:the )?entire process down|"
    r"To avoid (?:data inconsistency|this inconsistency)|failed \(exitcode|Worker failed with error|"
    r"was killed by signal|exited unexpectedly|Failures:|closing signal SIGTERM"
)
"""What is said about another process, or about work of a process group that failed."""
_ENDING = re.compile(
    r"Failed to (?:free GPU memory|destroy CUDA event|unload CUDA module)|"
    r"terminate called recursively|Process group watchdog thread terminated|"
    r"The above exception|while shutting down|during (?:shutdown|teardown|destruction)|destroy_process_group"
)
"""What destructors and threads say while a process ends."""
_CALL = re.compile(r"(?:run_func_|AOTInductorModel\w*Run\w*)\s*\(")
_TELLING = 12  # characters of a message of which one is no other
_SHORT = 2000


def is_secondary(error: ErrorText) -> bool:
    """Tell whether an error speaks of the failure of another process, or only of a process's end."""
    said = f"{error.exception_type or ''}: {error.text[:_SHORT] or error.message[:_SHORT]}"
    if error.form is ErrorForm.SIGNAL:
        return False
    if error.form is ErrorForm.TERMINATE and not error.message:
        return True
    if _PARENT.match(error.exception_type or "") or aftermath(error) is not None:
        return True
    return any(p.search(said) for p in (_ENDING, _HEARD))


def relation(cause: ErrorText, later: ErrorText) -> Relation:
    """Return how an error of the same run and rank stands to the cause."""
    message = cause.message
    if later.message == message and later.exception_type in {None, cause.exception_type}:
        return Relation.AGAIN
    if len(message) >= _TELLING and (message in later.text or message in later.message):
        return Relation.AGAIN
    if cause.within is not None and _holds(later.span, cause.within):
        return Relation.FOLLOWS  # it hands the other one on in its message
    if later.span.start < cause.span.start:
        return Relation.BEFORE
    if cause.form in {ErrorForm.AOTI_ERROR, ErrorForm.SHIM} and _CALL.match(later.message):
        return Relation.AGAIN
    if is_secondary(later) or (later.form is ErrorForm.SIGNAL and _ends(cause)):
        return Relation.FOLLOWS
    if repeats(later, cause) is not None:
        return Relation.FOLLOWS
    return Relation.AFTER


def hands_on(error: ErrorText) -> bool:
    """Tell whether an error is that of a whole call of a model, which fails because something in it did."""
    return _CALL.match(error.message) is not None


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _ends(cause: ErrorText) -> bool:
    """Tell whether a process ends by a signal because of such an error."""
    return cause.form in {ErrorForm.TERMINATE, ErrorForm.SIGNAL, ErrorForm.CPP} or is_sticky(cause)

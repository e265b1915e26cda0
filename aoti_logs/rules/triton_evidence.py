"""What else of a log tells about a Triton kernel that failed: the frames that ask for it, torch's printed source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.compiles.failure import FailureKind, TritonError
from aoti_logs.parse.errors.triton_dump import read_dump
from aoti_logs.parse.errors.triton_error import kernel_name
from aoti_logs.rules.al613_triton_dump import dump_facts, dump_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.parse.compiles.failure import Failure
    from aoti_logs.parse.errors.triton_dump import TritonDump
    from aoti_logs.parse.events import ErrorText, LogLine

_KINDS = {FailureKind.TRITON, FailureKind.RESOURCES, FailureKind.SUBPROCESS, FailureKind.KERNEL_IMAGE}
_ABOVE = 1 << 16  # bytes above an exception in which MLIR's words are looked for
_MLIR = re.compile(rb"^[^\n]{0,400}?\berror: (?P<said>'[a-z_]+\.[\w.]+' op [^\n\r]{1,400})", re.MULTILINE)
_TELLING = 12  # characters of a message of which one is no other
_ASKED = re.compile(r"^(?P<called>\w+) = async_compile\.triton\('(?P<kernel>\w+)'")
_LAUNCHED = re.compile(r"^(?:\w+ = )?(?P<kernel>\w+)\[.{1,400}\]\(")
_DEFINED = re.compile(r"^\s*def (?P<kernel>\w+)\(")


def triton_evidence(
    failure: Failure, errors: Sequence[ErrorText], messages: Iterable[LogLine]
) -> tuple[dict[str, Any], tuple[Link, ...]]:
    """Return facts and links of a failure of Triton; nothing for any other failure.

    Args:
        failure: what failed.
        errors: the exceptions of its chain.
        messages: the messages of the same run.
    """
    if failure.kind not in _KINDS and failure.backend != "inductor":
        return {}, ()
    kernel = _kernel(failure, errors)
    start, rank = min(e.span.start for e in errors), errors[-1].rank
    found = None
    for message in messages:
        if message.span.start > start or message.rank != rank:
            continue
        dump = read_dump(message)
        if dump is not None and (
            kernel is None or dump.kernel in {None, kernel} or _same(dump.kernel, kernel)
        ):
            found = message, dump
    if found is None:
        said = _mlir_above(errors[0]) if failure.kind is FailureKind.TRITON else None
        facts = {"kernel": kernel} if kernel and failure.kind in _KINDS else {}
        return (facts, ()) if said is None else ({**facts, "mlir_error": said.text}, (said,))
    message, dump = found
    places = tuple(message.span.source.place(n) for n in message.lines)
    facts = {k: v for k, v in dump_facts(dump, message).items() if v not in (None, [])}
    facts.pop("process", None)
    return {**facts, "kernel": kernel or dump.kernel}, tuple(dump_links(dump, places))


def _mlir_above(error: ErrorText) -> Link | None:
    """Return the last line above an exception that MLIR printed about an operation (mlir/lib/IR/Diagnostics.cpp).

    It says `error: 'tt.load' op requires ...`, with or without a location before it.
    """
    source, start = error.span.source, error.span.start
    low = max(0, start - _ABOVE)
    rank = b"" if error.rank is None else b"rank%d]" % error.rank
    found = None
    for match in _MLIR.finditer(bytes(source.data[low:start])):
        if rank in match[0]:
            found = match
    if found is None:
        return None
    said = found["said"].decode("utf-8", "replace").strip()
    return Link("mlir", said, source.place(source.line_at(low + found.start("said"))), Confidence.LIKELY)


def _told_by(dump: TritonDump, failure: Failure) -> bool:
    """Tell whether a printed kernel's exception is the one of a failure that does not speak of Triton itself."""
    said = (dump.error or "").partition("\n")[0].partition(": ")[2]
    return len(said) > _TELLING and said in failure.text


def _same(one: str | None, other: str) -> bool:
    """Tell whether a kernel is the other one, which torch numbers (`scale_kernel_0`)."""
    return one is not None and one.rpartition("_")[0] == other


def _kernel(failure: Failure, errors: Sequence[ErrorText]) -> str | None:
    named = kernel_name(failure.text)
    if named is not None:
        return named
    detail = failure.detail
    if isinstance(detail, TritonError) and detail.excerpt and detail.line == len(detail.excerpt):
        defined = next((m for row in detail.excerpt if (m := _DEFINED.match(row))), None)
        if defined is not None:
            return defined["kernel"]
    for error in errors:
        for frame in reversed(error.python_frames):
            code = frame.code or ""
            asked = _ASKED.match(code)
            if asked is not None:
                return asked["kernel"]
            launched = _LAUNCHED.match(code)
            if launched is not None and "/triton/" not in frame.file.replace("\\", "/"):
                return launched["kernel"]
    return None

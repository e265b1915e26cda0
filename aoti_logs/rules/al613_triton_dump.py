"""A kernel was printed because Triton could not compile it.

## What it says
The logger of torch printed the source of a kernel with a prefix on each line. That is what torch does when Triton
refuses a kernel; the finding names the kernel, its arguments and settings, and quotes what Triton said where the
log has it.

## Why it matters
The printed source holds `tl.device_assert(...)` with the words `index out of bounds`. They look like a failed check of
an index; none has run.

## Example
`E0305 ... triton_heuristics.py:533]     tl.device_assert(((0 <= tmp43) & (tmp43 < 8192)) | ~(tmp34), "index out of ...")`

## Evidence it needs
Lines of `torch/_inductor/runtime/triton_heuristics.py` at level ERROR. Whether the exception reached the program is told
by its traceback; while configurations are tried, torch handles some of them.

## What to do
Look for `CompilationError` below the source: its line and column count in that source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link, Missing
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.failure import Failure, FailureKind, TritonError
from aoti_logs.parse.errors.triton_dump import TritonDump, read_dump
from aoti_logs.parse.errors.triton_error import inner_error
from aoti_logs.rules.failure_case import FailureCase, Reached, Told
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogLine
    from aoti_logs.rules.log_notes import LogCase

_DOUBT = "torch writes this before the exception is raised; the program may have caught it"
_SHOWN = 3


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield what the printed kernels tell that no exception of the log does."""
    quoted = {link.place for f in case.told for link in f.chain if link.step == "printed"}
    prefixed = sum(len(m.lines) for m in case.events.messages)
    done: set[tuple[str | None, str | None]] = set()
    for message in case.events.messages:
        dump = read_dump(message)
        if dump is None or (dump.kernel, dump.error) in done:
            continue
        done.add((dump.kernel, dump.error))
        if message.span.source.place(message.lines[0]) in quoted:
            continue  # its exception has told it
        yield failure_finding(_case(message, dump, case, prefixed))


def _case(message: LogLine, dump: TritonDump, case: LogCase, prefixed: int) -> FailureCase:
    places = tuple(message.span.source.place(n) for n in message.lines)
    failure = _failure(dump, message)
    return FailureCase(
        failure=failure,
        place=places[dump.error_row or 0] if places else message.span.place,
        text_places=places[dump.error_row or 0 :] if failure.kind is not FailureKind.TRITON_DUMP else places,
        compile_id=message.compile_id,
        reached=Reached.RAISED if not any(f.role == "cause" for f in case.told) else Reached.UNKNOWN,
        doubt=_DOUBT,
        told=tuple(dump_links(dump, places)) if failure.kind is not FailureKind.TRITON_DUMP else (),
        rank=message.rank if message.rank is not None else case.source.rank,
        log=case.source.name,
        facts={**dump_facts(dump, message), "n_glog_records": prefixed},
    )


def _failure(dump: TritonDump, message: LogLine) -> Failure:
    if dump.error is not None:
        name, _, said = dump.error.partition(": ")
        read = read_failure(name if "(" not in name and "\n" not in name else None, said or dump.error)
        if read.kind is not FailureKind.OTHER:
            return read
        first = dump.error.partition("\n")[0]
        detail = inner_error(first)
        if detail is not None:  # the excerpt has the last line of Triton's message alone
            return Failure(FailureKind.TRITON, None, (), first, dump.error, detail=detail)
        if said:  # an exception of Python while Triton read the kernel
            told = TritonError("source", said=said.partition("\n")[0], inner=None)
            return Failure(FailureKind.TRITON, name, (), told.said, dump.error, detail=told)
    return Failure(FailureKind.TRITON_DUMP, None, (), message.text.partition("\n")[0], message.text)


def dump_facts(dump: TritonDump, message: LogLine) -> dict[str, Any]:
    """Return what a printed kernel says, as plain values."""
    meta = dump.metadata or {}
    facts: dict[str, Any] = {
        "runtime_assert_failed": False,
        "n_assert_lines": 0,
        "log_level": message.level[:1],
        "log_file": message.module,
        "log_line": message.module_line,
        "process": message.process,
        "template_kernel": dump.template,
        "device_assert_source": [
            {
                "operand": c.text.operand,
                "operand_tmp": c.text.operand_name,
                "lower": c.text.lower,
                "bound": c.text.bound,
                "mask": c.mask,
            }
            for c in dump.checks
        ],
    }
    if dump.kernel is not None:
        facts["kernel"] = dump.kernel
    if meta:
        facts["triton_meta"] = {
            k: meta[k]
            for k in (
                "signature",
                "num_warps",
                "num_stages",
                "num_ctas",
                "cc",
                "device",
                "device_type",
                "constants",
                "debug",
            )
            if k in meta
        }
    return facts


def dump_links(dump: TritonDump, places: Sequence[Any]) -> Iterator[Link]:
    """Quote where the kernel was printed."""
    name = f"`{dump.kernel}`" if dump.kernel else "a kernel"
    settings = [
        f"{k}={dump.metadata[k]}" for k in ("num_warps", "num_stages") if dump.metadata and k in dump.metadata
    ]
    details = [f"{dump.n_lines} lines, from here on", *([", ".join(settings)] if settings else [])]
    yield Link(
        "printed", f"torch's logger printed {name}", places[0] if places else None, details=tuple(details)
    )
    for check in dump.checks[:_SHOWN]:
        place = places[check.row] if check.row < len(places) else None
        yield Link("source", f"a check in the printed source, which has not run: {check.text.full}", place)


def tell(case: FailureCase) -> Told:
    """Say that a kernel was printed, and that nothing in it has run."""
    kernel = case.facts.get("kernel")
    checks = case.facts.get("device_assert_source") or []
    links: list[Link] = []
    for row, line in enumerate(case.failure.text.split("\n")):
        if "tl.device_assert(" in line and len(links) < _SHOWN:
            links.append(
                Link(
                    "source",
                    line.strip()[:200],
                    case.place_of(row),
                    details=("printed source; it has not run",),
                )
            )
    return Told(
        f"Triton could not compile {f'kernel `{kernel}`' if kernel else 'a kernel'}, whose source torch printed",
        because=(
            f"{case.facts.get('log_file')} prints a kernel at level ERROR when its compile fails",
            *(("the bounds checks in it are source code: none of them has failed",) if checks else ()),
        ),
        links=tuple(links),
        missing=(
            Missing(
                "what Triton said", "the lines below the printed source, or the traceback of the same run"
            ),
        ),
    )


RULE = Rule("AL613", "triton-kernel-printed", __doc__ or "")

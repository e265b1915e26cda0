"""What tlparse says wrongly of a trace, or leaves out, told from the trace and from what tlparse printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.records.envelope import CONTEXT_KEYS
from aoti_logs.report.outputs import NAMED
from aoti_logs.report.text import many, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aoti_logs.explain import Explanation
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.report.counts import Counts
    from aoti_logs.report.plan import Slot
    from aoti_logs.report.tlparse import Options, Said
    from aoti_logs.sources.source import Place

_ISSUES = (
    "guard_added",
    "propagate_real_tensors_provenance",
    "missing_fake_kernel",
    "mismatched_fake_kernel",
    "guard_on_data_dependent_error",
)
_DRAFT = (*_ISSUES, "exported_program", "expression_created", "export")
_OTHER_METRICS = ("bwd_compilation_metrics", "compilation_metrics_runtime", "bwd_compilation_metrics_runtime")
_BY_ATTEMPT = ("symbolic_shape_specialization", "guard_added_fast")
_MOST = 5
_INDEX = 8 << 20


@dataclass(frozen=True)
class Shortfall:
    """A sentence, and where in the trace one sees it."""

    sentence: str
    places: tuple[Place, ...] = ()
    always: bool = False
    """True for what is so for every trace; the page says it, the screen does not."""


def shortfalls(
    slot: Slot, said: Said, counts: Counts, folder: Path, options: Options, explanation: Explanation
) -> Iterator[Shortfall]:
    """Yield what a reader of a tlparse report should know.

    Args:
        slot: the trace.
        said: what tlparse printed about it.
        counts: our counts and tlparse's.
        folder: where its report is.
        options: what tlparse was asked for.
        explanation: our findings.
    """
    index = slot.feed.trace.index
    if options.export:
        yield from _export(index, folder, explanation)
    else:
        yield from _usual(index, folder, explanation)
    yield from _unknown(index, said)
    yield from _rejected(index, said)
    yield from _stats(index, counts)


def _stats(index: TraceIndex, counts: Counts) -> Iterator[Shortfall]:
    stats = counts.tlparse or {}
    if other := stats.get("other_rank"):
        yield Shortfall(f"{many(other, 'record', 'are')} left out as another rank's")
    if counts.damaged:
        yield Shortfall(
            f"{many(counts.damaged, 'record', 'are')} damaged; tlparse's pages show what is there of them "
            "without a word",
            tuple(index.source.place(line) for line in counts.damaged_lines),
        )
    if stats and (wrong := stats.get("fail_payload_md5", 0)) > counts.damaged:
        yield Shortfall(
            f"tlparse counts {many(wrong, 'wrong checksum')}, aoti-logs {counts.damaged:,}: tlparse drops blank "
            "lines and a carriage return at the end of a line, ends a payload at the first foreign line, and "
            "takes no capital letters in a checksum"
        )
    if text := stats.get("fail_glog"):
        yield Shortfall(
            f"{many(text, 'line', 'are')} left out because tlparse finds no beginning of a record there; what "
            "follows foreign text in a payload is left out, too"
        )
    if failed := stats.get("fail_parser"):
        yield Shortfall(f"{many(failed, 'record', 'have')} no page because tlparse could not make it")


def _usual(index: TraceIndex, folder: Path, explanation: Explanation) -> Iterator[Shortfall]:
    page = _beginning(folder / "index.html")
    if "collectives_parity.json" in page and not (folder / "collectives_parity.json").exists():
        yield Shortfall(
            "the index links collectives_parity.json, which tlparse writes only for several ranks",
            always=True,
        )
    if explanation.failed and page and "failures_and_restarts.html" not in page:
        yield Shortfall("the index names no failure; the findings above do")
    failed = [
        record.place
        for record in index.find(*_OTHER_METRICS)
        if isinstance(record.metadata, dict) and record.metadata.get("fail_type")
    ]
    if failed:
        yield Shortfall(
            f"{many(len(failed), 'failure')} of a backward compile or at run time: not on tlparse's page of failures",
            tuple(failed[:_MOST]),
        )
    later = [r for r in index.find(*_BY_ATTEMPT) if r.envelope.get("attempt")]
    if later:
        yield Shortfall(
            f"{many(len(later), 'record')} of specializations and guards of a later attempt: on no page",
            tuple(record.place for record in later[:_MOST]),
        )
    models = sum(
        count
        for name, count in index.counts().items()
        if name in {"graph_dump:inductor_aot_wrapper_code", "graph_dump:inductor_aot_code"}
    )
    if models > 1:
        yield Shortfall(
            f"the files of {models:,} models that AOTInductor compiled stand together under [-/-], because torch "
            "gives these compiles no id"
        )
    if index.several_processes:
        yield Shortfall(
            f"records of {len(index.processes):,} processes are in this trace; compiles of the same number stand "
            "together"
        )


def _export(index: TraceIndex, folder: Path, explanation: Explanation) -> Iterator[Shortfall]:
    if "Congratulations" not in _beginning(folder / "index.html"):
        return
    issues = [record for record in index.find(*_ISSUES) if _is_issue(record.name, record.metadata)]
    said = 'tlparse says "Congratulations! No issues are found during export"'
    if issues:
        kinds = Counter(record.name for record in issues)
        listed = ", ".join(f"{name} ({count:,})" for name, count in kinds.items())
        yield Shortfall(
            f"{said}, but the trace has records of issues: {listed}",
            tuple(record.place for record in issues[:_MOST]),
        )
    elif explanation.failed:
        yield Shortfall(f"{said}, but the run failed; see the findings above")
    elif next(iter(index.find(*_DRAFT)), None) is None:
        yield Shortfall(
            f"{said}, but nothing of a draft export is in this trace: torch.export.draft_export writes a trace "
            "of its own, below $TORCH_DTRACE or the temporary folder"
        )


def _is_issue(name: str, metadata: object) -> bool:
    return name != "guard_added" or (isinstance(metadata, dict) and metadata.get("prefix") == "eval")


def _unknown(index: TraceIndex, said: Said) -> Iterator[Shortfall]:
    counts: Counter[str] = Counter()
    for name, count in index.counts().items():
        counts[name.partition(":")[0] if name.startswith(("artifact:", "graph_dump:")) else name] += count
    fields = sorted(name for name in said.unknown if name in CONTEXT_KEYS)
    if fields:
        yield Shortfall(f"tlparse ignores the fields {', '.join(fields)} of records")
    names = [name for name in said.unknown if name in counts and name not in NAMED]
    if names:
        listed = ", ".join(f"{shown(name)} ({counts[name]:,})" for name in sorted(names)[:20])
        yield Shortfall(
            f"tlparse does not know these kinds of records and has no page for them: {listed}",
            tuple(next(iter(index.find(name))).place for name in sorted(names)[:_MOST]),
        )


def _rejected(index: TraceIndex, said: Said) -> Iterator[Shortfall]:
    """Tell the lines that tlparse could not read; 0.4.3 prints their JSON and not where they are."""
    places: dict[Place, str] = {}
    source = index.source
    for text, why, line in said.rejected:
        at = source.data.find(text.encode()) if text else -1
        number = line if line is not None else source.line_at(at) if at >= 0 else None
        if number is not None:
            places[source.place(number)] = why
    if places:
        reasons = ", ".join(dict.fromkeys(shown(why) for why in places.values() if why))
        yield Shortfall(
            f"{many(len(places), 'line', 'are')} left out because tlparse cannot read the record: {reasons}",
            tuple(places)[:_MOST],
        )


def _beginning(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_INDEX).decode("utf-8", "replace")
    except OSError:
        return ""

"""What an explanation says when a source is taken away: the parts that can go, and what must not change."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aoti_logs
from aoti_logs.explain import Confidence

ORDER = [str(c) for c in Confidence]
GROUPS = {
    "wrappers": "*.wrapper.cpp",
    "kernels": "*.kernel.cpp",
    "metadata": "*.json",
    "python code": "*.py",
    "packages": "*.pt2",
    "traces": "dedicated_log_torch_trace*",
}
"""Kinds of files of a run's folder, by their names."""
LINES = {
    "native frames": rb"^.*(?:\bframe #\d+: |Exception raised from ).*\n?",
    "Python frames": rb"^.*  File \".*\", line \d+.*\n(?:.*    .*\n?)?",
    "device lines": rb"^.*: block: \[.*\n?",
    "command and exit code": rb"^(?:\$ |exit code: ).*\n?",
}
"""Parts of a log that several records have, by their lines."""
PLACES = {
    "signature",
    "stack_signature",
    "wrapper",
    "kernel_source",
    "source",
    "python_file",
    "python_line",
    "python_line_number",
}
"""Facts that say where a text was found, as it stands in several sources, and those that are made of all that is at hand."""
OF_THE_TEXT = {
    *("message", "innermost", "inner_error", "chain", "reasons", "changed", "consequences", "terminate"),
    *("exception_type", "exception_types", "root_exception", "asynchronous", "frame_numbers"),
    *("frames", "first_frame_symbol", "frames_without_symbol"),  # those of the stack that is left
}
"""Facts that describe the log's own text."""
SEEN_OTHERWISE = {
    "aoti_api_call_failed": {"aoti_constant_error"},
    "aoti_shim_exception": {"aoti_runtime_error"},
    "cuda_illegal_memory_access": {"compute_sanitizer"},
    "version_mismatch": {"triton_compilation_error", "subprocess_exception"},
}
"""As what a failure is told, and truly, from another of the texts that it printed."""
PLAINER = {"AL403": {"AL315"}}
"""Rules that say of the same text less, and are sure of it: what ended the process, not in which code."""
RECORDED = {
    "wrappers": r"wrapper|\.pt2|package|cache",
    "kernels": r"kernel|\.pt2|package|cache",
    "sources": r"wrapper|\.pt2|package|cache",
    "packages": r"wrapper|\.pt2|package|cache",
    "everything else": r"wrapper|\.pt2|package|cache|TORCH_TRACE",
    "traces": r"TORCH_TRACE",
    "compile.log": r"[Ee]xported ?[Pp]rogram|TORCH_TRACE|print\(ep\)",
    "native frames": r"stderr|CPP_STACKTRACES",
    "printer records": r"stdout|VALUE_PRINTER",
}
"""What the way to record a source must mention."""
MOST = 12
"""A folder with more files beside the log holds other runs, too: they are taken away together only."""
FEW = 6
"""So many files of a kind are taken away one by one, too."""


@dataclass(frozen=True)
class Without:
    """A run with something taken away: `name` says what; of the log, or of what lies beside it."""

    name: str
    folder: Path
    of_log: bool


def ablations(folder: Path, log: str, work: Path) -> Iterator[Without]:
    """Yield a run's folder again and again, each time without one part; `work` must be empty."""
    yield from _without_files(folder, log, work)
    yield from _without_lines(folder, log, work)


def _without_files(folder: Path, log: str, work: Path) -> Iterator[Without]:
    files = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    others = [p for p in files if p.as_posix() not in {log, "fixture.json"}]
    gone: dict[str, list[Path]] = {"everything else": others}
    for name, pattern in GROUPS.items():
        of_kind = [p for p in others if p.match(pattern)]
        gone[name] = of_kind
        if 1 < len(of_kind) <= FEW:
            gone |= {p.as_posix(): [p] for p in of_kind}
    beside = [p for p in others if len(p.parts) == 1 and not p.name.startswith("run_")]
    if len(beside) <= MOST:
        gone |= {p.name: [p] for p in beside}
    gone["sources"] = [p for p in others if p.parts[0] == "sources"]
    seen: set[tuple[Path, ...]] = {()}
    for name, parts in gone.items():
        if tuple(parts) not in seen:
            seen.add(tuple(parts))
            yield Without(name, _copied(folder, [p for p in files if p not in parts], work), of_log=False)


def _without_lines(folder: Path, log: str, work: Path) -> Iterator[Without]:
    files = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    whole = (folder / log).read_bytes()
    run = aoti_logs.load(folder / log)
    cut: dict[str, bytes] = {n: re.sub(p, b"", whole, flags=re.M) for n, p in LINES.items()}
    records = [r for s in run.subjects for r in run.spans_of(s)[0]]
    for kind in dict.fromkeys(kind for kind, _, _ in records):
        spans = [(a, b) for k, a, b in records if k == kind]
        cut[f"{kind} records"] = b"".join(_outside(whole, spans))
    for name, text in cut.items():
        if text != whole:
            copy = _copied(folder, files, work)
            (copy / log).write_bytes(text)
            yield Without(name, copy, of_log=True)


def _outside(text: bytes, spans: list[tuple[int, int]]) -> Iterator[bytes]:
    at = 0
    for start, end in sorted(spans):
        yield text[at:start]
        at = end
    yield text[at:]


def _copied(folder: Path, files: list[Path], work: Path) -> Path:
    copy = work / folder.name
    shutil.rmtree(copy, ignore_errors=True)
    for path in files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, copy / path)
    return copy


def causes(folder: Path, log: str) -> list[aoti_logs.Finding]:
    """Explain a log with its folder as context."""
    return [f for f in aoti_logs.load(folder / log, context=folder).explain() if f.role == "cause"]


def notes(folder: Path, log: str) -> list[aoti_logs.Finding]:
    """Return what is told beside the causes."""
    return [f for f in aoti_logs.load(folder / log, context=folder).explain() if f.role != "cause"]


def stronger(
    whole: list[aoti_logs.Finding],
    less: Without,
    found: list[aoti_logs.Finding],
    noted: list[aoti_logs.Finding],
) -> list[str]:
    """Say what the explanation with less evidence states beyond, or against, the one with all of it.

    Of a log without its first error the next one leads, in the words in which it was told as a note.
    """
    known = {(f.rule, f.kind, f.title) for f in noted} if less.of_log else set()
    said = [
        word for f in found if (f.rule, f.kind, f.title) not in known for word in _against(f, whole, less)
    ]
    if not less.of_log and len(found) != len(whole):
        said.append(f"{len(found)} causes (were {len(whole)})")
    return said


def unnamed(whole: list[aoti_logs.Finding], less: Without, found: list[aoti_logs.Finding]) -> list[str]:
    """Return the findings that are weaker for want of a source, and do not say how to record it."""
    said = []
    for one in found if less.name in RECORDED else ():
        before = next((f for f in whole if (f.kind, f.rank) == (one.kind, one.rank)), None)
        if before is None or ORDER.index(one.confidence) <= ORDER.index(before.confidence):
            continue
        how = [m.how_to_record for m in one.missing]
        how += [" ".join((*(k for k, _ in e.env), e.command, e.why)) for e in one.experiments]
        if not any(re.search(RECORDED[less.name], text) for text in how):
            said.append(f"{one.kind} ({one.rule}): {how}")
    return said


def _against(found: aoti_logs.Finding, whole: list[aoti_logs.Finding], less: Without) -> list[str]:
    same = [f for f in whole if (f.kind, f.rank) == (found.kind, found.rank)]
    if same:
        return min((_compared(found, f, less) for f in same), key=len)
    kinds = {kind for f in whole for kind in SEEN_OTHERWISE.get(f.kind, ())}
    if less.of_log and (found.kind in kinds or found.confidence is Confidence.UNKNOWN):
        return []
    return [f"other kind {found.kind} ({found.rule}, {found.confidence}): {found.title}"]


def _compared(found: aoti_logs.Finding, whole: aoti_logs.Finding, less: Without) -> list[str]:
    said = []
    if ORDER.index(found.confidence) < ORDER.index(whole.confidence):
        said.append(f"confidence {found.confidence} (was {whole.confidence})")
    plainer = found.rule in PLAINER.get(whole.rule, ())
    if (
        found.rule != whole.rule
        and not plainer
        and found.confidence not in {Confidence.POSSIBLE, Confidence.UNKNOWN}
    ):
        said.append(f"rule {found.rule} {found.confidence} (was {whole.rule} {whole.confidence})")
    before, now = dict(_leaves(whole.facts)), dict(_leaves(found.facts))
    free = PLACES | (OF_THE_TEXT if less.of_log else set())
    keys = sorted(k for k in before.keys() & now.keys() if k.rpartition(".")[2] not in free)
    said += [
        f"{key} = {now[key]!r} (was {before[key]!r})"
        for key in keys
        if before[key] is not None and not key.startswith("n_") and not within(now[key], before[key])
    ]
    return said


def within(now: Any, before: Any) -> bool:
    """Tell whether a value says the same as another one, or less: parts are missing, or go by the graph's names."""
    if now is None or now == before:
        return True
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        return all(within(value, before.get(key, value)) for key, value in now.items())
    if isinstance(now, list | tuple) and isinstance(before, list | tuple):
        longer, shorter = sorted((now, before), key=len, reverse=True)
        if len(longer) == len(shorter):
            return all(within(a, b) for a, b in zip(now, before, strict=True))
        return all(x in longer for x in shorter)
    if isinstance(now, str) and isinstance(before, str):
        pattern = re.sub(r"arg\\d\+_1|arg\d+_1", r"[\\w.\\[\\]']+", re.escape(now))
        return before.startswith(now) or re.fullmatch(pattern, before) is not None or now == f"{before}_0"
    return False


def _leaves(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value

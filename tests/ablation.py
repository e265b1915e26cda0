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
    gone |= {p.name: [p] for p in others if len(p.parts) == 1}
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


def stronger(whole: list[aoti_logs.Finding], less: list[aoti_logs.Finding]) -> list[str]:
    """Say what the explanation with less evidence states beyond, or against, the one with all of it."""
    return [word for found in less for word in _against(found, whole)]


def _against(found: aoti_logs.Finding, whole: list[aoti_logs.Finding]) -> list[str]:
    same = [f for f in whole if (f.kind, f.rank) == (found.kind, found.rank)]
    if not same:
        return [f"other kind {found.kind} ({found.rule}, {found.confidence}): {found.title}"]
    return min((_compared(found, f) for f in same), key=len)


def _compared(found: aoti_logs.Finding, whole: aoti_logs.Finding) -> list[str]:
    said = []
    if ORDER.index(found.confidence) < ORDER.index(whole.confidence):
        said.append(f"confidence {found.confidence} (was {whole.confidence})")
    if found.rule != whole.rule and found.confidence not in {"possible", "unknown"}:
        said.append(f"rule {found.rule} {found.confidence} (was {whole.rule} {whole.confidence})")
    before, now = dict(_leaves(whole.facts)), dict(_leaves(found.facts))
    for key in before.keys() & now.keys():
        if not _within(now[key], before[key]):
            said.append(f"{key} = {now[key]!r} (was {before[key]!r})")
    return said


def lost(whole: aoti_logs.Finding, less: aoti_logs.Finding) -> list[str]:
    """Return the keys of facts that only the whole evidence gives."""
    now = dict(_leaves(less.facts))
    return [key for key, _ in _leaves(whole.facts) if key not in now]


def _within(now: Any, before: Any) -> bool:
    if isinstance(now, list | tuple) and isinstance(before, list | tuple):
        return all(x in before for x in now) or all(x in now for x in before)
    return bool(now == before)


def _leaves(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        elif value is not None and value != [] and value != ():
            yield f"{above}{key}", value

"""Reports of tlparse among the files that were found: which files belong to one, and which of them leads it."""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.sources import report_files
from aoti_logs.sources.compressed import ENDINGS
from aoti_logs.sources.report_files import Part
from aoti_logs.sources.source import Kind, Role, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHUNK = 1 << 20
_PLAIN = frozenset({Kind.TLPARSE_REPORT, Kind.JSON, Kind.TEXT})
_LEADS = (Part.RECORDS, Part.DIRECTORY, Part.EVENTS, Part.INDEX)
_Folder = tuple[int, str]
"""The archive (0 on disk), and a folder in it."""


@dataclass
class Report:
    """The files of a report of one rank.

    `files` are found by their path inside of the report and in no other way: what a file of the report
    says about paths is looked up there, so it leads nowhere else. `trace` is `raw.log`, the byte copy of
    the trace, where it is there; the other files say nothing then that it does not say better.
    """

    root: str
    """Its folder, on disk or in an archive."""
    rank: int | None = None
    several_ranks: bool = False
    """Whether one run of tlparse wrote it together with those of other ranks."""
    files: dict[str, Source] = field(default_factory=dict)
    trace: Source | None = None
    records: Source | None = None
    directory: Source | None = None
    events: Source | None = None
    events_of_all: Source | None = None
    """The events of all ranks, for a rank whose own are missing."""
    index: Source | None = None

    @property
    def lead(self) -> Source | None:
        """The file that stands for the report where its trace is missing."""
        if self.trace is not None:
            return None
        return self.records or self.directory or self.events or self.index


@dataclass(frozen=True)
class _Spot:
    """Where a file is: the archive that holds it (0 on disk), its folder, its name."""

    holder: int
    folder: str
    name: str


def group(sources: list[Source], asked: set[int]) -> tuple[list[Source], list[tuple[str, str]]]:
    """Find the reports, and mark their files: kind `TLPARSE_REPORT`, `Source.report`.

    Args:
        sources: files and archive members as they were told one by one.
        asked: `id()` of those that were asked about.

    Returns:
        The sources without links that lead out of a report, and a sentence about each such link.
    """
    spots = {id(source): spot for source in sources if (spot := _spot(source)) is not None}
    roots = _roots(sources, spots)
    if not roots:
        return sources, []
    links: dict[int, tuple[str, str]] = {}
    real: dict[str, str] = {}
    for source in sources:
        spot = spots.get(id(source))
        above = _report_above(spot, roots) if spot else None
        report, path = above or (None, "")
        if source.report is not None:
            source.report.files[path or source.name] = source
        elif report is None:
            continue
        elif path == "raw.log":
            if source.kind is Kind.TORCH_TRACE:
                report.trace, source.report = source, report
                source.rank = source.rank if source.rank is not None else report.rank
        elif report_files.is_member(path) and _leads_out(source, report.root, real):
            links[id(source)] = (source.name, "it is a link that leads out of the report; it is not read")
        elif report_files.is_member(path):
            report.files.setdefault(path, source)
            _belongs(source, report)
    _take_shared(sources, spots, roots)
    _drop_copies(sources)
    for source in sources:
        if source.leads_report and source.report is not None:
            source.role = Role.SUBJECT if id(source) in asked else Role.CONTEXT
            source.problems.append(_lacks(source.report))
    return [s for s in sources if id(s) not in links], list(links.values())


def _belongs(source: Source, report: Report) -> None:
    source.report = report
    source.kind = Kind.TLPARSE_REPORT
    source.role = Role.CONTEXT


def _spot(source: Source) -> _Spot | None:
    if source.parent is not None and source.parent.kind is Kind.PACKAGE:
        return None
    if source.parent is not None:
        holder, path = id(source.parent), source.label.replace("\\", "/")
    elif source.path is not None:
        holder, path = 0, source.path.as_posix()
    else:
        holder, path = 0, source.name
    folder, name = posixpath.split(posixpath.normpath(path))
    packed = next((ending for ending in ENDINGS if name.endswith(ending)), "")
    return _Spot(holder, folder, name.removesuffix(packed))


def _roots(sources: list[Source], spots: dict[int, _Spot]) -> dict[_Folder, Report]:
    """Make a report of every folder that holds a file which only tlparse writes."""
    told = [(s.part, s, spots[id(s)]) for s in sources if s.part is not None and id(s) in spots]
    told = [item for item in told if item[0] in _LEADS]
    # `raw.jsonl` of this name first: beside it may lie another one, which leads a report of its own.
    told.sort(key=lambda item: (_LEADS.index(item[0]), item[2].name != "raw.jsonl"))
    payloads = _parents(spots.values(), report_files.PAYLOAD_FOLDER)
    ranks = _parents(spots.values(), report_files.RANK_FOLDER)
    roots: dict[_Folder, Report] = {}
    for part, source, spot in told:
        key = (spot.holder, spot.folder)
        if key not in roots and (
            (part is Part.INDEX and key not in payloads) or (part is Part.EVENTS and key in ranks)
        ):
            continue
        number = _rank_folder(spot.folder)
        known = roots.get(key)
        # Of two `raw.jsonl` in one folder, nothing says which one the payloads are of.
        report = known if known is not None and getattr(known, part.value) is None else None
        if report is None:
            rank = number if known is None and number is not None else source.rank
            report = Report(spot.folder, rank, several_ranks=number is not None)
            roots.setdefault(key, report)
        setattr(report, part.value, source)
        _belongs(source, report)
    return roots


def _rank_folder(folder: str) -> int | None:
    found = report_files.RANK_FOLDER.fullmatch(posixpath.basename(folder))
    return int(found[1]) if found else None


def _parents(spots: Iterable[_Spot], name: re.Pattern[str]) -> set[_Folder]:
    """Return the folders that hold a folder of such a name with files in it."""
    return {
        (spot.holder, posixpath.dirname(spot.folder))
        for spot in spots
        if name.fullmatch(posixpath.basename(spot.folder))
    }


def _report_above(spot: _Spot, roots: dict[_Folder, Report]) -> tuple[Report, str] | None:
    """Return the nearest report above a file, and the file's path inside of it."""
    path = spot.name
    for folder in _upwards(spot.folder):
        report = roots.get((spot.holder, folder))
        if report is not None:
            return report, path
        path = f"{posixpath.basename(folder)}/{path}"
    return None


def _upwards(folder: str) -> Iterator[str]:
    # Names of artifacts may hold slashes, but few.
    for _ in range(16):
        yield folder
        above = posixpath.dirname(folder)
        if above == folder:
            return
        folder = above


def _leads_out(source: Source, root: str, real: dict[str, str]) -> bool:
    """Tell a file that is reached over a link to outside of the folder; `real` keeps what folders really are."""
    if source.parent is not None or source.path is None:
        return False
    path = os.fspath(source.path)
    where = path if os.path.islink(path) else os.path.dirname(path)  # noqa: PTH114, PTH120 of many files
    for folder in (where, root):
        if folder not in real:
            real[folder] = os.path.realpath(folder)
    return real[where] != real[root] and not real[where].startswith(os.path.join(real[root], ""))  # noqa: PTH118


def _take_shared(sources: list[Source], spots: dict[int, _Spot], roots: dict[_Folder, Report]) -> None:
    """Take what tlparse made of all ranks together, beside their folders."""
    above: dict[_Folder, list[Report]] = {}
    for (holder, folder), report in roots.items():
        if _rank_folder(folder) is not None:
            above.setdefault((holder, posixpath.dirname(folder)), []).append(report)
    for source in sources:
        spot = spots.get(id(source))
        if spot is None or source.report is not None or spot.name not in report_files.OF_ALL_RANKS:
            continue
        ranks = above.get((spot.holder, spot.folder), [])
        if not ranks or source.kind not in _PLAIN:
            continue
        if source.part is Part.EVENTS:
            for report in ranks:
                report.events_of_all = source
        _belongs(source, ranks[0])


def _drop_copies(sources: list[Source]) -> None:
    """Of a trace and its copies in reports keep one, or everything would be there twice."""
    traces = [source for source in sources if source.kind is Kind.TORCH_TRACE]
    kept = [source for source in traces if source.report is None]
    for copy in traces:
        report = copy.report
        if report is None:
            continue
        original = next((other for other in kept if _same(other, copy)), None)
        if original is None:
            kept.append(copy)
        else:
            original.role = Role.SUBJECT if Role.SUBJECT in {original.role, copy.role} else original.role
            _belongs(copy, report)


def _lacks(report: Report) -> str:
    """Say what a report without its trace cannot tell."""
    if report.records is not None:
        return (
            "the trace of this tlparse report is missing (raw.log): records are made from raw.jsonl and the files "
            "that it names, which lack some of what the trace says"
        )
    if report.directory is None and report.index is None:
        return "of this tlparse report only the chromium events are here; raw.log has the other records"
    return (
        "raw.log and raw.jsonl of this tlparse report are missing (--export writes none): of a record only its name, "
        "compile id and payload are known, and those without a payload not at all"
    )


def _same(one: Source, other: Source) -> bool:
    if one.size != other.size:
        return False
    return all(
        bytes(one.data[at : at + _CHUNK]) == bytes(other.data[at : at + _CHUNK])
        for at in range(0, one.size, _CHUNK)
    )

"""tlparse's pages: made from what it is given, then put right where they could do harm."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.report import tlparse
from aoti_logs.report.plan import taken_by_name
from aoti_logs.report.tlparse import NOT_FOUND, Said

if TYPE_CHECKING:
    from pathlib import Path

    from aoti_logs.report.plan import Plan, Slot
    from aoti_logs.report.tlparse import Options

_RENAMED = (
    "it was given under a name of the form dedicated_log_torch_trace_rank_N_x.log, because tlparse takes only "
    "files of such names"
)
_CODE_BEGINS = b'<div id="generatedCode" class="editor">'
_CODE_ENDS = b'<script id="lineMappings"'


@dataclass
class Pages:
    """What tlparse made.

    Attributes:
        version: of tlparse, empty when it was not found.
        fed: sentences about what it was given, with the trace's title.
        said: what it printed about the trace of each slot's folder; a folder without is not there.
        problems: sentences about what it could not make.
        last: the last lines it printed when it failed.
    """

    version: str = ""
    fed: list[tuple[str, str]] = field(default_factory=list)
    said: dict[str, Said] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    last: tuple[str, ...] = ()

    def failed(self, what: str, said: Said) -> None:
        """Note that tlparse failed."""
        self.problems.append(f"tlparse made no page of {what}: {said.problem}")
        self.last = said.last


def make_pages(plan: Plan, options: Options, scratch: Path, report: Path) -> Pages:
    """Run tlparse on all traces of a plan.

    Args:
        plan: what is shown where.
        options: what tlparse is asked for.
        scratch: an empty folder of ours.
        report: the folder to write into; it does not exist yet.
    """
    program = tlparse.find_tlparse()
    pages = Pages()
    if program is None:
        pages.problems.append(NOT_FOUND)
        report.mkdir()
        return pages
    pages.version = tlparse.version(program)
    maker = _Maker(program, options, scratch, report, pages)
    if plan.ranks:
        maker.ranks(plan.together)
    elif plan.together:
        maker.alone(plan.together[0])
    report.mkdir(exist_ok=True)
    for slot in plan.apart:
        maker.alone(slot)
    return pages


@dataclass
class _Maker:
    program: Path
    options: Options
    scratch: Path
    report: Path
    pages: Pages

    def alone(self, slot: Slot) -> None:
        """Make the report of one trace."""
        path = slot.feed.trace.disk_path
        if slot.feed.changed or path is None:
            path = self.scratch / "trace.log"
            slot.feed.write(path)
        out = self.report / slot.folder if slot.folder else self.report
        arguments = [*self.options.flags(), "-o", str(out), str(path.absolute())]
        said = tlparse.run(self.program, arguments, self.scratch, path.stat().st_size)
        self._done(slot, said, out)

    def ranks(self, slots: tuple[Slot, ...]) -> None:
        """Make the report of all ranks, and if that fails one of each."""
        folder = self.scratch / "ranks"
        folder.mkdir()
        size = 0
        for slot in slots:
            path = folder / f"dedicated_log_torch_trace_rank_{slot.feed.rank}_aoti_logs.log"
            own = slot.feed.trace.disk_path
            if slot.feed.changed or own is None or not _linked(path, own):
                slot.feed.write(path)
            if slot.feed.part is None and not (own and taken_by_name(own.name, slot.feed.rank)):
                self.pages.fed.append((slot.feed.title, _RENAMED))
            size += path.stat().st_size
        arguments = [*self.options.flags(), "--all-ranks-html", "-o", str(self.report), str(folder)]
        said = tlparse.run(self.program, arguments, self.scratch, size)
        if said.problem is not None:
            self.pages.failed("all ranks", said)
            for slot in slots:
                shutil.rmtree(self.report / slot.folder, ignore_errors=True)
                self.alone(slot)
            return
        stats = self._by_rank(slots, said)
        for slot in slots:
            own_said = Said(stats=stats.get(slot.folder, ()), unknown=said.unknown, rejected=said.rejected)
            self._done(slot, own_said, self.report / slot.folder)

    def _by_rank(self, slots: tuple[Slot, ...], said: Said) -> dict[str, tuple[dict[str, int], ...]]:
        """Return each rank's counts; tlparse takes the ranks in the order in which the system lists files."""
        if len(said.stats) != len(slots) or len(said.ranks) != len(slots):
            return {}
        return {f"rank_{rank}/": (dict(stats),) for rank, stats in zip(said.ranks, said.stats, strict=True)}

    def _done(self, slot: Slot, said: Said, out: Path) -> None:
        feed = slot.feed
        self.pages.fed += [(feed.title, sentence) for sentence in feed.sentences()]
        if said.problem is not None:
            self.pages.failed(feed.title, said)
            shutil.rmtree(
                out, ignore_errors=True
            )  # it makes the folder first, and leaves it empty or half full
            out.mkdir(parents=True)
            return
        self.pages.said[slot.folder] = said
        if self.options.plain and self.options.provenance:
            for page in out.glob("provenance_tracking_*.html"):
                self._escape_code(feed.title, page)
        raw = out / "raw.log"
        if feed.changed and feed.part is None and raw.exists():
            _restore(slot, raw)
            self.pages.fed.append((feed.title, "raw.log of the report is the trace as it was"))

    def _escape_code(self, title: str, page: Path) -> None:
        """Escape the generated code of a provenance page, which tlparse -p -i puts there as it is."""
        text = page.read_bytes()
        begin, end = text.find(_CODE_BEGINS), text.rfind(_CODE_ENDS)
        if begin < 0 or end < 0:
            return
        begin = text.find(b"<pre>", begin) + len(b"<pre>")
        end = text.rfind(b"</pre>", begin, end)
        if end < begin:
            return
        code = text[begin:end]
        harmless = code.replace(b"<", b"&lt;").replace(b">", b"&gt;")
        if re.search(rb"[<>]", code):
            page.write_bytes(text[:begin] + harmless + text[end:])
            sentence = f"the code on {page.name} was escaped, because tlparse -p -i shows it as HTML"
            self.pages.fed.append((title, sentence))


def _linked(path: Path, own: Path) -> bool:
    try:
        path.symlink_to(own.absolute())
    except OSError:
        return False
    return True


def _restore(slot: Slot, raw: Path) -> None:
    data = slot.feed.trace.index.source.data
    with raw.open("wb") as file:
        for at in range(0, len(data), 1 << 20):
            file.write(bytes(data[at : at + (1 << 20)]))

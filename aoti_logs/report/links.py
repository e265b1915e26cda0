"""From a line of a trace to the page of tlparse that shows it."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from aoti_logs.render.target import Target
from aoti_logs.report.outputs import NAMED, display_key, read_outputs, stems, without_attempt
from aoti_logs.report.text import as_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aoti_logs.records.trace import TraceIndex, TraceRecord
    from aoti_logs.report.copies import Copies
    from aoti_logs.report.outputs import Output
    from aoti_logs.report.plan import Slot
    from aoti_logs.sources.source import Place

_ON_METRICS_PAGE = frozenset({"guard_added_fast", "symbolic_shape_specialization"})
_LARGEST = 64 << 20
_NAME = re.compile(r"[A-Za-z_]\w{0,500}", re.ASCII)
_DEFINES = rb'^[ \t]*(?:def NAME\(|NAME = async_compile\.|(?:extern "C"[ \t]+)?void NAME\()'


class SlotLinks:
    """The links into one tlparse report.

    Args:
        slot: the trace and where it is shown.
        report: the folder of the whole report.
    """

    def __init__(self, slot: Slot, report: Path) -> None:
        self.slot = slot
        self.folder = report / slot.folder
        self.index: TraceIndex = slot.feed.trace.index
        self.outputs, self.keys = read_outputs(self.folder)

    @cached_property
    def _files(self) -> dict[tuple[str, str], list[Output]]:
        files: dict[tuple[str, str], list[Output]] = {}
        for output in self.outputs:
            files.setdefault((output.key, output.stem), []).append(output)
        return files

    @cached_property
    def _records(self) -> dict[tuple[str, str], list[int]]:
        """The records that should have a file of a compile id and stem, in file order."""
        records: dict[tuple[str, str], list[int]] = {}
        for record in self.index.find(*NAMED):
            if self._here(record):
                key = display_key(record.envelope)
                for stem in stems(record):
                    records.setdefault((key, stem), []).append(record.number)
        return records

    def _here(self, record: TraceRecord) -> bool:
        part = self.slot.feed.part
        return part is None or record.rank == part

    def record(self, record: TraceRecord, line: int | None = None) -> Target | None:
        """Return the page that shows a record, None when there is none.

        Args:
            record: a record of this slot's trace.
            line: a line of its payload (from 1) that is meant.
        """
        key = display_key(record.envelope)
        for stem in stems(record):
            output = self._output(record, key, stem)
            if output is not None:
                return self._target(output, line)
        if record.name in _ON_METRICS_PAGE and not record.envelope.get("attempt"):
            pages = [
                output
                for output in self.outputs
                if output.stem == "compilation_metrics" and without_attempt(output.key) == key
            ]
            if pages:
                return self._target(pages[0], None)
        if record.name == "chromium_event" and (self.folder / "chromium_events.json").is_file():
            return Target(quote(f"{self.slot.folder}chromium_events.json"), "chromium_events.json")
        return self.compile(key)

    def compile(self, key: str) -> Target | None:
        """Return where the index lists the files of a compile id (`[0/1]`), None when it does not."""
        if key not in self.keys or key == "unknown":
            return None
        return Target(f"{quote(self.slot.folder)}index.html#{quote(key)}", f"{key} in tlparse's index")

    def place(self, place: Place) -> Target | None:
        """Return the page that shows a line of this slot's trace; None for other lines."""
        record = self.index.at(place.source, place.line)
        if record is None or not self._here(record):
            return None
        lines = record.payload_lines()
        return self.record(record, lines.index(place.line) + 1 if place.line in lines else None)

    def defining(self, pattern: re.Pattern[bytes]) -> Iterator[Target]:
        """Yield the pages of generated code with the line that a pattern finds."""
        for record in self.index.find("inductor_output_code", "graph_dump"):
            payload = record.payload
            at = pattern.search(payload)
            target = self.record(record, payload.count(b"\n", 0, at.start()) + 1) if at else None
            if target is not None:
                yield target

    def _output(self, record: TraceRecord, key: str, stem: str) -> Output | None:
        files = self._files.get((key, stem), [])
        numbers = self._records.get((key, stem), [])
        if len(files) == len(numbers) and record.number in numbers:
            output = files[numbers.index(record.number)]
            return output if self._same(output, record) is not False else None
        # tlparse left out some of them: only a file with this very text is the record's.
        same = [output for output in files if self._same(output, record, exactly=True)]
        return same[0] if len(same) == 1 else None

    def _same(self, output: Output, record: TraceRecord, *, exactly: bool = False) -> bool | None:
        """Tell whether a file has the text of a record; None for a form that tlparse wrote anew."""
        path = self.folder / output.url
        try:
            if not path.is_file():
                return False
            if path.suffix != ".txt" or path.stat().st_size > _LARGEST:
                return None
            shown = path.read_bytes()
        except (OSError, ValueError):
            return False
        payload = as_utf8(record.payload)[0].replace(b"\r\n", b"\n")
        if shown == payload or exactly:
            return shown == payload
        # tlparse ends a payload at the first foreign line and drops blank ones.
        return payload.startswith(shown) or _solid(shown) == _solid(payload)

    def _target(self, output: Output, line: int | None) -> Target:
        href = quote(f"{self.slot.folder}{output.url}")
        label = output.url.rpartition("/")[2]
        if line is not None and not output.url.endswith(".json"):
            label = f"{label}, line {line}"
            if output.stem.startswith("dump_file/"):
                href += f"#L{line}"
        return Target(href, label)


def _solid(text: bytes) -> bytes:
    return b"".join(text.split())


class Links:
    """The links into a report of several traces.

    Args:
        slots: the traces whose pages are there.
        report: the folder of the report.
        copies: where traces hold the text of other files.
    """

    def __init__(self, slots: Sequence[Slot], report: Path, copies: Copies) -> None:
        self.slots = [SlotLinks(slot, report) for slot in slots]
        self._copies = copies
        self._kernels: dict[tuple[str, int | None], Target | None] = {}

    def place(self, place: Place) -> Target | None:
        """Return the page that shows a line of a trace, or of a file whose text a trace holds as well."""
        for copy in chain((place,), self._copies.places(place)):
            for links in self.slots:
                target = links.place(copy)
                if target is not None:
                    return target
        return None

    def compile(self, compile_id: str, rank: int | None) -> Target | None:
        """Return where the index lists a compile id.

        Args:
            compile_id: as torch prints it (`0/1_2`).
            rank: of the finding; None when it has none. With several traces an id alone says nothing.
        """
        slots = self._of_rank(rank)
        if compile_id.startswith("aoti/"):
            key = "[-/-]"  # tlparse has no id for them, as torch has none
        else:
            autograd_only = compile_id.startswith("!") and "/" not in compile_id
            key = f"[{compile_id}/-/-]" if autograd_only else f"[{compile_id}]"
        return slots[0].compile(key) if len(slots) == 1 else None

    def _of_rank(self, rank: int | None) -> list[SlotLinks]:
        slots = [links for links in self.slots if rank is not None and links.slot.feed.rank == rank]
        return slots or (self.slots if len(self.slots) == 1 else [])

    def kernel(self, name: str, rank: int | None) -> Target | None:
        """Return the page that defines a kernel; None when none or more than one does.

        Args:
            name: of the kernel.
            rank: of the finding.
        """
        if _NAME.fullmatch(name) and (name, rank) not in self._kernels:
            defines = re.compile(_DEFINES.replace(b"NAME", name.encode()), re.M)
            found = [
                target for links in self._of_rank(rank) or self.slots for target in links.defining(defines)
            ]
            self._kernels[name, rank] = found[0] if len(found) == 1 else None
        return self._kernels.get((name, rank))

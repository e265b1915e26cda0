"""Payloads in the files of a report, found by the names that the report itself gives them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from aoti_logs.records.tlparse.entry import EMPTY_MD5, Payload
from aoti_logs.records.tlparse.page import code_of
from aoti_logs.sources.report_files import COMPILE_FOLDER, NUMBERED

if TYPE_CHECKING:
    from aoti_logs.sources.report import Report
    from aoti_logs.sources.source import Source

MISSING = "its payload is not in the report"
LEADS_OUT = "the path of its payload leads out of the report"
TOO_MUCH = "its payload is left out: the report names the same files so often that they would fill the memory"
_CODE = "inductor_output_code"
_LEAST_BUDGET = 1 << 30


class Payloads:
    """The payloads of one report. Those that nothing asked for are left at the end.

    Args:
        report: the report.
    """

    def __init__(self, report: Report) -> None:
        self._files = report.files
        self._claimed: set[str] = set()
        self._pages: dict[str, list[str]] = {}
        for path in sorted(self._files, key=number_of):
            if path.endswith(".html") and (stem := code_stem(path)) is not None:
                self._pages.setdefault(stem, []).append(path)
        self._seen: set[int] = set()
        self._distinct = 0
        self._taken = 0

    def of(self, envelope: dict[str, Any], path: object) -> tuple[Payload | None, str | None]:
        """Return a record's payload, and what is wrong when there should be one and is none.

        Args:
            envelope: the record's.
            path: what `raw.jsonl` calls `payload_filename`.
        """
        page = self._next_page(envelope)
        if isinstance(path, str):
            own = posixpath.normpath(path.replace("\\", "/"))
            if own.startswith(("/", "../")) or own[1:2] == ":":
                return None, LEADS_OUT
            source = self._files.get(own)
            if source is not None:
                self._claimed.add(own)
                # A parser of tlparse writes an empty file for a record that has none.
                if source.size or "has_payload" in envelope:
                    return self._bounded(whole(source))
        if page is not None and (payload := code_of(self._files[page])) is not None:
            return self._bounded(payload)
        declared = envelope.get("has_payload")
        return None, (MISSING if isinstance(declared, str) and declared.lower() != EMPTY_MD5 else None)

    def _bounded(self, payload: Payload) -> tuple[Payload | None, str | None]:
        # A payload may well be there for several records, but a few lines must not name it a million times.
        if id(payload.source) not in self._seen:
            self._seen.add(id(payload.source))
            self._distinct += len(payload.text)
        self._taken += len(payload.text)
        if self._taken > max(_LEAST_BUDGET, 4 * self._distinct):
            self._taken -= len(payload.text)
            return None, TOO_MUCH
        return payload, None

    def _next_page(self, envelope: dict[str, Any]) -> str | None:
        """Return the page of generated code that goes with a record: those of one name in their order."""
        if _CODE not in envelope:
            return None
        metadata = envelope[_CODE]
        name = metadata.get("filename") if isinstance(metadata, dict) else None
        stem = posixpath.splitext(posixpath.basename(name))[0] if isinstance(name, str) else ""
        pages = self._pages.get(stem)
        if not pages:
            return None
        self._claimed.add(pages[0])
        return pages.pop(0)

    def unclaimed(self) -> list[str]:
        """Return the paths of the payloads that no record named, in the order of their numbers."""
        return sorted(
            (path for path in self._files if path not in self._claimed and _is_payload(path)), key=number_of
        )


def whole(source: Source) -> Payload:
    """Return a file as a payload; tlparse writes JSON anew and everything else as it was."""
    return Payload(bytes(source.data), source, exact=not source.name.endswith(".json"))


def number_of(path: str) -> int:
    """Return the number in a file's name, which counts up in the order of the trace; -1 without one."""
    found = NUMBERED.fullmatch(path.rpartition("/")[2])
    return int(found[2]) if found else -1


def code_stem(path: str) -> str | None:
    """Return the name of the generated file in `inductor_output_code_<name>_<number>`; None for other files."""
    found = NUMBERED.fullmatch(path.rpartition("/")[2])
    if found is None or not found[1].startswith(_CODE):
        return None
    return found[1].removeprefix(_CODE).removeprefix("_")


def _is_payload(path: str) -> bool:
    folder, _, name = path.partition("/")
    if folder == "payloads":
        return True
    found = NUMBERED.fullmatch(name)
    if found is None or COMPILE_FOLDER.fullmatch(folder) is None or found[3]:
        return False
    return found[4] in {"txt", "json"} or code_stem(path) is not None

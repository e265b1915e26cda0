"""The files that tlparse writes: which one a file is, told from its first bytes, and which names it gives them.

`src/lib.rs` and `src/parsers.rs` of tlparse 0.4.3. A report of one rank is a folder:

    index.html, failures_and_restarts.html      pages
    raw.log                                     byte copy of the trace
    raw.jsonl                                   `{"string_table": [...]}`, then an envelope a line
    compile_directory.json                      `{"[0/0]": {"artifacts": [{"name", "number", "url", ...}]}}`
    chromium_events.json                        payloads of the chromium events
    -_0_0_0/aot_inference_graph_3.txt           payloads: compile id, name, number in the order of the trace
    payloads/<md5>.txt                          payloads that have no such name
    dump_file/, provenance_tracking_-_0_0_0.html
"""

from __future__ import annotations

import re
from enum import StrEnum


class Part(StrEnum):
    """What a file of a report is for."""

    RECORDS = "records"
    """`raw.jsonl`."""
    DIRECTORY = "directory"
    """`compile_directory.json`."""
    EVENTS = "events"
    """`chromium_events.json` of a rank, or of all of them."""
    CODE_PAGE = "code_page"
    """Generated Python, highlighted: `inductor_output_code_<name>_<number>.html`."""
    INDEX = "index"
    """`index.html` of a rank, or of `tlparse --export`."""


COMPILE_FOLDER = re.compile(r"(?:(-|\d{1,10})_(-|\d{1,10})_(-|\d{1,10})_(-|\d{1,10})|unknown_\d{1,10})")
"""Folder of a compile: compiled autograd id, frame id, frame compile id, attempt."""
PAYLOAD_FOLDER = re.compile(rf"{COMPILE_FOLDER.pattern}|payloads")
NUMBERED = re.compile(r"(.*)_(\d{1,10})(_readable)?\.(\w+)", re.DOTALL)
"""Name of a payload's file: name, number, whether it is only another view of one, ending."""
RANK_FOLDER = re.compile(r"rank_(\d{1,9})")

_PAGES = {"index.html", "tlparse_index.html", "failures_and_restarts.html"}
_FIXED = _PAGES | {
    "raw.log",
    "raw.jsonl",
    "compile_directory.json",
    "chromium_events.json",
    "collectives_parity.json",
}
OF_ALL_RANKS = frozenset(
    {
        "index.html",
        "chromium_events.json",
        "runtime_estimations.json",
        "chromium_trace_with_runtime.json",
        "collective_schedules.json",
    }
)
"""What `tlparse --all-ranks-html` writes beside the folders of the ranks."""
_GLOBAL = re.compile(r"payloads/[0-9A-Fa-f]{32}\.txt|dump_file/[^/]+\.html|provenance_tracking_[^/]+\.html")

_DIRECTORY = re.compile(rb'\{\s*"(?:\[[^"\n]{1,60}\]|unknown)":\s*\{\s*"artifacts":\s*\[')
_EVENT = re.compile(rb'"cat":\s*"dynamo_timed"')
_CODE_PAGE = re.compile(rb'<pre style="background-color:#?\w{3,20};">\r?\n(?:<span style="|</pre>)')
_INDEX = b"The <strong>stack trie</strong> is a way of getting a quick orientation"
_LINE_KEYS = (b'"lineno":', b'"pathname":', b'"thread":', b'"timestamp":')


def part_of(head: bytes) -> Part | None:
    """Return which file of a report begins with these bytes; None for any other file."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        if text.startswith((b'{"string_table":', b'{"string_table" :')) or _is_line(text):
            return Part.RECORDS
        return Part.DIRECTORY if _DIRECTORY.match(text) else None
    if text.startswith(b"["):
        return Part.EVENTS if re.match(rb"\[\s*\{", text) and _EVENT.search(text) else None
    if text.startswith(b"<"):
        if _CODE_PAGE.match(text):
            return Part.CODE_PAGE
        if b"<h1>Draft Export Report</h1>" in text or _INDEX in text:
            return Part.INDEX
    return None


def _is_line(text: bytes) -> bool:
    """Tell `raw.jsonl` without its first line: keys that tlparse adds to every envelope, in their order."""
    line = text[: text.find(b"\n")] if b"\n" in text else text
    at = 0
    for key in _LINE_KEYS:
        at = line.rfind(key, at) if key == b'"lineno":' else line.find(key, at)
        if at < 0:
            return False
    return True


def is_member(path: str) -> bool:
    """Tell whether a path inside a report's folder is one that tlparse writes to."""
    if path in _FIXED or _GLOBAL.fullmatch(path):
        return True
    folder, _, name = path.partition("/")
    return (
        bool(name) and COMPILE_FOLDER.fullmatch(folder) is not None and NUMBERED.fullmatch(name) is not None
    )

"""Records of AOTInductor's intermediate value printer.

Format: `grammars/printer.lark`. This module finds headers and one-line records; `parse/printer/block.py` reads what
stands under a header, `parse/printer/launches.py` tells which launch each record belongs to.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Dump, Note
from aoti_logs.parse.printer.block import offset_behind, read_cpp, read_python
from aoti_logs.parse.printer.dump import read_numbers
from aoti_logs.parse.printer.saved_name import saved_name
from aoti_logs.parse.printer.whole import read_whole
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_RECORD = re.compile(
    r"\[  aoti_model_inputs - [^\n]{1,2000}?  \]:|\[  (?:before|after)_launch - [^\n]{1,4000}?  \]:?"
    r"|\[ (?:before|after)_launch: [^\n]{1,2000}? \]|\[  [^\n\[\]]{0,500}?  \]:$|\[  \]:$"
)
_SAVED = re.compile(
    r"aoti_torch_save_tensor_handle: (?:Saved tensor to |Path does not exist, creating it\.\.\.|Error creating directory: ).*$"
)
_PYTHON = re.compile(r"inductor: (?:before|after)_launch - .* - .*$")
_LITERAL_NEWLINE = re.compile(r"(?:\\n)?")
_KNOWN = re.compile(r"_launch|aoti_model_inputs")
_ONE_LINE = {"kernel_names_only", "cpp_scalar", "save"}


def read_dump(log: Log, line: Line) -> bool:
    """Claim the printer's records that begin on this line."""
    text = line.text
    body = text.strip()
    if _PYTHON.match(body):
        return _record(log, line, body)
    saved = _SAVED.search(text)
    if saved is not None:
        return _record(log, line, saved[0])
    found = _RECORD.match(text) or _RECORD.match(body)
    if found is None:
        glued = _RECORD.search(text)
        if (
            glued is None
            or glued.start() == 0
            or _KNOWN.search(glued[0]) is None
            or '"' in text[: glued.start()]
        ):
            return False
        offset = offset_behind(log, line, text[: glued.start()])
        if offset is None:
            return False
        return read_dump(log, replace(log.line(offset), rank=line.rank))
    rest = text[found.end() :] if text.startswith(found[0]) else body[found.end() :]
    if not rest.strip():
        return _record(log, line, found[0].strip())
    # Several records on one line: claim this one, the rest of the line is a line of its own.
    stop = _LITERAL_NEWLINE.match(rest)
    used = text[: len(text) - len(rest) + (stop.end() if stop else 0)]
    offset = offset_behind(log, line, used)
    if offset is None or offset >= line.end:
        return _record(log, line, found[0].strip())
    if not text[len(used) :].strip():
        offset = line.end
    return _record(log, replace(line, end=offset), found[0].strip())


def is_header(text: str) -> bool:
    """Tell a line that begins with a record of the printer."""
    return _RECORD.match(text) is not None or _PYTHON.match(text) is not None


def _record(log: Log, line: Line, header: str) -> bool:
    found = fields("printer", "header", header)
    if found is None:
        log.unreadable(line.start, line.end, "value printer header")
        return True
    if "FOLDER" in found or "NOT_CREATED" in found:
        _directory(log, line, found)
        return True
    dump = _header(line, header, found, log)
    if dump.format in _ONE_LINE:
        log.dumps.append(replace(dump, span=log.claim("printer", [line])))
        return True
    if dump.format == "python":
        block = read_python(log, line, is_header)
    else:
        block = read_whole(log, line) or read_cpp(log, line, is_header)
    if not dump.phase and "Number of elements" not in block.keys:
        return False  # somebody else's `[  text  ]:`
    above = log.dumps[-1] if log.dumps else None
    if (
        above is not None
        and above.bare
        and above.rank == line.rank
        and above.span.end == log.span(line.start, line.end).start
    ):
        block.mixed = True  # no process prints two headers without anything between them
    log.dumps.append(read_numbers(dump, log.claim("printer", block.lines), block))
    return True


def _directory(log: Log, line: Line, found: Fields) -> None:
    """Note the folder that the printer made, or could not make, for the tensors that it saves."""
    folder = (first(found, "FOLDER") or first(found, "NOT_CREATED") or "").strip().strip('"')
    facts = [("folder", folder)]
    if "NOT_CREATED" in found:
        facts.append(("problem", first(found, "PROBLEM") or "not created"))
    log.notes.append(Note("save_directory", log.claim("printer", [line]), tuple(facts)))


def _header(line: Line, header: str, found: Fields, log: Log) -> Dump:
    phase = first(found, "PHASE") or ("aoti_model_inputs" if "INPUTS" in found else "")
    kernel = first(found, "KERNEL") or first(found, "KERNEL_NAME")
    argument = first(found, "ARGUMENT") or first(found, "SCALAR") or first(found, "PYTHON_ARGUMENT")
    form, value, device = "cpp_v2", first(found, "VALUE"), None
    if "PATH" in found:
        form, value = "save", found["PATH"][0]
        name = saved_name(value, {d.kernel for d in log.dumps[-64:] if d.kernel})
        if name is not None:
            phase, kernel, argument, device = name
    elif "KERNEL_NAME" in found:
        form = "kernel_names_only"
    elif "SCALAR" in found:
        form = "cpp_scalar"
    elif header.startswith("inductor"):
        form = "python"
    elif "MANUAL" in found:
        before, _, argument = found["MANUAL"][0].rpartition(" - ")
        kernel = before or None
    span = log.span(line.start, line.end)
    return Dump(form, phase, kernel, argument, span, device=device, value=value, rank=line.rank)

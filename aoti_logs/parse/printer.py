"""Records of AOTInductor's intermediate value printer.

Format: `grammars/printer.lark`; the values themselves are printed by ATen (aten/src/ATen/core/Formatting.cpp)
or by torch's `repr`. A block is read to its end by its lines: other output may stand between them, and a
process that dies leaves a block without its last lines.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Dump
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Line, Log
    from aoti_logs.parse.shape import Fields

WORDS = (b"_launch", b"aoti_model_inputs", b"aoti_torch_save_tensor_handle", b"[  ")

_RECORD = re.compile(
    r"\[  aoti_model_inputs - [^\n]{1,2000}?  \]:|\[  (?:before|after)_launch - [^\n]{1,4000}?  \]:?"
    r"|\[ (?:before|after)_launch: [^\n]{1,2000}? \]|\[  [^\n\[\]]{0,500}?  \]:$"
)
_SAVED = re.compile(r"aoti_torch_save_tensor_handle: Saved tensor to .*$")
_PYTHON = re.compile(r"inductor: (?:before|after)_launch - .* - .*$")
_LITERAL_NEWLINE = re.compile(r"(?:\\n)?")
_PT = re.compile(
    r"(?:aoti_torch)?(before_launch|after_launch)_(.+)_((?:buf|arg)\w*?|[a-z]\w*?)_(cpu|cuda:\d+|xpu:\d+|mps(?::\d+)?)\.pt$"
)

_SUMMARY = re.compile(
    r"(?P<key>Number of elements|Dtype|Mean value|Min value|Max value|Device|Size|Stride|Layout|Is contiguous|Requires grad"
    r"|Mean|Min|Max|Std|Value):"
)
_OTHER_KEY = re.compile(r"[A-Z][A-Za-z]+(?: [a-z]+){0,3}: \S")
_TYPE = re.compile(r"\[ [A-Za-z]+\w*Type\{[\d,]*\} \]$")
_NUMBER = r"(?:[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)j?|[-+]?\d+(?:\.\d*)?e[-+]?\d+|True|False|true|false)"
_VALUES = re.compile(
    rf"\s*{_NUMBER}(?:[\s,]+{_NUMBER})*\s*$|\s*{_NUMBER} \*$|Columns \d+ to \s*\d+.*$|\((?:\d+,)*\.,\.\) = *$"
)
_PYTHON_VALUES = re.compile(r"(?:Parameter containing:|tensor\(.*|\s+\[?.*[\]\d.,)]+.*|\[?.*\]\)?,?.*\))$")
_INFO = re.compile(r"\[INFO\] Aten built-in function")
_CPP_END = {
    "Number of elements",
    "Dtype",
    "Device",
    "Size",
    "Stride",
    "Layout",
    "Is contiguous",
    "Requires grad",
}
_BEYOND = 8  # lines of other output inside a block
_LONGEST = 4000  # lines of one block


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
        offset = _offset(log, line, text[: glued.start()])
        if offset is None:
            return False
        return read_dump(log, log.line(offset))
    rest = text[found.end() :] if text.startswith(found[0]) else body[found.end() :]
    if not rest.strip():
        return _record(log, line, found[0].strip())
    # Several records on one line: claim this one, the rest of the line is a line of its own.
    stop = _LITERAL_NEWLINE.match(rest)
    used = text[: len(text) - len(rest) + (stop.end() if stop else 0)]
    offset = _offset(log, line, used)
    if offset is None or offset >= line.end:
        return _record(log, line, found[0].strip())
    if not text[len(used) :].strip():
        offset = line.end
    return _record(log, replace(line, end=offset), found[0].strip())


_KNOWN = re.compile(r"_launch|aoti_model_inputs")


def _offset(log: Log, line: Line, text: str) -> int | None:
    """Return the byte offset behind the first characters of a line, or None when it cannot be told."""
    raw = bytes(log.data[line.start : min(line.end, line.start + (1 << 16))])
    at = raw.find(text.encode())
    return None if at < 0 else line.start + at + len(text.encode())


def _record(log: Log, line: Line, header: str) -> bool:
    found = fields("printer", "header", header)
    if found is None:
        log.unreadable(line.start, line.end, "value printer header")
        return True
    dump = _header(log, line, header, found)
    if dump.form in {"names", "cpp_scalar", "saved"}:
        log.dumps.append(replace(dump, span=log.claim("printer", [line])))
        return True
    lines, keys, values = _block(log, line, python=dump.form == "python")
    if not dump.phase and "Number of elements" not in keys:
        return False  # somebody else's `[  text  ]:`
    log.dumps.append(_filled(replace(dump, span=log.claim("printer", lines)), keys, values))
    return True


def _header(log: Log, line: Line, header: str, found: Fields) -> Dump:
    phase = first(found, "PHASE") or ("inputs" if "INPUTS" in found else "")
    kernel = first(found, "KERNEL") or first(found, "KERNEL_NAME")
    argument = first(found, "ARGUMENT") or first(found, "SCALAR") or first(found, "PYTHON_ARGUMENT")
    form, value = "cpp", first(found, "VALUE")
    if "PATH" in found:
        form, value = "saved", found["PATH"][0]
        name = _PT.search(value.replace("\\", "/").rpartition("/")[2])
        if name is not None:
            phase, kernel, argument = name[1], name[2], name[3]
    elif "KERNEL_NAME" in found:
        form = "names"
    elif "SCALAR" in found:
        form = "cpp_scalar"
    elif header.startswith("inductor"):
        form = "python"
    elif "MANUAL" in found:
        before, _, argument = found["MANUAL"][0].rpartition(" - ")
        kernel = before or None
    return Dump(form, phase, kernel, argument, log.span(line.start, line.end), value=value)


def _block(log: Log, line: Line, *, python: bool) -> tuple[list[Line], dict[str, str], list[str]]:
    """Read the lines under a header; return them, the summary and the printed values."""
    lines = [line]
    keys: dict[str, str] = {}
    values: list[str] = []
    pending: list[Line] = []
    now = log.after(line)
    foreign = 0
    while now is not None and len(lines) < _LONGEST:
        text = now.text.rstrip()
        summary = _SUMMARY.match(text)
        if not text:
            if keys and not python:
                if keys.keys() >= _CPP_END or not foreign:
                    lines.append(now)
                break
            pending.append(now)
            if len(pending) > 2 or python:
                break
        elif summary is not None and summary["key"] not in keys:
            keys[summary["key"]] = text[summary.end() :].strip()
            lines += [*pending, now]
            pending, foreign = [], 0
            if python and summary["key"] in {"Std", "Value"}:
                break
        elif not keys.keys() >= _CPP_END and _is_value(text, python=python, late=bool(keys)):
            values += ["" for _ in pending] + [text]
            lines += [*pending, now]
            pending = []
        elif _RECORD.match(text) or _PYTHON.match(text) or summary is not None:
            break  # the next record
        elif keys and _OTHER_KEY.match(text) and not foreign and not python:
            key, _, value = text.partition(": ")
            keys.setdefault(key, value)
            lines.append(now)
        else:
            foreign += 1
            if foreign > _BEYOND:
                break
        now = log.after(now)
    return lines, keys, values


def _is_value(text: str, *, python: bool, late: bool) -> bool:
    if python:
        return not late and _PYTHON_VALUES.match(text) is not None
    return bool(_TYPE.match(text) or _VALUES.match(text) or _INFO.match(text))


def _filled(dump: Dump, keys: dict[str, str], values: list[str]) -> Dump:
    dtype = keys.get("Dtype")
    mean = _float(keys.get("Mean value") or keys.get("Mean"))
    if dump.form == "python" and dtype is not None and _float(dtype) is not None:
        # torch 2.6 and 2.9 print the mean as Dtype.
        mean = _float(dtype) if mean is None else mean
        dtype = None
    number = keys.get("Number of elements")
    if dump.form == "python":
        complete = "Std" in keys or "Value" in keys
    else:
        complete = keys.keys() >= _CPP_END
    return replace(
        dump,
        dtype=dtype,
        device=keys.get("Device"),
        shape=_shape(keys.get("Size")),
        stride=_shape(keys.get("Stride")),
        numel=int(number[:18]) if number and number.isdigit() else None,
        mean=mean,
        min=_float(keys.get("Min value") or keys.get("Min")),
        max=_float(keys.get("Max value") or keys.get("Max")),
        value=keys.get("Value") or ("\n".join(values) if values else None),
        complete=complete,
    )


def _float(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None or "[" not in text:
        return None
    inner = text[text.index("[") + 1 :].partition("]")[0]
    parts = [p.strip() for p in inner.split(",") if p.strip()]
    return tuple(int(p[:18]) for p in parts) if all(p.lstrip("-").isdigit() for p in parts) else None

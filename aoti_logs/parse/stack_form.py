"""Which program printed a line of a native stack, and what its fields are.

Formats: `grammars/frame.lark` and `grammars/native_frame.lark` name the programs. A line is first told by a cheap
test, then read by its grammar (once for each shape, see `parse/shape.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Frame
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.shape import Fields
    from aoti_logs.sources.source import Span

FORMATS = {
    "c10": "`frame #N: SYMBOL + OFFSET (ADDRESS in LIBRARY)` of c10",
    "captured_traceback": "`#N SYMBOL from FILE:LINE` of torch.utils' CapturedTraceback",
    "gdb": "gdb's and cuda-gdb's `backtrace`",
    "lldb": "lldb's `bt`",
    "sanitizer": "AddressSanitizer and its relatives",
    "glog": "glog's failure signal handler",
    "absl": "Abseil's failure signal handler",
    "folly": "folly's fatal signal handler",
    "ucx": "UCX",
    "symbols": "glibc's `backtrace_symbols`, whoever calls it",
    "faulthandler": "the C stack of CPython 3.14",
    "llvm": "LLVM's stack dumps, which Triton's compiler prints",
    "windows": "c10 on Windows",
    "py_spy": "py-spy's dump",
}
"""Names of formats, as `Stack.format` has them, and who prints each."""

# A debugger's prompt, Ray's logger, OpenMPI's host and process: what stands on the same line before a frame.
_BEFORE = re.compile(
    r"\s*\((?:cuda-)?gdb\)\s+|\[\d{4}-\d\d-\d\d [\d:,.]+ [A-Z] \d+ \d+\] (?:\(\w+\) )?\S+\.cc:\d+: ?|\[[\w.-]+:\d+\] (?=\[ ?\d+\] )"
)
_HASH = re.compile(r"\s*#\d+\s")
_CAPTURED = re.compile(r"\s*#\d+ .* from (?:\S.*)?:\d+\s*$")
_ADDRESS_IN = re.compile(r"\s*#\d+\s+0x[0-9a-fA-F]+ in ")
_GDB_END = re.compile(r"\) (?:at|from) \S.*$")
_GDB = re.compile(
    r"\s*#\d+\s+(?:0x[0-9a-fA-F]+ in |\S.*\)(?: (?:at|from) .*)?$|<(?:signal handler|function called))"
)
_SANITIZER = re.compile(r"\s*#\d+ (?:0x[0-9a-fA-F]+\s|\S.*\+0x[0-9a-fA-F]+\))")
_SANITIZER_END = re.compile(
    r"\+0x[0-9a-fA-F]+\)(?:\s+\(BuildId: [0-9a-f]+\))?\s*$|\S:\d+(?::\d+)?(?:\s+\(BuildId: [0-9a-f]+\))?\s*$"
)
_LLVM = re.compile(r"\s*#\d+ 0x[0-9a-f]{16} (?!in )")
_LONE = re.compile(r"\s*#\d+ 0x[0-9a-fA-F]+(?: in [^()]+)?$")
_C10 = re.compile(r"\s*(?:\* )?frame #\d+:\s(?P<lldb>0x[0-9a-fA-F]+(?:\s|$)|[^\s`]+`)?")
_AT = re.compile(
    r"(?:PC:\s+|\s*)@\s+(?P<address>(?:0x)?[0-9a-f]{4,16}|[0-9A-F]{8,16})(?:(?P<size>\s+(?:\d+|\(unknown\))\s{2,})|\s)"
)
_UCX = re.compile(r"\s*\d+\s+0x[0-9a-fA-F]{6,16} \S.*\(\)\s+\S.*:\d+\s*$")
_SYMBOLS = re.compile(
    r"\s*(?:\[ ?\d+\]\s|\(\d+\)\s|\d+:?\s+|\[bt\]\s+\(\d+\)\s)?\s*(?:[./~]|[\w.+-]+\.so)[^()\[\]]*(?:\([^()]*\)\s?|\s)\[0x[0-9a-fA-F]+\]\s*$"
)
_BINARY = re.compile(r"\s*Binary file [\"'].*\[0x[0-9a-fA-F]+\]$")
_DUMP = re.compile(r"\s*\d+\s+[^\s()\[\]:]+\s+0x[0-9a-f]{12,16}(?:\s\S.* \+ \d+)?\s*$")
_WINDOWS = re.compile(r"\s*[0-9A-F]{16,32} (?:<unknown symbol address> )?[^\s!]+!.* \[.* @ .*\]\s*$")

_LIBRARY = re.compile(r"\.(?:so(?:\.\d+)*|dll|dylib|pyd)$")
_NO_PLACE = {"??", "???", "offloadstuff.c", ""}
_SYMBOLS_OF = ("C10_SYMBOL", "RAW_SYMBOL", "CAPTURED_SYMBOL", "GDB_SYMBOL", "GDB_MARK", "LLDB_SYMBOL", "SYMBOL",
               "AT_SYMBOL", "UCX_SYMBOL", "DUMP_SYMBOL", "WINDOWS_SYMBOL", "PYSPY_SYMBOL")  # fmt: skip
_UNKNOWN = re.compile(r"<unknown function>?|\?\?(?:\(\))?|<null>|\(unknown\)|<unknown symbol>|\(nil\)")


@dataclass(frozen=True)
class Form:
    """A format: its grammar and rule. `numbered` is False where the printer gives frames no numbers."""

    name: str
    grammar: str
    start: str
    row: Callable[[Fields, Span, int], Frame]
    numbered: bool = True


def form_of(text: str) -> Form | None:
    """Tell which format a line that is a frame has, or None."""
    text = bare(text)
    if "#" in text:
        if _HASH.match(text):
            return _hashed(text)
        found = _C10.match(text)
        if found is not None:
            return _LLDB_FORM if found["lldb"] else _C10_FORM
    if "0x" in text or "@" in text:
        return _addressed(text)
    return None


def _hashed(text: str) -> Form | None:
    with_address = _ADDRESS_IN.match(text) is not None
    if not with_address and _CAPTURED.match(text):
        return _CAPTURED_FORM
    if _GDB_END.search(text) and _GDB.match(text):
        return _GDB_FORM
    if (_SANITIZER.match(text) and _SANITIZER_END.search(text)) or _LONE.match(text):
        return _LLVM_FORM if _LLVM.match(text) else _SANITIZER_FORM
    return _GDB_FORM if _GDB.match(text) else None


def _addressed(text: str) -> Form | None:
    if "@" in text:
        found = _AT.match(text)
        if found is not None:
            if found["size"]:
                return _ABSL_FORM
            return (
                _GLOG_FORM if found["address"].startswith("0x") or found["address"].isupper() else _FOLLY_FORM
            )
        if " @ " in text and _WINDOWS.match(text):
            return _WINDOWS_FORM
    if _UCX.match(text):
        return _UCX_FORM
    if text.rstrip().endswith("]"):
        if _BINARY.match(text):
            return _BINARY_FORM
        return _SYMBOLS_FORM if _SYMBOLS.match(text) else None
    return _DUMP_FORM if _DUMP.match(text) else None


def read_frame(form: Form, text: str, span: Span, number: int) -> Frame | None:
    """Read a line of a stack; `number` is what a frame without one gets."""
    found = frame_fields(form, text)
    return None if found is None else form.row(found, span, number)


def frame_fields(form: Form, text: str) -> Fields | None:
    """Return the fields of a line of a stack, or None when it does not fit the form."""
    return fields(form.grammar, form.start, bare(text).strip())


def bare(text: str) -> str:
    """Return a line without what a debugger's prompt or a logger put before it."""
    if text[:1] not in {"(", "["}:
        return text
    found = _BEFORE.match(text)
    return text if found is None else text[found.end() :]


def _frame(found: Fields, span: Span, number: int) -> Frame:
    symbol = next((found[s][0] for s in _SYMBOLS_OF if s in found), None)
    digits = first(found, "NUMBER")
    return Frame(
        number=int(digits[:9]) if digits else number,
        symbol=None if symbol is None or _UNKNOWN.fullmatch(symbol) else symbol,
        file=None,
        line=None,
        library=None,
        offset=None,
        address=_hex(first(found, "ADDRESS") or first(found, "HEX")),
        span=span,
    )


def _c10(found: Fields, span: Span, number: int) -> Frame:
    library = first(found, "LIBRARY") or first(found, "RAW_LIBRARY")
    return replace(_frame(found, span, number), library=library, offset=_hex(first(found, "OFFSET")))


def _place(frame: Frame, file: str | None, digits: str | None, library: str | None = None) -> Frame:
    """Add where the code stands; a number behind a library's name is a byte offset, and line 0 is none."""
    line = int(digits[:9]) if digits else None
    if file and _LIBRARY.search(file):
        return replace(frame, library=file, offset=line)
    if file is None or file in _NO_PLACE or line == 0:
        file, line = None if file in _NO_PLACE else file, None
    return replace(frame, file=file, line=line, library=library)


def _captured(found: Fields, span: Span, number: int) -> Frame:
    return _place(_frame(found, span, number), first(found, "FILE"), first(found, "LINE"))


def _gdb(found: Fields, span: Span, number: int) -> Frame:
    frame = _frame(found, span, number)
    frame = _place(frame, first(found, "GDB_FILE"), first(found, "LINE"), first(found, "GDB_LIBRARY"))
    arguments = first(found, "ARGUMENTS")
    # Frame 0 has no address where the process stopped at the beginning of a line.
    inlined = frame.address is None and frame.number > 0 and "GDB_MARK" not in found
    return replace(frame, arguments=arguments, inlined=inlined)


def _lldb(found: Fields, span: Span, number: int) -> Frame:
    frame = _frame(found, span, number)
    flags = found.get("LLDB_FLAG", [])
    symbol, inlined = frame.symbol, "[inlined]" in flags
    if symbol is not None and " [inlined] " in symbol:
        symbol, inlined = symbol.rpartition(" [inlined] ")[2], True
    distance = first(found, "DISTANCE")
    library = first(found, "LLDB_MODULE")
    frame = replace(
        _place(frame, first(found, "LLDB_FILE"), first(found, "LINE"), library),
        symbol=symbol,
        inlined=inlined,
    )
    column = first(found, "COLUMN")
    offset = int(distance[:9]) if distance else None
    return replace(frame, library=library, offset=offset, column=int(column[:9]) if column else None)


def _sanitizer(found: Fields, span: Span, number: int) -> Frame:
    frame = _place(_frame(found, span, number), first(found, "FILE"), first(found, "LINE"))
    column, module, build = first(found, "COLUMN"), first(found, "MODULE"), first(found, "BUILD")
    return replace(
        frame,
        library=module or frame.library,
        offset=_hex(first(found, "OFFSET")) if module else frame.offset,
        column=int(column[:9]) if column else None,
        build_id=build,
    )


def _signed(found: Fields) -> int | None:
    digits = first(found, "SIGNED")
    return None if digits is None else int(digits[:19], 16)


def _symbols(found: Fields, span: Span, number: int) -> Frame:
    library = first(found, "LIBRARY") or first(found, "QUOTED_LIBRARY")
    frame = _frame(found, span, number)
    return replace(frame, library=library.strip('"') if library else None, offset=_signed(found))


def _ucx(found: Fields, span: Span, number: int) -> Frame:
    return _place(_frame(found, span, number), first(found, "UCX_FILE"), first(found, "LINE"))


def _dump(found: Fields, span: Span, number: int) -> Frame:
    distance = first(found, "DISTANCE")
    frame = _frame(found, span, number)
    return replace(
        frame, library=first(found, "DUMP_LIBRARY"), offset=int(distance[:9]) if distance else None
    )


def _windows(found: Fields, span: Span, number: int) -> Frame:
    frame = replace(_frame(found, span, number), address=_hex(found["HEX_PAIR"][0][:16]))
    file, line = first(found, "WINDOWS_FILE"), first(found, "WINDOWS_LINE")
    if file and not file.startswith("<") and line and line.isdigit():
        frame = replace(frame, file=file, line=int(line[:9]))
    return replace(frame, library=first(found, "WINDOWS_MODULE"))


def _pyspy(found: Fields, span: Span, number: int) -> Frame:
    return _place(_frame(found, span, number), first(found, "PYSPY_FILE"), first(found, "LINE"))


def _hex(digits: str | None) -> int | None:
    return int(digits[:18], 16) if digits else None


_C10_FORM = Form("c10", "frame", "c10", _c10)
_CAPTURED_FORM = Form("captured_traceback", "frame", "captured", _captured)
_GDB_FORM = Form("gdb", "frame", "gdb", _gdb)
_LLDB_FORM = Form("lldb", "native_frame", "lldb", _lldb)
_SANITIZER_FORM = Form("sanitizer", "native_frame", "sanitizer", _sanitizer)
_LLVM_FORM = Form("llvm", "native_frame", "sanitizer", _sanitizer)
_GLOG_FORM = Form("glog", "native_frame", "at", _frame, numbered=False)
_ABSL_FORM = Form("absl", "native_frame", "at", _frame, numbered=False)
_FOLLY_FORM = Form("folly", "native_frame", "at", _frame, numbered=False)
_UCX_FORM = Form("ucx", "native_frame", "ucx", _ucx)
_SYMBOLS_FORM = Form("symbols", "native_frame", "symbols", _symbols, numbered=False)
_BINARY_FORM = Form("faulthandler", "native_frame", "binary", _symbols, numbered=False)
_DUMP_FORM = Form("llvm", "native_frame", "dump", _dump)
_WINDOWS_FORM = Form("windows", "native_frame", "windows", _windows, numbered=False)
PY_SPY = Form("py_spy", "native_frame", "pyspy", _pyspy, numbered=False)
CAPTURED = _CAPTURED_FORM

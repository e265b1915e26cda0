"""Which program printed a line of a native stack, and what its fields are.

Formats: `grammars/frame.lark` and `grammars/native_frame.lark` name the programs. A line is first told by a cheap
test, then read by its grammar (once for each shape, see `parse/shape.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_ODD = frozenset("<?(")
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


def _symbol(found: Fields) -> str | None:
    for name in _SYMBOLS_OF:
        if name in found:
            return known(found[name][0])
    return None


def known(symbol: str) -> str | None:
    """Return a symbol, or None where the printer says that it knows none."""
    return None if symbol[0] in _ODD and _UNKNOWN.fullmatch(symbol) else symbol


def _number(found: Fields, number: int) -> int:
    return int(found["NUMBER"][0][:9]) if "NUMBER" in found else number


def _count(found: Fields, name: str) -> int | None:
    return int(found[name][0][:9]) if name in found else None


def _place(
    file: str | None, line: int | None, library: str | None
) -> tuple[str | None, int | None, str | None, int | None]:
    """Return file, line, library, offset: a number behind a library's name is a byte offset, and line 0 is none."""
    if file and _LIBRARY.search(file):
        return None, None, file, line
    if file is None or file in _NO_PLACE or line == 0:
        return None if file in _NO_PLACE else file, None, library, None
    return file, line, library, None


# Each of these makes a frame at once: there are hundreds of thousands of them.
def _c10(found: Fields, span: Span, number: int) -> Frame:
    library = first(found, "LIBRARY") or first(found, "RAW_LIBRARY")
    offset, address = _hex(first(found, "OFFSET")), _hex(first(found, "ADDRESS"))
    return Frame(_number(found, number), _symbol(found), None, None, library, offset, address, span)


def _captured(found: Fields, span: Span, number: int) -> Frame:
    file, line, library, offset = _place(first(found, "FILE"), _count(found, "LINE"), None)
    return Frame(_number(found, number), _symbol(found), file, line, library, offset, None, span)


def _gdb(found: Fields, span: Span, number: int) -> Frame:
    place = _place(first(found, "GDB_FILE"), _count(found, "LINE"), first(found, "GDB_LIBRARY"))
    own, address = _number(found, number), _hex(first(found, "ADDRESS"))
    # Frame 0 has no address where the process stopped at the beginning of a line.
    inlined = address is None and own > 0 and "GDB_MARK" not in found
    arguments = first(found, "ARGUMENTS")
    return Frame(own, _symbol(found), *place, address, span, arguments=arguments, inlined=inlined)


def _lldb(found: Fields, span: Span, number: int) -> Frame:
    flags = found.get("LLDB_FLAG", [])
    symbol, inlined = _symbol(found), "[inlined]" in flags
    if symbol is not None and " [inlined] " in symbol:
        symbol, inlined = symbol.rpartition(" [inlined] ")[2], True
    file, line, _, _ = _place(first(found, "LLDB_FILE"), _count(found, "LINE"), None)
    library, offset = first(found, "LLDB_MODULE"), _count(found, "DISTANCE")
    address, column = _hex(first(found, "ADDRESS")), _count(found, "COLUMN")
    return Frame(
        _number(found, number),
        symbol,
        file,
        line,
        library,
        offset,
        address,
        span,
        column=column,
        inlined=inlined,
    )


def _sanitizer(found: Fields, span: Span, number: int) -> Frame:
    file, line, library, offset = _place(first(found, "FILE"), _count(found, "LINE"), None)
    module = first(found, "MODULE")
    if module is not None:
        library, offset = module, _hex(first(found, "OFFSET"))
    address, column, build = _hex(first(found, "ADDRESS")), _count(found, "COLUMN"), first(found, "BUILD")
    return Frame(
        _number(found, number),
        _symbol(found),
        file,
        line,
        library,
        offset,
        address,
        span,
        column=column,
        build_id=build,
    )


def _at(found: Fields, span: Span, number: int) -> Frame:
    return Frame(number, _symbol(found), None, None, None, None, _hex(first(found, "HEX")), span)


def _symbols(found: Fields, span: Span, number: int) -> Frame:
    library = first(found, "LIBRARY") or first(found, "QUOTED_LIBRARY")
    signed, address = first(found, "SIGNED"), _hex(first(found, "ADDRESS"))
    offset = None if signed is None else int(signed[:19], 16)
    return Frame(
        number, _symbol(found), None, None, library.strip('"') if library else None, offset, address, span
    )


def _ucx(found: Fields, span: Span, number: int) -> Frame:
    place = _place(first(found, "UCX_FILE"), _count(found, "LINE"), None)
    return Frame(_number(found, number), _symbol(found), *place, _hex(first(found, "ADDRESS")), span)


def _dump(found: Fields, span: Span, number: int) -> Frame:
    library, offset = first(found, "DUMP_LIBRARY"), _count(found, "DISTANCE")
    address = _hex(first(found, "ADDRESS"))
    return Frame(_number(found, number), _symbol(found), None, None, library, offset, address, span)


def _windows(found: Fields, span: Span, number: int) -> Frame:
    file, digits = first(found, "WINDOWS_FILE"), first(found, "WINDOWS_LINE") or ""
    known = file is not None and not file.startswith("<") and digits.isdigit()
    file, line = (file, int(digits[:9])) if known else (None, None)
    address = _hex(found["HEX_PAIR"][0][:16])
    return Frame(number, _symbol(found), file, line, first(found, "WINDOWS_MODULE"), None, address, span)


def _pyspy(found: Fields, span: Span, number: int) -> Frame:
    place = _place(first(found, "PYSPY_FILE"), _count(found, "LINE"), None)
    return Frame(number, _symbol(found), *place, None, span)


def _hex(digits: str | None) -> int | None:
    return int(digits[:18], 16) if digits else None


_C10_FORM = Form("c10", "frame", "c10", _c10)
_CAPTURED_FORM = Form("captured_traceback", "frame", "captured", _captured)
_GDB_FORM = Form("gdb", "frame", "gdb", _gdb)
_LLDB_FORM = Form("lldb", "native_frame", "lldb", _lldb)
_SANITIZER_FORM = Form("sanitizer", "native_frame", "sanitizer", _sanitizer)
_LLVM_FORM = Form("llvm", "native_frame", "sanitizer", _sanitizer)
_GLOG_FORM = Form("glog", "native_frame", "at", _at, numbered=False)
_ABSL_FORM = Form("absl", "native_frame", "at", _at, numbered=False)
_FOLLY_FORM = Form("folly", "native_frame", "at", _at, numbered=False)
_UCX_FORM = Form("ucx", "native_frame", "ucx", _ucx)
_SYMBOLS_FORM = Form("symbols", "native_frame", "symbols", _symbols, numbered=False)
_BINARY_FORM = Form("faulthandler", "native_frame", "binary", _symbols, numbered=False)
_DUMP_FORM = Form("llvm", "native_frame", "dump", _dump)
_WINDOWS_FORM = Form("windows", "native_frame", "windows", _windows, numbered=False)
PY_SPY = Form("py_spy", "native_frame", "pyspy", _pyspy, numbered=False)
CAPTURED = _CAPTURED_FORM

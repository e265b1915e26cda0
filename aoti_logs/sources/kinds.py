"""Which kind a file is, told from its first bytes; its name only decides between kinds of plain text."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from aoti_logs.records import envelope
from aoti_logs.sources import report_files
from aoti_logs.sources.source import Kind

HEAD = 1 << 16
"""How many bytes of a file are looked at."""

_BINARY_MAGIC = (
    b"\x7fELF",  # .so, .o, .cubin, .hsaco
    b"MZ",
    b"\xfe\xed\xfa",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"!<arch>\n",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF-",
    b"PAR1",
    b"SQLite format 3\x00",
    b"\x93NUMPY",
    b"BC\xc0\xde",  # LLVM bitcode
    b"\x03\x02#\x07",  # SPIR-V
    b"\x80\x02}",
    b"\x80\x02\x8a",  # pickles: never opened
    b"\x80\x03",
    b"\x80\x04\x95",
    b"\x80\x05\x95",
)
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_NOT_TEXT = bytes(sorted(set(range(32)) - {*b"\t\n\v\f\r\x1b\b\a"})) + b"\x7f"
# Plain text that is certainly not what a run printed. Other suffixes, and none, are logs.
_CODE_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".cpp",
        ".cc",
        ".cxx",
        ".c",
        ".cu",
        ".cuh",
        ".h",
        ".hpp",
        ".hip",
        ".rs",
        ".go",
        ".java",
        ".js",
        ".ts",
        ".css",
        ".sh",
        ".bash",
        ".ps1",
        ".bat",
        ".cmake",
        ".mk",
        ".ttir",
        ".ttgir",
        ".llir",
        ".ptx",
        ".amdgcn",
        ".source",
        ".ll",
        ".s",
        ".asm",
        ".ld",
        ".lark",
        ".ipynb",
        ".svg",
        ".dot",
    ]
)
_DOCUMENT_SUFFIXES = frozenset(
    [
        ".md",
        ".rst",
        ".html",
        ".htm",
        ".xml",
        ".csv",
        ".tsv",
        ".toml",
        ".yaml",
        ".yml",
        ".ini",
        ".cfg",
        ".jsonl",
        ".lock",
        ".patch",
        ".diff",
    ]
)
# Members of packages and folders of torch that hold one word each.
_MARKERS = frozenset({"archive_format", "archive_version", "byteorder", "version", "serialization_id"})

_TRACE_HEAD = re.compile(
    rb"(?m)^(?:[^\t\n][^\n]{0,200}?)?" + envelope.PREFIX + rb'\{ ?"([^"\\\n]{1,200})": ?[\[{]'
)
_CPP_FIRST = re.compile(
    rb'#\s*(?:include\s*[<"]|pragma\b|if\b|ifdef\b|ifndef\b|define\b)|extern "C"|namespace [\w:]*\s*\{|template\s*<|'
    rb"using (?:namespace \w|\w+\s*=)|typedef [^\n]+;\s*$|struct \w+\s*(?:[:{]|$)|class \w+\s*(?:[:{]|$)"
)
_WRAPPER = re.compile(
    rb"\bAOTInductorModel|\binductor_entry_impl\b|"
    rb"torch/csrc/inductor/(?:aoti_runtime/(?:interface|model_container|model)\.h|(?:aoti_include|cpp_wrapper)/)"
)
_KERNEL = re.compile(rb'\bcpp_prefix\.h|^extern "C"\s+(?:\w+\s+){0,4}?void\s+\w+\(', re.M)
# Torch compiles a few lines to learn what the CPU can do, and leaves them in the cache.
_ISA_CHECK = re.compile(rb"\b__\w+_chk_kernel")
_KERNEL_COMMENTS = b"// Triton kernels are embedded as comments in "
_PYTHON_FIRST = re.compile(
    rb"# AOT ID:|(?:from [\w.]+ )?import \w|@\w|def \w+\(|class [\w<>]+[(:]|cpp_wrapper_src\b|[su]\d+ = |#!.*python|"
    rb'r?"""|\'\'\'|async_compile\b|graph\(\):'
)
_OUTPUT_CODE = re.compile(
    rb"^# AOT ID:|\bAsyncCompile\(\)|^async_compile\b|\bCppWrapperCodeCache\b|^cpp_wrapper_src\b", re.M
)
_TRITON = re.compile(rb"^@triton(?:\.\w+)*\.jit\b|^@triton_heuristics\.", re.M)
_GRAPH = re.compile(
    rb"\s*(?:#[^\n]*\n\s*)*(?:class [\w<>.]{1,200}\((?:torch\.nn\.|fx\.|torch\.fx\.)?\w*Module\):|def forward\(|graph\(\):)"
)
# A run that prints its graph first and then goes on: a log.
_OUTSIDE_GRAPH = re.compile(
    rb"^(?!class |def forward\(|graph\(|ExportedProgram:|Graph signature:|Range constraints:|[#)}\]]|[ \t\r\n])[^\n]",
    re.M,
)
_IR = re.compile(rb"\s*(?:op\d+(?:_op\d+)*|buf\d+): \w*SchedulerNode\(")
_PAGE = re.compile(rb"<(?:!doctype html|html)", re.I)
# Records of Docker's json-file driver; one alone is a JSON document.
_DOCKER = re.compile(rb'\{"log":"[^"\\]*(?:\\.[^"\\]*)*","(?:stream":"std|attrs":\{)')
_INFORMATION = re.compile(rb'"(?:stack_traces|post_grad_nodes|pre_grad_nodes)" ?: ?\[')
_STACKS = re.compile(rb'\A\s*\{\s*"[^"]{1,500}" ?: ?\[\s*"[^"]{0,20}File \\+"')
_PROVENANCE = re.compile(rb'"(?:preToPost|postToPre|cppCodeToPost|postToCppCode)" ?: ?\{')


def layer(head: bytes) -> str | None:
    """Return `gzip`, `bzip2`, `xz`, `zstd`, `zip` or `tar` for packed bytes, else None."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    if head.startswith(_ZIP_MAGIC):
        return "zip"
    if head[257:262] == b"ustar":
        return "tar"
    return None


def tell(head: bytes, name: str = "") -> Kind:
    """Return what a file is.

    Args:
        head: its first `HEAD` bytes, or all of it.
        name: its name; decides only where the content is text that could be anything.
    """
    if layer(head):
        return Kind.ARCHIVE
    if is_binary(head):
        return Kind.BINARY
    if is_trace(head):
        return Kind.TORCH_TRACE
    if report_files.part_of(head) is not None:
        return Kind.TLPARSE_REPORT
    path = PurePosixPath(name.replace("\\", "/").rsplit("!", 1)[-1].lower())
    suffix = path.suffix
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _DOCKER.match(text):
        return Kind.LOG
    if suffix == ".json" or (suffix not in _CODE_SUFFIXES and _is_json(text, complete=len(head) < HEAD)):
        return _json_kind(text)
    return _code_kind(text, suffix) or _text_kind(text, path, suffix)


def is_binary(head: bytes) -> bool:
    """Tell bytes that are no text. Single NULs are: torch prints pickled configurations into logs."""
    if head.startswith(_BINARY_MAGIC) and not head.startswith((b"MZ", b"!<arch>")):
        return True
    if head.startswith((b"MZ", b"!<arch>")) and b"\x00" in head:
        return True
    if not head or head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False  # UTF-16 with its mark: a log of PowerShell
    control = len(head) - len(head.translate(None, _NOT_TEXT))
    if control * 10 > len(head) * 3:
        return True
    # A pickle, weights: many bytes that are neither control characters nor UTF-8.
    wrong = head.decode("utf-8", "replace").count("�") - head.count("�".encode())
    return (wrong * 4 > len(head) and wrong > 8) or (control * 20 > len(head) and wrong * 20 > len(head))


def is_trace(head: bytes) -> bool:
    """Tell a TORCH_TRACE file: from its first record on, most bytes belong to records.

    Text before the first record does not count. One record-like line in a program's output is not
    a trace, TORCH_LOGS lines (same prefix, no envelope) are none either.
    """
    if b"] {" not in head:
        return False  # what every record has; the expression is slow to say no
    first = _TRACE_HEAD.search(head)
    if first is None:
        return False
    inside = outside = 0
    in_record = False
    at = first.start()
    for line in head[at:].split(b"\n"):
        if not (in_record and line.startswith(b"\t")):
            in_record = _TRACE_HEAD.match(line) is not None
        if in_record:
            inside += len(line)
        else:
            outside += len(line)
    return inside >= outside


def _is_json(text: bytes, *, complete: bool) -> bool:
    """Tell one JSON document from a log whose lines are JSON, or begin with a bracket."""
    if not text.startswith((b"{", b"[")):
        return False
    import json

    decoder = json.JSONDecoder()
    string = text.decode("utf-8", "replace")
    try:
        _, end = decoder.raw_decode(string)
    except RecursionError:
        return True
    except ValueError as error:
        # Cut at the end of the head: whatever the decoder complains about is then at the end.
        return not complete and getattr(error, "pos", 0) > len(string) - 4096 and _pretty(text)
    return not string[end:].strip()


def _pretty(text: bytes) -> bool:
    return re.match(rb'\{\s*"|\[\s*[\[{"\d]', text) is not None and not re.match(rb"\{[^\n]*\}\r?\n\{", text)


def _json_kind(text: bytes) -> Kind:
    if _INFORMATION.search(text) or _STACKS.match(text):
        return Kind.KERNEL_INFORMATION
    if _PROVENANCE.search(text):
        return Kind.PROVENANCE
    return Kind.JSON


def _code_kind(text: bytes, suffix: str) -> Kind | None:
    if text.startswith(b"ExportedProgram:") or _GRAPH.match(text):
        return None if _OUTSIDE_GRAPH.search(text) else Kind.GRAPH
    first = _first_code(text)
    if _CPP_FIRST.match(first) or text.startswith(_KERNEL_COMMENTS):
        if suffix in {".h", ".hpp"}:
            return Kind.TEXT
        if _WRAPPER.search(text):
            return Kind.WRAPPER_CPP
        is_kernel = text.startswith(_KERNEL_COMMENTS) or _KERNEL.search(text)
        return Kind.KERNEL_CPP if is_kernel and not _ISA_CHECK.search(text) else None
    if _PYTHON_FIRST.match(first) or text.startswith(b"# AOT ID:"):
        if _OUTPUT_CODE.search(text):
            return Kind.OUTPUT_CODE
        if _TRITON.search(text):
            return Kind.TRITON_KERNEL
    return None


def _first_code(text: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment of C++ or Python."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        if line.startswith(b"/*"):
            closed = text.find(b"*/", at)
            if closed < 0:
                return b""
            at = closed + 2
            continue
        if (
            line
            and not line.startswith(b"//")
            and not re.match(rb"#(?!\s*(?:include|pragma|if|define))", line)
        ):
            return line
        at = end + 1
    return b""


def _text_kind(text: bytes, path: PurePosixPath, suffix: str) -> Kind:
    if _IR.match(text) or _PAGE.match(text):
        return Kind.TEXT
    if suffix in _CODE_SUFFIXES or suffix in _DOCUMENT_SUFFIXES:
        return Kind.TEXT
    if path.name in _MARKERS and len(text) < 200:
        return Kind.TEXT
    return Kind.LOG


def is_document(name: str) -> bool:
    """Tell a name of a text that somebody may have pasted a log into (`report.md`)."""
    return PurePosixPath(name.lower()).suffix in _DOCUMENT_SUFFIXES

"""What Triton says of a kernel that does not compile, or needs more than the device has.

Format: `grammars/triton_error.lark`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.failure import Resources, TritonError
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from collections.abc import Sequence

RESOURCES = "out of resource: "

_AT = re.compile(r"\s*at \d{1,9}:\d{1,9}:")
_CARET = re.compile(r"\s*\^\s*$")
_PTXAS = re.compile(
    r"(?:PTXAS error: )?(?:Internal Triton PTX codegen error|`ptxas` (?:failed with error code|raised SIGSEGV)|"
    r"Please run `ptxas |ptxas(?:-\w+)? (?:fatal|error) {0,4}: )"
)
_CODEGEN = re.compile(r"Internal Triton (?!PTX)\w+ codegen error:? ?(?P<said>[^\n]*)")
"""What other backends write: triton/backends/intel/compiler.py (`Internal Triton ZEBIN codegen error`)."""
_PASSES = re.compile(
    r"(?:PassManager::run failed|failed to translate module to LLVM|pass manager|failed to run pass)", re.I
)
_UNDEFINED = re.compile(r"\bname '(?P<old>\w+)' is not defined|(?P<new>\w+) is not defined\b")
_NAME = re.compile(r"^Name=(?P<name>[\w.<>]{1,400})$", re.MULTILINE)
_STAGE = re.compile(r"""stages\[['"](?P<stage>\w+)['"]\]""")
_BACKEND = re.compile(r"triton/backends/(?P<backend>\w+)/")
_MAKE = re.compile(r"\bmake_(?P<stage>ttir|ttgir|llir|ptx|cubin|amdgcn|hsaco|spv|zebin)\b")
_CLASSES = {"CompilationError", "UnsupportedLanguageConstruct", "CompileTimeAssertionFailure"}
_LONGEST = 4096
_MOST = 400  # lines


def read_triton(names: Sequence[str], core: str) -> TritonError | None:
    """Read the text of an exception of Triton's compiler; None when it is none.

    Args:
        names: the types of the exception and of those around it, the innermost last.
        core: the text of the innermost exception.
    """
    last = names[-1] if names else ""
    short = last.rpartition(".")[2]
    lines = core.split("\n")[:_MOST]
    if short in _CLASSES or (last.startswith("triton.") and "Compil" in short):
        return _source(short, lines)
    if short == "PTXASError" or _PTXAS.match(core):
        return _assembler(lines)
    built = _CODEGEN.match(core)
    if built is not None:
        return TritonError("codegen", said=built["said"].strip() or lines[0].strip(), inner=None)
    if _PASSES.match(core):
        return TritonError("passes", said=lines[0].strip(), inner=None)
    return None


def inner_error(row: str) -> TritonError | None:
    """Read the last line of a CompilationError, `NameError('XBLOCK is not defined')`, without what stands above it."""
    found = fields("triton_error", "inner", row.strip()[:_LONGEST])
    if found is None:
        return None
    said = first(found, "SAID") or ""
    undefined = _UNDEFINED.search(row)
    name = (undefined["old"] or undefined["new"]) if undefined else None
    return TritonError("source", said=_unquoted(said), inner=row.strip(), undefined=name)


def _source(short: str, lines: list[str]) -> TritonError | None:
    at = next((n for n, line in enumerate(lines[:20]) if _AT.match(line)), None)
    if at is None:
        return (
            TritonError("source", said=lines[0].strip(), inner=None) if short != "CompilationError" else None
        )
    found = fields("triton_error", "at", lines[at].strip()[:_LONGEST])
    if found is None:
        return None
    caret = next((n for n in range(at + 1, min(len(lines), at + 200)) if _CARET.match(lines[n])), None)
    excerpt = tuple(lines[at + 1 : caret]) if caret is not None else ()
    if caret is not None or (first(found, "SOURCE") or "").startswith("<source "):
        below = lines[(caret if caret is not None else at) + 1 :]
    else:  # cut off before the caret: what stands below is source, unless it is an exception
        below = [row for row in lines[at + 1 :] if row[:1].strip() and inner_error(row) is not None]
    told = next((row.strip() for row in below if row.strip()), None)
    inner = inner_error(told) if told else None
    return TritonError(
        "source",
        said=inner.said if inner is not None else told or "",
        inner=inner.inner if inner is not None else None,
        line=int(found["LINE"][0][:9]),
        column=int(found["COLUMN"][0][:9]),
        excerpt=excerpt,
        undefined=inner.undefined if inner is not None else None,
    )


def _assembler(lines: list[str]) -> TritonError:
    messages: list[str] = []
    command = None
    for line in lines:
        row = line.strip()[:_LONGEST]
        if row.startswith("Repro command: "):
            command = row.removeprefix("Repro command: ")
        if not row.startswith("ptxas") or " : " not in row:
            continue
        found = fields("triton_error", "ptxas", row)
        if found is not None and first(found, "SEVERITY") in {"fatal", "error"}:
            messages.append(found["TEXT"][0])
    return TritonError(
        "ptxas",
        said=messages[0] if messages else lines[0].strip(),
        inner=None,
        messages=tuple(messages),
        command=command,
    )


def _unquoted(text: str) -> str:
    quote = text[:1]
    if quote in {"'", '"'} and len(text) > 1 and text.rstrip(",").endswith(quote):
        return text.rstrip(",")[1:-1].replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')
    return text


def read_resources(text: str) -> Resources | None:
    """Read `out of resource: ...` wherever it stands in a line."""
    at = text.find(RESOURCES)
    if at < 0:
        return None
    line = text[at:].partition("\n")[0].rstrip()
    end = line.find(" for benchmark choice ")
    found = fields("triton_error", "resources", (line if end < 0 else line[:end])[:_LONGEST])
    if found is None:
        return None
    name = found["RESOURCE"][0].strip()
    # torch's own launcher names the kernel where Triton names the resource; it checks shared memory only.
    kernel = name if "_" in name or name.startswith("triton") else None
    return Resources(
        "shared memory" if kernel else name,
        int(found["REQUIRED"][0][:18]),
        int(found["LIMIT"][0][:18]),
        kernel,
    )


def read_choice(text: str) -> tuple[str, str | None, dict[str, str]] | None:
    """Read an autotuning choice: the class that made it, its file or name, its settings as printed."""
    found = fields("triton_error", "choice", text.strip()[: _LONGEST * 4])
    if found is None:
        return None
    settings = dict(zip(found.get("NAME", []), found.get("VALUE", []), strict=True))
    return found["CALLER"][0], first(found, "CHOICE_FILE"), settings


def kernel_name(text: str) -> str | None:
    """Return the name that torch gives with the exception of a worker process (`Name=triton_...`)."""
    found = _NAME.search(text)
    return found["name"] if found and found["name"] != "<unknown>" else None


def backend_of(text: str) -> str | None:
    """Return Triton's backend (`nvidia`, `amd`, `intel`) that the frames of a traceback name last."""
    found = _BACKEND.findall(text.replace("\\", "/"))
    return found[-1] if found else None


def stage_of(text: str) -> str | None:
    """Return the stage (`ttir`, `llir`, `cubin`, ...) that the frames of a traceback name last."""
    found = [m[1] for m in _STAGE.finditer(text)] or [m[1] for m in _MAKE.finditer(text)]
    return found[-1] if found else None

"""The type and text of an exception of a compile, taken apart into what failed inside of what.

Formats: `grammars/exception_text.lark` and, for the innermost exception, `compiler_error.lark`,
`constraint.lark`, `data_dependent.lark`, `recompile_limit.lark`. Traces have the text in
`compilation_metrics.fail_reason`, logs in the last line of a traceback and those below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.facts import ImageError, VersionMismatch
from aoti_logs.parse.aoti.text import read_aoti
from aoti_logs.parse.compiles.compiler_error import called_process, compiler_run
from aoti_logs.parse.compiles.constraint import read_violations
from aoti_logs.parse.compiles.data_dependent import read_undecided
from aoti_logs.parse.compiles.dynamo_text import split_text, unsupported, user_frames
from aoti_logs.parse.compiles.failure import Failure, FailureKind, NodeCall
from aoti_logs.parse.compiles.lowered import read_lowered
from aoti_logs.parse.errors.triton_error import RESOURCES, read_resources, read_triton
from aoti_logs.parse.guards.recompile_limit import read_limit
from aoti_logs.parse.python.worker_text import root_text
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.compiles.failure import Detail

_LONGEST = 4096
_DEEPEST = 8
_WRAPPERS = {
    "InductorError",
    "InternalTorchDynamoError",
    "LoweringException",
}
"""Exceptions whose text begins with the type of another one."""
_LIMITS = {"FailOnRecompileLimitHit", "RecompileLimitExceeded", "CacheLimitExceeded", "FailOnCacheLimitHit"}
_OF_DATA = ("DataDependentOutputException", "DynamicOutputShapeException")
"""Raised by fake tensors (torch/_subclasses/fake_tensor.py); the text is the operator."""
_KINDS = {
    "CppCompileError": FailureKind.CXX_ERROR,
    "CUDACompileError": FailureKind.CXX_ERROR,
    "XPUCompileError": FailureKind.CXX_ERROR,
    "InvalidCxxCompiler": FailureKind.INVALID_CXX,
    "TritonMissing": FailureKind.NO_TRITON,
    "GPUTooOldForTriton": FailureKind.GPU_TOO_OLD,
    "LoweringException": FailureKind.LOWERING,
    "MissingOperatorWithDecomp": FailureKind.LOWERING,
    "MissingOperatorWithoutDecomp": FailureKind.LOWERING,
    "ConstraintViolationError": FailureKind.CONSTRAINT,
    "GuardOnDataDependentSymNode": FailureKind.DATA_DEPENDENT,
    **dict.fromkeys(_OF_DATA, FailureKind.DATA_DEPENDENT),
    "UnsupportedOperatorException": FailureKind.UNSUPPORTED_OPERATOR,
    "BackendCompilerFailed": FailureKind.BACKEND_FAILED,
    "InductorError": FailureKind.BACKEND_FAILED,
    "TorchRuntimeError": FailureKind.FAKE_TENSOR,
    "Unsupported": FailureKind.DYNAMO_UNSUPPORTED,
    "UserError": FailureKind.DYNAMO_UNSUPPORTED,
    "UncapturedHigherOrderOpError": FailureKind.DYNAMO_UNSUPPORTED,
    "SubprocException": FailureKind.SUBPROCESS,
    **dict.fromkeys(_LIMITS, FailureKind.RECOMPILE_LIMIT),
}
"""What the class of an exception says, where its text says nothing more precise."""
_SAID = (
    ("C++ compile error", FailureKind.CXX_ERROR),
    ("No working C++ compiler found", FailureKind.INVALID_CXX),
    ("Failed to find C compiler", FailureKind.INVALID_CXX),
    ("Cannot find a working triton installation", FailureKind.NO_TRITON),
    ("Mutating module attribute ", FailureKind.DYNAMO_UNSUPPORTED),
    ("A compilation subprocess exited unexpectedly", FailureKind.SUBPROCESS),
)
"""How texts begin that say it whatever raised them: torch/_inductor (exc.py; scheduler.py before torch 2.6;
async_compile.py), torch/_dynamo/symbolic_convert.py (exports of torch 2.4), triton/runtime/build.py."""
_NO_COMPILER = re.compile(r"Compiler: \S{1,500} is not found\.")
_TOO_OLD = re.compile(r"Found .{1,200} which is too old to be supported by the triton GPU compiler")
_COMPILES = {"BackendCompilerFailed", "InductorError", "InternalTorchDynamoError", "SubprocException"}
_NO_CONFIGS = re.compile(r"(?:Failed to run autotuning code block: )?No valid triton configs\. ")
_OWN = re.compile(r"torch|dynamo|inductor|triton|symbolic_shapes|fake_tensor|__main__")
_BARE = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\s*$")
_NO_KERNEL = "There was no fake impl registered for <CustomOpDef("
_OPERATOR = re.compile(r"[A-Za-z_]\w*\.\w[\w.]*$")


def read_failure(exception_type: str | None, text: str) -> Failure:
    """Take an exception apart.

    Args:
        exception_type: as printed, with or without its module, or as the repr of the class (torch 2.4).
        text: its whole text; what Dynamo appends (`from user code:`) is taken off.
    """
    kind_name = exception_class(exception_type)
    said, frames = split_text(text)
    own = kind_name.rpartition(".")[2] if kind_name else None
    inner, core, backend = _peel(own, said)
    kind, detail, operator = _judge([n for n in (kind_name, *inner) if n], core, said)
    message = _message(core)
    node = _node(core)
    if isinstance(detail, NodeCall) and node is not None:
        cause, message = node[1], node[2] or message
        inner = (*inner, cause) if cause else inner
    return Failure(
        kind=kind,
        exception_type=kind_name,
        inner=tuple(inner),
        message=message,
        text=text,
        backend=backend or ("inductor" if own == "InductorError" else None),
        operator=operator,
        detail=detail,
        user_frames=user_frames(frames),
        node=node[0] if node is not None else None,
    )


def is_compile_failure(failure: Failure) -> bool:
    """Tell whether an exception certainly came out of a compile."""
    return failure.kind is not FailureKind.OTHER or failure.class_name == "InternalTorchDynamoError"


def exception_class(name: str | None) -> str | None:
    """Return the name of a class that torch 2.4 and 2.5 write as `<class 'torch._dynamo.exc.UserError'>`."""
    if name is None or not name.startswith("<class"):
        return name
    found = fields("exception_text", "class", name[:_LONGEST])
    return first(found, "TYPE") if found else name


def _peel(own: str | None, text: str) -> tuple[tuple[str, ...], str, str | None]:
    """Return the types inside as printed, the text of the innermost one, and the backend's name."""
    inner: list[str] = []
    backend: str | None = None
    for _ in range(_DEEPEST):
        line, _, below = text.partition("\n")
        if line.startswith("backend="):
            found = fields("exception_text", "backend", line.rstrip()[:_LONGEST])
            if found is None:
                break
            backend, text = found["BACKEND"][0], below
            line, _, below = text.partition("\n")
        elif own == "SubprocException":
            text = root_text(text)
            line, _, below = text.partition("\n")
            if _BARE.match(line):  # `AssertionError`, of an exception without a text
                inner.append(line.strip())
                return tuple(inner), below, backend
        elif (configs := _NO_CONFIGS.match(line)) is not None:
            text = text[configs.end() :]
            line, _, below = text.partition("\n")
        elif own not in _WRAPPERS:
            break
        found = fields("exception_text", "inner", line.rstrip()[:_LONGEST])
        name = first(found, "TYPE") if found else None
        if name is None or not name.rpartition(".")[2][:1].isupper():
            break
        own = name.rpartition(".")[2]
        inner.append(name)
        text = line[line.index(name) + len(name) + 1 :].lstrip() + ("\n" + below if below else "")
    return tuple(inner), text, backend


def _judge(names: list[str], core: str, whole: str) -> tuple[FailureKind, Detail | None, str | None]:
    """Return the kind, the text taken apart, and the operator that it is about."""
    triton = _triton(names, core)
    names = [name.rpartition(".")[2] for name in names if not _is_foreign(name)]
    last = names[-1] if names else None
    undecided = read_undecided(core)
    if undecided is not None:
        return FailureKind.DATA_DEPENDENT, undecided, None
    violations = read_violations(core)
    if violations is not None and (last is None or last in {"ConstraintViolationError", "UserError"}):
        return FailureKind.CONSTRAINT, violations, None
    limit = read_limit(core)
    if limit is not None or not _LIMITS.isdisjoint(names):
        return FailureKind.RECOMPILE_LIMIT, limit, None
    if triton is not None:
        return (*triton, None)
    operator = _missing_kernel(last, core)
    if operator is not None:
        return FailureKind.UNSUPPORTED_OPERATOR, unsupported(core), operator
    if not _COMPILES.isdisjoint(names):
        told = read_aoti(core)
        if isinstance(told, ImageError):
            return FailureKind.KERNEL_IMAGE, told, None
        if isinstance(told, VersionMismatch) and told.of_triton:
            return FailureKind.VERSIONS, told, None
    told = _told(core)
    if told is not None and FailureKind.LOWERING not in {_KINDS.get(name) for name in names}:
        return told, compiler_run(whole) if told is FailureKind.CXX_ERROR else None, None
    for name in reversed(names):
        kind = _KINDS.get(name)
        if name in _OF_DATA:
            word = core.split(None, 1)[0] if core.split() else ""
            return FailureKind.DATA_DEPENDENT, None, word if _OPERATOR.match(word) else None
        if kind is FailureKind.CXX_ERROR:
            return kind, compiler_run(whole), None
        if kind is FailureKind.LOWERING:
            lowered = read_lowered(core)
            return kind, lowered, lowered.target if lowered else None
        if kind is FailureKind.FAKE_TENSOR:
            node = _node(core)
            return kind, node[0] if node else unsupported(core), node[0].target if node else None
        if kind is FailureKind.DYNAMO_UNSUPPORTED:
            return kind, unsupported(core), None
        if kind is not None:
            return kind, None, None
    failed = _node(core)
    if failed is not None:
        return FailureKind.FAKE_TENSOR, failed[0], failed[0].target
    if not names and core.split("\n", 2)[1:2] and unsupported(core) is not None:
        return FailureKind.DYNAMO_UNSUPPORTED, unsupported(core), None
    if last == "CalledProcessError" and (run := called_process(core)) is not None:
        return FailureKind.CXX_ERROR, run, None
    if core.startswith("C++ compile error"):
        return FailureKind.CXX_ERROR, compiler_run(whole), None
    if core.startswith("No working C++ compiler found"):
        return FailureKind.INVALID_CXX, None, None
    return FailureKind.OTHER, None, None


def _is_foreign(name: str) -> bool:
    """Tell whether a class is another library's that is named like one of torch's (`media.errors.Unsupported`)."""
    module, _, short = name.rpartition(".")
    return bool(module) and short in _KINDS and module != "exc" and _OWN.search(module) is None


def _told(core: str) -> FailureKind | None:
    """Return the kind that the text itself says."""
    text = core[:_LONGEST].lstrip()
    if _NO_COMPILER.match(text):
        return FailureKind.INVALID_CXX
    if _TOO_OLD.match(text):
        return FailureKind.GPU_TOO_OLD
    return next((kind for words, kind in _SAID if text.startswith(words)), None)


def _triton(names: list[str], core: str) -> tuple[FailureKind, Detail | None] | None:
    """Return what Triton or the driver says of a kernel."""
    resources = read_resources(core) if RESOURCES in core[:_LONGEST] else None
    torn = names and names[-1].rpartition(".")[2] == "OutOfResources"
    if resources is not None or torn:
        return FailureKind.RESOURCES, resources
    triton = read_triton(names, core)
    if triton is not None:
        return FailureKind.TRITON, triton
    return None


def _missing_kernel(last: str | None, core: str) -> str | None:
    """Return the operator that has no fake kernel, where the text is about one."""
    if last == "UnsupportedOperatorException":
        word = core.split(None, 1)[0] if core.split() else ""
        return word if _OPERATOR.match(word) else None
    for line in core.split("\n")[:40]:
        at = max(line.find("unsupported operator: "), line.find(_NO_KERNEL))
        if at < 0 and "attempted to run this operator with Meta tensors" not in line:
            continue
        found = fields("exception_text", "operator", line[max(at, 0) :].strip()[:_LONGEST])
        if found is not None:
            return (first(found, "OPERATOR") or found["OPERATOR_NAME"][0]).replace("::", ".")
    return None


def _node(core: str) -> tuple[NodeCall, str | None, str | None] | None:
    """Return the node that could not be run, the type of the cause, and its message."""
    lines = core.split("\n")
    for number, line in enumerate(lines[:40]):
        at = max(line.find("Failed running "), line.find("Dynamo failed to run FX node"))
        if at < 0:
            continue
        found = fields("exception_text", "node", line[at:].rstrip()[: _LONGEST * 4])
        if found is None:
            return None
        call = NodeCall(found["OPCODE"][0], found["TARGET"][0])
        cause, told = first(found, "TYPE"), first(found, "CAUSE")
        if told is None and number + 1 < len(lines):
            told = lines[number + 1].strip() or None
        return call, cause, _unquoted(told) if told else None
    return None


def _unquoted(text: str) -> str:
    """Return the text of a Python string as `repr` writes it."""
    quote = text[:1]
    if quote not in {"'", '"'} or not text.endswith(quote) or len(text) < 2:
        return text
    return text[1:-1].replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"').replace("\\\\", "\\")


def _message(core: str) -> str:
    """Return the first line that says something; what stands under a lowering's operator is not the message."""
    for line in core.split("\n"):
        if line.startswith("  target: "):
            break
        if line.strip():
            return line.strip()
    return ""

"""Names of exceptions: what may stand before a message without a traceback's first line above it.

Most end in words like `Error`. Those of torch that do not are listed: classes of torch/_dynamo/exc.py,
torch/_inductor/exc.py and torch/fx/experimental/symbolic_shapes.py, of torch 2.4 to 2.13.
"""

from __future__ import annotations

import re

_OTHERS = (
    "GuardOnDataDependentSymNode", "PendingUnbackedSymbolNotFound", "TritonMissing", "GPUTooOldForTriton",
    "InvalidCxxCompiler", "MissingOperatorWithDecomp", "MissingOperatorWithoutDecomp", "FailOnRecompileLimitHit",
    "FailOnCacheLimitHit", "RecompileLimitExceeded", "CacheLimitExceeded", "InvalidBackend", "ResetRequired",
    "UnknownPropertiesDuringBackwardTrace", "SpeculationLogDivergence",
)  # fmt: skip
CLASS = (
    r"(?:[A-Z]\w*(?:Error|Exception|Interrupt|Failed|Unsupported|OutOfResources|Traceback)"
    rf"|(?<=\.)Unsupported|{'|'.join(_OTHERS)})"
)
"""The name of a class, without its module, as a regular expression; `Unsupported` alone is a word like any other."""
NEEDS = (
    "error", "exception", "interrupt", "failed", "unsupported", "outofresources", "traceback",
    "symnode", "tritonmissing", "gputooold", "invalidcxx", "missingoperator", "limithit", "limitexceeded",
    "invalidbackend", "resetrequired", "unknownproperties", "divergence", "symbolnotfound",
)  # fmt: skip
"""Texts in lower case of which one stands in each name."""
WORDS = (b".exc.", b"SymNode: ", b"NotFound: Pending")
"""Literals that announce what is named so, beside those of names with `Error` in them."""

_NAMED = re.compile(
    rf"(?:[A-Za-z_]\w*\.)*_?{CLASS}\b|(?:\w+\.)*OutOfResources\b|(?:builtins\.)?Exception(?=:|$)"
)
_PLAIN = re.compile(r"(?:builtins\.)?Exception(?=:|$)")
_FAILED = re.compile(r"[Ee]rror\b|[Ff]ail(?:ed|ure)\b|\b(?:CUDA|HIP|NCCL)\b|Exception:")
_OF_ERRORS = re.compile(r"(?:^|\.)_?(?:exc|exceptions?|errors?)\.")
_DOTTED = re.compile(r"(?:[A-Za-z_]\w*\.)+_?[A-Z]\w*: \S")


def is_exception(text: str, *, below_frames: bool = False) -> bool:
    """Tell whether a text begins with the name of an exception.

    Args:
        text: the text of a line.
        below_frames: the frames of a traceback stand above it, where Python writes the class with its module.
    """
    return _NAMED.match(text) is not None or (below_frames and _DOTTED.match(text) is not None)


def ends_frames(text: str, code: str | None) -> bool:
    """Tell whether a line is the exception of frames above it, of which nothing says that they are a traceback's.

    A program may print where it is, and a logger `app.Trainer: epoch 3` below: a class of any name needs a statement that
    raises it, or a module of exceptions.

    Args:
        text: the text of the line.
        code: the code of the last frame.
    """
    if is_exception(text):
        return True
    return _DOTTED.match(text) is not None and (
        (code or "").startswith("raise ") or _OF_ERRORS.search(text.partition(":")[0]) is not None
    )


def is_bare_word(text: str) -> bool:
    """Tell whether a text begins with `Exception: ` as prose does, too: what is said behind it names no failure."""
    return _PLAIN.match(text) is not None and _FAILED.search(text[:4096], len("Exception:")) is None

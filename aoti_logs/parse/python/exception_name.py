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
_DOTTED = re.compile(r"(?:[A-Za-z_]\w*\.)+_?[A-Z]\w*: \S")


def is_exception(text: str, *, below_frames: bool = False) -> bool:
    """Tell whether a text begins with the name of an exception.

    Args:
        text: the text of a line.
        below_frames: the frames of a traceback stand above it, where Python writes the class with its module.
    """
    return _NAMED.match(text) is not None or (below_frames and _DOTTED.match(text) is not None)

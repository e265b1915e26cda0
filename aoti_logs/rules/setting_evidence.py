"""What shows whether a setting could act: calls that it writes into generated code, and whether a run only loads a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.rules.device_run import uses_aoti

if TYPE_CHECKING:
    from aoti_logs.code.codebase import Code
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents

_MOST = 200
_RUNS = re.compile(
    r"torch[\\/]export[\\/]pt2_archive[\\/]_package\.py$|torch[\\/]_inductor[\\/]package[\\/]package\.py$"
)
_CALLS = re.compile(r"\b(?:aoti_load_package|aot_load|load_pt2|_load_aoti)\(|\bloader\.(?:boxed_run|run)\(")
_COMPILES = re.compile(r"torch[\\/](?:_dynamo|_inductor|_functorch|export|_export|fx)[\\/]")
_LOADING = re.compile(
    r"torch[\\/](?:_inductor[\\/](?:package|codecache\.py)|export[\\/]pt2_archive|_export[\\/]__init__\.py)"
)


@dataclass(frozen=True)
class Mark:
    """Texts that a setting writes into generated code, any of them, and words for what they do."""

    words: tuple[bytes, ...]
    what: str


MARKS = {
    "AOTI_RUNTIME_CHECK_INPUTS": Mark((b'getenv("AOTI_RUNTIME_CHECK_INPUTS")',), "reads it"),
    "TORCHINDUCTOR_NAN_ASSERTS": Mark(
        (b"aoti_torch_check_inf_and_nan(", b".isnan().any().item()"), "has a check of NaN"
    ),
    "TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS": Mark(
        (b"NaN or Inf found",), "has a check of NaN in a kernel"
    ),
    "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER": Mark(
        (
            b"aoti_torch_print_tensor_handle(",
            b"aoti_torch_save_tensor_handle(",
            b"_print_debugging_tensor_value_info(",
            b"before_launch",
        ),
        "prints or saves values",
    ),
}
"""Settings of which generated code shows that it was compiled with them."""
_ANY_TEXT = b"env_var_value[0] != 0;"


def generated(evidence: Evidence) -> tuple[Code, ...]:
    """Return the generated wrappers at hand, of thousands the first ones."""
    return evidence.base.wrappers[:_MOST]


def marked(evidence: Evidence, name: str) -> bool | None:
    """Tell whether any generated code at hand, wrapper or kernel, has what a setting writes; None without code."""
    codes = evidence.base.codes if generated(evidence) else ()
    if not codes:
        return None
    return any(code.source.data.find(word) >= 0 for code in codes for word in MARKS[name].words)


def takes_any_text(evidence: Evidence) -> bool | None:
    """Tell whether the models at hand take every text for on (torch 2.7); None where none reads the variable, or some differ."""
    own = MARKS["AOTI_RUNTIME_CHECK_INPUTS"].words[0]
    reading = [c.source.data for c in generated(evidence) if c.source.data.find(own) >= 0]
    found = {data.find(_ANY_TEXT) >= 0 for data in reading}
    return found.pop() if len(found) == 1 else None


def only_loads(events: LogEvents) -> bool:
    """Tell whether a run calls a model that exists, and nothing of it speaks of a compile."""
    frames = [f for e in events.errors for f in e.python_frames]
    calls = uses_aoti(events) or any(_RUNS.search(f.file) or _CALLS.search(f.code or "") for f in frames)
    if not calls:
        return False
    files = [f.file for f in frames] + [m.module for m in events.messages]
    return not any(_COMPILES.search(file) and not _LOADING.search(file) for file in files)

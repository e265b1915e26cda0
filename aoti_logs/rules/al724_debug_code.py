"""The model was compiled for debugging: it prints, saves or tests values in every run.

## What it says
What was compiled in: the value printer (prints or saves tensors), tests for NaN and Inf of the wrapper or inside of the
kernels, code without optimisation, a profiler's records around every launch.

## Why it matters
None of it can be switched off when the model runs. Printing copies every tensor to the host and writes it to stdout; a NaN
that a model was always right with (a masked one) now stops it.

## Example
`compiled with the value printer: 12 calls print tensors in every run`

## Evidence it needs
The generated code, and its compile command where it is at hand.

## What to do
Compile again without the setting before deploying.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.model_facts import count, debug_calls
from aoti_logs.rules.model_case import ModelCase
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Finding, Link

RULE = Rule("AL724", "debug-code", __doc__ or "")

_WHAT = {
    "aoti_torch_print_tensor_handle": (
        "printed",
        "print tensors in every run",
        "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2",
    ),
    "aoti_torch_save_tensor_handle": (
        "saved",
        "save tensors to files in every run",
        "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=1",
    ),
    "aoti_torch_check_inf_and_nan": (
        "nan_checks",
        "stop the model at a NaN or Inf",
        "TORCHINDUCTOR_NAN_ASSERTS=1",
    ),
}
_IN_KERNEL = re.compile(rb"""["']NaN or Inf found["']""")
_NAMES = re.compile(rb"""printf\("\[ (?:before|after)_launch""")
_PROFILE = re.compile(
    rb"^\s*(?:(?:torch::aot_inductor::)?RAIIAtenRecordFunctionHandle \w+\(|KernelContextGuard _ctx\(|RECORD_FUNCTION\(\")",
    re.MULTILINE,
)
_SLOW = re.compile(r"(?:^|\s)-O0(?=\s|$)")


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of each kind of debugging code."""
    view = case.view
    if view is None:
        return
    for name, number in debug_calls(view).items():
        kind, does, setting = _WHAT[name]
        calls = "call" if number == 1 else "calls"
        verb = does if number != 1 else re.sub(r"^(\w+)", r"\1s", does)
        yield _told(case, kind, f"{number:,} {calls} {verb}", setting, _first(view, name.encode()), number)
    for kind, pattern, what, setting in (
        ("nan_checks_in_kernels", _IN_KERNEL, "kernels test for NaN and Inf, and stop the device at one", "TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS=1"),
        ("names_printed", _NAMES, "the name of every kernel is printed around its launch", "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3"),
        ("profiled", _PROFILE, "every launch is recorded for a profiler", "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1"),
    ):  # fmt: skip
        found = [m.start() for m in pattern.finditer(view.wrapper.source.data)]
        if found:
            yield _told(case, kind, what, setting, view.wrapper.source.line_at(found[0]), len(found))
    compiled = case.model.builds.get("compile") if case.model is not None else None
    if compiled is not None and _SLOW.search(compiled.text):
        from aoti_logs.explain import Link

        yield case.finding(
            "AL724",
            "unoptimised",
            "the wrapper was compiled without optimisation (-O0)",
            facts={"debug": "unoptimised"},
            links=(Link("compiled", "-O0", compiled.place),),
            because=(
                "AOT_INDUCTOR_DEBUG_COMPILE=1 or AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL=O0 does this",
                "C++ kernels that are files of their own may have been compiled with other flags",
            ),
            fixes=("compile again without it",),
        )


def _first(view: ModelView, name: bytes) -> int:
    match = re.search(rb"\b" + name + rb"\(", view.wrapper.source.data)
    return view.wrapper.source.line_at(match.start()) if match is not None else 1


def _told(case: ModelCase, kind: str, what: str, setting: str, line: int, number: int) -> Finding:
    link: Link = case.link("debug", line)
    return case.finding(
        "AL724",
        "debug_code",
        f"compiled for debugging: {what}",
        facts={"debug": kind, "times": number},
        links=(link,),
        because=(
            f"{setting} does this when the model is compiled ({count(number, 'place')})",
            "it cannot be switched off when the model runs",
        ),
        fixes=(f"compile again without {setting.partition('=')[0]}",),
    )

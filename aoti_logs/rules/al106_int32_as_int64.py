"""int32 indices may be read as int64.

## What it says
The kernel reads the index as 64-bit integers. AOTInductor does not test the dtype of an input when
the model runs, so an int32 tensor given for it is read two elements at a time: 1 and 2 become
1 + 2 * 2**32. The check then fails although every id is fine.

## Why it matters
It looks exactly like a bad id. People search the data for days.

## Evidence it needs
The kernel and the launch, to know that the index is an input and how it is read. Proven when the
value printer shows another dtype than the kernel reads; excluded when it shows int64, when
`AOTI_RUNTIME_CHECK_INPUTS` was on, or under torch.compile, which guards the dtype; else possible.

## What to do
Run once with `AOTI_RUNTIME_CHECK_INPUTS=1`: it says `unmatched dtype, expected: 4(at::kLong), but
got: 3`. Convert the input with `.long()` before the call.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import input_sources, is_aot, print_hint, tensor_name

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.model import InputCheck
    from aoti_logs.code.view import Tensor

_WIDE = re.compile(r"\*i64|\bint64_t\b|\blong\b")


def judge(case: IndexCase) -> Verdict | None:
    """Apply when an input of the model is read as int64 and nothing tested its dtype."""
    if not case.sites or not is_aot(case):
        return None
    read = {s.tensor.arg: s.dtype for s in case.index if s.tensor is not None}
    verdicts = []
    for tensor in input_sources(case):
        dtype = read.get(tensor.arg)
        if dtype is not None and not _WIDE.search(dtype):
            continue
        # Of what the index is computed from, only an input that the code declares as int64.
        if tensor.arg in read or _is_int64(_declared(case, tensor)):
            verdicts.append(_of(case, tensor))
    return _first([v for v in verdicts if v is not None])


def _first(verdicts: list[Verdict]) -> Verdict | None:
    """Return what is proven of one input, else what is possible of all of them."""
    if not verdicts:
        return None
    verdicts.sort(key=lambda v: v.confidence is Confidence.POSSIBLE)
    first = verdicts[0]
    if len(verdicts) == 1 or first.confidence is not Confidence.POSSIBLE:
        return first
    names = " or ".join(v.title.partition(" may ")[0] for v in verdicts[:3])
    return replace(
        first,
        title=f"{names} may {first.title.partition(' may ')[2]}",
        because=tuple(dict.fromkeys(b for v in verdicts[:3] for b in v.because)),
        decide=tuple(dict.fromkeys(d for v in verdicts[:3] for d in v.decide)),
        fixes=tuple(dict.fromkeys(f for v in verdicts[:3] for f in v.fixes)),
    )


def _of(case: IndexCase, tensor: Tensor) -> Verdict | None:
    check = _declared(case, tensor)
    if check is not None and not _is_int64(check):
        return None
    if check is not None and (case.checks_on or not check.gated):
        # The code tested the dtype before it ran anything.
        return None
    fixes = (f"pass {tensor_name(tensor)} as int64: `.long()`",)
    dump = next((d for d in reversed(case.numbers.dumps) if d.argument == tensor.arg and d.dtype), None)
    if dump is not None and dump.dtype is not None:
        if "long" in dump.dtype or "int64" in dump.dtype:
            return None
        return Verdict(
            "AL106",
            f"{tensor_name(tensor)} was given as {_torch_name(dump.dtype)} and is read as int64",
            weakest(case.strength, case.numbers.strength),
            (f"{tensor.arg} was printed with dtype {dump.dtype} ({dump.span.place})",),
            fixes=fixes,
        )
    because = (f"the model reads {tensor_name(tensor)} as int64, and nothing tests the dtype when it runs",)
    decide = [print_hint(f"the dtype of {tensor_name(tensor)}")]
    if check is not None:
        decide.insert(0, "AOTI_RUNTIME_CHECK_INPUTS=1 names the dtype that was given")
    title = f"{tensor_name(tensor)} may have been given as int32 and read as int64"
    return Verdict("AL106", title, Confidence.POSSIBLE, because, tuple(decide), fixes)


def _declared(case: IndexCase, tensor: Tensor) -> InputCheck | None:
    """Return the check of an input's dtype, run or not: it tells what the code was compiled for."""
    checks = case.view.wrapper.checks if case.view is not None else ()
    return next((c for c in checks if c.tensor == tensor.arg and c.kind is CheckKind.DTYPE), None)


def _is_int64(check: InputCheck | None) -> bool:
    return check is not None and ("int64" in check.expected or "Long" in check.expected)


_C_NAMES = {
    "int": "int32",
    "short int": "int16",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
}


def _torch_name(dtype: str | None) -> str:
    """Return torch's name of a dtype that the value printer prints by its C++ name."""
    return _C_NAMES.get(dtype or "", dtype or "another dtype")


RULE = Rule("AL106", "int32-read-as-int64", __doc__ or "", judge)

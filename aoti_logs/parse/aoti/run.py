"""From the tokens of a text that a running model printed to what it says (`parse/aoti/text.py` finds the text)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.codes import device_name, dtype_name
from aoti_logs.parse.aoti.facts import (
    CountMismatch,
    DeviceError,
    DimLayout,
    FailedCall,
    InputMismatch,
    LayoutMismatch,
    ProxyError,
    ScalarAssert,
    UnalignedInput,
)
from aoti_logs.parse.shape import fields, first, tokens

if TYPE_CHECKING:
    from aoti_logs.parse.shape import Fields

_ATTRIBUTES = {
    "DTYPE": "dtype",
    "DEVICE_TYPE": "device type",
    "DIM_VALUE": "size",
    "TOO_SMALL": "size",
    "TOO_LARGE": "size",
    "STRIDE_VALUE": "stride",
}


def input_mismatch(found: Fields, text: str) -> InputMismatch | None:
    """Read `input_handles[0]: unmatched dtype, expected: 4(at::kLong), but got: 3` and its relatives."""
    del text
    attribute = next((a for kind, a in _ATTRIBUTES.items() if kind in found), None)
    if attribute is None:
        return None
    expected: int | str
    got: int | str
    if "CODE" in found:
        expected, got = _typed(attribute, found)
    else:
        expected, got = _number(found["BOUND"][0]), _number(found["GOT"][0])
    return InputMismatch(
        handles=found["HANDLES"][0].removesuffix("_handles"),
        index=_number(found["INDEX"][0]),
        attribute=attribute,
        dim=_number(found["DIM"][0]) if "DIM" in found else None,
        relation=first(found, "RELATION") or "==",
        expected=expected,
        got=got,
    )


def _typed(attribute: str, found: Fields) -> tuple[str, str]:
    """Return names for both codes; torch prints the code of an expected device type twice (`11(cuda)`)."""
    code, got = found["CODE"][0], found["GOT"][0]
    name = found["CODE_NAME"][0].rpartition(":")[2]
    if attribute == "dtype":
        known = dtype_name(code)
        return (known if known != code else name.removeprefix("k").lower()), dtype_name(got)
    return name, device_name(got)


def count(found: Fields, text: str) -> CountMismatch:
    """Read `expected inputs vector size to be 3, but got 2`."""
    del text
    return CountMismatch(found["WHAT"][0], _number(found["BOUND"][0]), _number(found["GOT"][0]))


def ndim(found: Fields, text: str) -> LayoutMismatch:
    """Read `expected ndim 2 but got 3` with the operator below it."""
    return LayoutMismatch(_number(found["GOT"][0]), _number(found["BOUND"][0]), (), _operator(text))


def layout(found: Fields, text: str) -> LayoutMismatch:
    """Read `expected size 3==3, stride 4==5 at dim=0; ...`: what the tensor has stands on the left."""
    got = [_number(n) for n in found["GOT"]]
    want = [_number(n) for n in found["BOUND"]]
    dims = tuple(
        DimLayout(_number(dim), got[2 * n], want[2 * n], got[2 * n + 1], want[2 * n + 1])
        for n, dim in enumerate(found["DIM"])
    )
    return LayoutMismatch(None, None, dims, _operator(text))


def _operator(text: str) -> str | None:
    for line in text.split("\n")[1:4]:
        found = fields("aoti_text", "op", line.strip()) if "Error in op: " in line else None
        if found is not None:
            return found["OP"][0]
    return None


def scalar(found: Fields, text: str) -> ScalarAssert:
    """Read `Expected u0 <= s15 but received 9`."""
    del text
    return ScalarAssert(found["CONDITION"][0], found["VALUE"][0])


def aligned(found: Fields, text: str) -> UnalignedInput:
    """Read `Input 2 was compiled as 16-bytes aligned, but ...`."""
    del text
    return UnalignedInput(_number(found["INDEX"][0]), _number(found["BYTES"][0]))


def call(found: Fields, text: str) -> FailedCall | None:
    """Read `NAME(ARGUMENTS) API call failed at FILE, line N`."""
    line = text.partition("\n")[0].rstrip()
    pieces = tokens("aoti_call", "call", line)
    if pieces is None:
        return None
    return FailedCall(
        found["CALLEE"][0], tuple(_arguments(pieces, line)), found["FILE"][0], _number(found["LINE"][0])
    )


def _arguments(pieces: list[tuple[str, int, int]], line: str) -> list[str]:
    """Return the texts between the commas that stand outside of all brackets but the outermost."""
    depth, begin = 0, 0
    found: list[str] = []
    for kind, start, end in pieces:
        if kind == "OPEN":
            depth += 1
            begin = end if depth == 1 else begin
        elif kind == "CLOSE":
            depth -= 1
        if (kind == "COMMA" and depth == 1) or (kind == "CLOSE" and depth == 0):
            found.append(line[begin:start].strip())
            begin = end
    return found if any(found) else []


_PROXY = (
    ("PROXY_WHAT", "argument"),
    ("OPERATOR_QUOTED", "outputs"),
    ("OPERATOR_NAME", "schema"),
    ("CONSUMED", "consumed"),
)


def proxy(found: Fields, text: str) -> ProxyError | DeviceError | None:
    """Read what the proxy executor says of an operator."""
    problem = next((p for kind, p in _PROXY if kind in found), None)
    types = found.get("TYPE", [])
    if problem is None:
        problem = (
            "unsupported" if "nsupported" in text[:40] else "object" if "custom object" in text else "result"
        )
    expected = first(found, "PROXY_WHAT") or (types[0] if problem == "result" else first(found, "BOUND"))
    return ProxyError(
        problem=problem,
        operator=first(found, "OPERATOR")
        or first(found, "OPERATOR_NAME")
        or _bare(first(found, "OPERATOR_QUOTED")),
        argument=_number(found["INDEX"][0]) if "INDEX" in found else None,
        expected=expected,
        got=types[-1] if types else first(found, "GOT"),
    )


def _bare(text: str | None) -> str | None:
    """Take off the quotes in which JSON prints a text."""
    return text.strip('"') if text else None


def _number(text: str) -> int:
    return int(text[:20])

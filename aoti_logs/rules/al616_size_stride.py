"""A tensor is not what the generated code was made for.

## What it says
Which buffer of the generated code, made by which operator, has which sizes and strides, and which ones the code
expects. In `expected size 3==3, stride 4==5` the first number is the actual one.

## Why it matters
The code was compiled from what a fake kernel promised. A kernel that returns another layout (channels last, transposed)
or another shape would be read at the wrong places; this check is what keeps that from happening silently. A tensor
without elements passes it.

## Example
`AssertionError: expected size 64==64, stride 16384==1 at dim=1` at `assert_size_stride(buf4, (16, 64, 128, 128), ...)`

## Evidence it needs
The exception, with the traceback for the buffer and the expected sizes.

## What to do
An operator of your own: `torch.library.opcheck` finds where its fake kernel and its real one differ; make both return
the same strides. An operator of PyTorch: a bug; report it with memory format and shapes of its inputs. An input: give
the layout that the code was compiled with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.asserts.generated_assert import TensorCheck, read_tensor_check
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.operators import is_custom
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell what differs, and who made the tensor."""
    error = case.error
    found = read_tensor_check(error)
    if found is None:
        return None
    name = f"`{found.buffer}`" if found.buffer else "a tensor"
    made = f", made by `{found.op}`," if found.op and found.op != "input" else ""
    what = _what(found)
    frame = error.python_frames[-1] if error.python_frames else None
    links = []
    if found.sizes is not None or found.strides is not None:
        text = f"the code expects sizes {_shown(found.sizes)} and strides {_shown(found.strides)}"
        links.append(Link("expected", text, frame.span.place if frame else None))
    return ErrorTold(
        "AL616",
        "alignment_assert" if found.alignment is not None else "size_stride_assert",
        f"{name}{made} {what}",
        because=tuple(_because(found)),
        links=tuple(links),
        facts=_facts(found, case),
        decide=_decide(found),
        fixes=_fixes(found),
        confidence=Confidence.PROVEN,
    )


def _what(found: TensorCheck) -> str:
    if found.alignment is not None:
        return f"does not begin at a multiple of {found.alignment} bytes (offset {found.storage_offset} of {found.itemsize} bytes each)"
    if found.ndim is not None:
        expected = f", the code expects {len(found.sizes)}" if found.sizes is not None else ", which is wrong"
        return f"has {found.ndim} dimensions{expected}"
    parts = []
    for d in found.dims[:3]:
        if d.size_actual != d.size_expected:
            parts.append(f"size {d.size_actual} instead of {d.size_expected} in dimension {d.dim}")
        if d.stride_actual != d.stride_expected:
            parts.append(f"stride {d.stride_actual} instead of {d.stride_expected} in dimension {d.dim}")
    return "has " + (", ".join(parts) or "other sizes than the code expects")


def _because(found: TensorCheck) -> list[str]:
    said = []
    if found.dims and all(d.size_actual == d.size_expected for d in found.dims):
        said.append(
            "the sizes are right, the strides differ: another memory format (channels last, transposed)"
        )
    if found.op == "input":
        said.append("it is an input of the compiled code, not the result of an operator")
    elif found.alignment is not None:
        said.append("generated code reads several elements at once where a tensor is promised to be aligned")
    elif is_custom(found.op):
        said.append(
            f"`{found.op}` is no operator of PyTorch: its fake kernel promised another tensor than it returns"
        )
    elif found.op is None:
        said.append("what the code expects comes from a fake (meta) kernel or from the inputs of the compile")
    return said


def _decide(found: TensorCheck) -> tuple[str, ...]:
    if is_custom(found.op) and found.alignment is None:
        return (f"torch.library.opcheck({found.op}, args): it compares the fake kernel with the real one",)
    if found.op == "input":
        return ("x.stride() of the input now, against the one that the code was compiled with",)
    made = f"`{found.buffer}`" if found.buffer else "the tensor"
    return (
        f"the statement above in the generated code that makes {made}: which operator, with which inputs",
    )


def _fixes(found: TensorCheck) -> tuple[str, ...]:
    if not is_custom(found.op):
        return ()
    if found.alignment is not None:
        return (f"return a tensor of its own from `{found.op}` (`.clone()`), not a part of a larger one",)
    return ("make the fake kernel of the operator return the sizes and strides that the real one returns",)


def _shown(sizes: tuple[int | str, ...] | None) -> str:
    return "?" if sizes is None else f"({', '.join(map(str, sizes))})"


def _facts(found: TensorCheck, case: ErrorCase) -> dict[str, Any]:
    frame = case.error.python_frames[-1] if case.error.python_frames else None
    facts: dict[str, Any] = {
        "op": found.op,
        "buffer": found.buffer,
        "expected_size": list(found.sizes) if found.sizes is not None else None,
        "expected_stride": list(found.strides) if found.strides is not None else None,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        "dims": [vars_of(d) for d in found.dims],
    }
    if found.dims:
        facts |= vars_of(found.dims[0])
    if found.ndim is not None:
        facts["ndim_actual"] = found.ndim
    if found.alignment is not None:
        facts |= {
            "alignment": found.alignment,
            "storage_offset": found.storage_offset,
            "itemsize": found.itemsize,
        }
    return facts


def vars_of(dim: Any) -> dict[str, int]:
    """Return the numbers of one dimension."""
    from dataclasses import asdict

    return asdict(dim)


RULE = Rule("AL616", "tensor-not-as-compiled", __doc__ or "")

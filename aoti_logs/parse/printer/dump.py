"""From the lines of a value printer's block to its numbers, and what they say about NaN and infinity."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.parse.dtype import holds_integers, torch_dtype
from aoti_logs.parse.printer.block import CPP_KEYS
from aoti_logs.parse.printer.elements import element_values, python_values

if TYPE_CHECKING:
    from aoti_logs.parse.events import Dump
    from aoti_logs.parse.printer.block import Block
    from aoti_logs.parse.printer.elements import Elements
    from aoti_logs.sources.source import Span

_COMPLEX = re.compile(r"\((?P<real>[^,()]{1,40}),(?P<imaginary>[^,()]{1,40})\)$")


def read_numbers(dump: Dump, span: Span, block: Block) -> Dump:
    """Return the record with what its block says.

    Args:
        dump: the record as its header tells it.
        span: the whole block.
        block: the lines below; of a mixed one only the text is kept.
    """
    if block.mixed:
        value = block.keys.get("Value") or ("\n".join(block.elements) or None)
        return replace(dump, span=span, value=value, complete=False, bare=block.empty)
    told = _told(dump.format == "python", tuple(block.keys.items()), tuple(block.elements))
    return replace(dump, span=span, bare=block.empty, **told)


@lru_cache(maxsize=4096)
def _told(python: bool, summary: tuple[tuple[str, str], ...], elements: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a record; a tensor is printed before and after each launch that is given it."""
    keys = dict(summary)
    value = keys.get("Value") or ("\n".join(elements) or None)
    dtype, mean_text = keys.get("Dtype"), keys.get("Mean value") or keys.get("Mean")
    if python and _float(dtype) is not None:
        mean_text = mean_text or dtype  # torch 2.6 and 2.9 print the mean as Dtype
        dtype = None
    number = keys.get("Number of elements")
    numel = int(number[:18]) if number and number.isdigit() else None
    shape = _shape(keys.get("Size"))
    if shape is not None and numel is not None and math.prod(shape) != numel:
        return {"value": value, "complete": False}
    integers = holds_integers(torch_dtype(dtype))
    values: Elements | None = None
    if python:
        values = python_values(elements, numel)
    elif elements:
        values = element_values(elements, shape, integers=integers)
    form = "python" if python else "cpp_v1_no_mean" if _is_first_form(keys) else "cpp_v2"
    lowest = _float(keys.get("Min value") or keys.get("Min"))
    highest = _float(keys.get("Max value") or keys.get("Max"))
    has_nan, has_inf = _abnormal(
        _Printed(form, torch_dtype(dtype), numel, mean_text, lowest, highest, value, values)
    )
    return {
        "format": form,
        "dtype": dtype,
        "device": keys.get("Device"),
        "shape": shape,
        "stride": _shape(keys.get("Stride")),
        "layout": keys.get("Layout"),
        "contiguous": _flag(keys.get("Is contiguous")),
        "requires_grad": _flag(keys.get("Requires grad")),
        "numel": numel,
        "mean": _float(mean_text),
        "min": lowest,
        "max": highest,
        "std": _float(keys.get("Std")),
        "value": value,
        "values": values,
        "has_nan": has_nan,
        "has_inf": has_inf,
        "complete": "Std" in keys or "Value" in keys if python else keys.keys() >= CPP_KEYS,
    }


class _Printed(NamedTuple):
    """What tells whether a tensor holds NaN or an infinity."""

    format: str
    dtype: str | None
    numel: int | None
    mean: str | None
    min: float | None
    max: float | None
    value: str | None
    values: Elements | None


def _is_first_form(keys: dict[str, str]) -> bool:
    """Tell the summary of torch 2.5: no mean, and the dtype after the sizes."""
    order = list(keys)
    if "Number of elements" in keys and order[0] == "Number of elements":
        return False
    return bool(order) and order[0] in {"Min value", "Max value", "Device"} and "Mean value" not in keys


def _abnormal(dump: _Printed) -> tuple[bool | None, bool | None]:
    """Return (has a NaN, has an infinity); None where the record does not tell.

    A minimum is NaN when any element is. Infinities of both signs make the mean NaN, so a mean that is not
    finite tells nothing; a finite one says that every element is. Statistics are those of a copy in float32:
    a large float64 is infinite there. A complex tensor is printed without its imaginary part.
    """
    dtype, mean = dump.dtype, dump.mean
    if dump.format == "python" and dump.value is not None and dump.numel is None:
        number = _float(dump.value)
        return (None, None) if number is None else (math.isnan(number), math.isinf(number))
    if holds_integers(dtype) or dump.numel == 0:
        return False, False
    complex_mean = _COMPLEX.match(mean) if mean else None
    parts = [_float(p) for p in complex_mean.groups()] if complex_mean else [_float(mean)]
    finite_mean = all(p is not None and math.isfinite(p) for p in parts)
    has_nan = has_inf = False if finite_mean else None
    lowest, highest = dump.min, dump.max
    if lowest is not None and highest is not None:
        has_nan = math.isnan(lowest) or math.isnan(highest)
        if not has_nan:
            has_inf = math.isinf(lowest) or math.isinf(highest)
    values = _printed(dump)
    if values is not None:
        whole = dump.values is not None and (dtype is None or not dtype.startswith("complex"))
        if any(math.isnan(v) for v in values):
            has_nan = True
        elif whole:
            has_nan = False
        if any(math.isinf(v) for v in values):
            has_inf = True
        elif whole:
            has_inf = False
    elif dtype == "float64" and has_inf:
        has_inf = None
    return has_nan, has_inf


def _printed(dump: _Printed) -> Elements | None:
    """Return the elements, or those of them that are no numbers where some were lost."""
    if dump.values is not None or dump.value is None:
        return dump.values
    words = dump.value.replace(",", " ").replace("[", " ").replace("]", " ").split()
    odd = {"nan": math.nan, "-nan": math.nan, "inf": math.inf, "-inf": -math.inf}
    return tuple(odd[w] for w in words if w in odd) or None


def _flag(text: str | None) -> bool | None:
    return {"1": True, "0": False, "true": True, "false": False}.get((text or "").lower())


def _float(text: str | None) -> float | None:
    if text is None or len(text) > 64:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None or "[" not in text:
        return None
    inner = text[text.index("[") + 1 :].partition("]")[0]
    parts = [p.strip() for p in inner.split(",") if p.strip()]
    return tuple(int(p[:18]) for p in parts) if all(p.lstrip("-").isdigit() for p in parts) else None

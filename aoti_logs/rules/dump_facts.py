"""What the value printer's records say as a whole, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.parse.printer.launches import INPUTS, bare_name, changed
from aoti_logs.parse.printer.scalar import scalar_value
from aoti_logs.rules.first_nan import proves

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.parse.events import Dump
    from aoti_logs.parse.printer.launches import PrintedLaunch

_MANY = 200  # names in one list


def dump_facts(dumps: Sequence[Dump], launches: Sequence[PrintedLaunch]) -> dict[str, Any]:
    """Return the facts of the records of one process."""
    finished = [launch for launch in launches if launch.after]
    started = [launch for launch in launches if launch.before]
    facts: dict[str, Any] = {
        "format": next((d.format for d in dumps if d.format != "cpp_scalar"), "cpp_scalar"),
        "n_records": len(dumps),
        "n_launches": len(launches),
        "kernels": _names(launch.kernel for launch in launches),
        "last_started_kernel": started[-1].kernel if started else None,
        "last_finished_kernel": _last(finished),
        "unfinished_kernels": _names(launch.kernel for launch in unfinished(launches)),
        "dtypes": _names(d.dtype for d in dumps if d.dtype),
    }
    saved = sum(d.format == "save" for d in dumps)
    empty = sum(d.numel == 0 for d in dumps)
    if saved:
        facts["n_saved_tensors"] = saved
    if empty:
        facts["n_empty_records"] = empty
    tensors = [d for d in dumps if d.is_tensor]
    if tensors:
        facts |= _numbers(tensors)
    pairs = [
        changed(before, after)
        for launch in launches
        for before in launch.before
        for after in launch.after
        if before.argument == after.argument and before.is_tensor and after.is_tensor
    ]
    if pairs:
        facts["changed_between_phases"] = True if True in pairs else None if None in pairs else False
    scalars = _scalars(dumps)
    if scalars:
        facts["scalars"] = scalars
    cut = next((d for d in reversed(dumps) if not d.complete), None)
    if cut is not None:
        facts["incomplete_record"] = {
            "phase": cut.phase or None,
            "kernel": cut.kernel,
            "tensor": cut.argument,
            "numel": cut.numel,
            "dtype": cut.dtype,
        }
    return facts


def unfinished(launches: Sequence[PrintedLaunch]) -> list[PrintedLaunch]:
    """Return the launches that were announced and have no record after them."""
    return [launch for launch in launches if launch.before and not launch.after]


def _numbers(tensors: Sequence[Dump]) -> dict[str, Any]:
    sure = [d for d in tensors if proves(d)]
    given = [d for d in tensors if d.phase == INPUTS]
    states = {d.has_nan for d in sure}
    facts: dict[str, Any] = {
        "has_nan": True if True in states else None if None in states or not states else False,
        "nan_buffers": _names(bare_name(d.argument) for d in sure if d.has_nan),
        "inf_buffers": _names(bare_name(d.argument) for d in sure if d.has_inf),
    }
    if given:
        parts = [_finite(d) for d in given]
        facts["inputs_finite"] = False if False in parts else None if None in parts else True
    return facts


def _finite(dump: Dump) -> bool | None:
    """Tell whether every element is finite, None where the record does not tell."""
    if dump.has_nan or dump.has_inf:
        return False
    return True if dump.has_nan is False and dump.has_inf is False else None


def _scalars(dumps: Iterable[Dump]) -> dict[str, Any]:
    """Return scalars by argument; a list where launches were given different ones."""
    found: dict[str, list[int]] = {}
    for dump in dumps:
        value = scalar_value(dump)
        if value is not None and dump.argument and len(found) < _MANY:
            values = found.setdefault(dump.argument, [])
            if value not in values and len(values) < _MANY:
                values.append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _names(names: Iterable[str | None]) -> list[str]:
    return [n for n in dict.fromkeys(names) if n][:_MANY]


def _last(finished: Sequence[PrintedLaunch]) -> str | None:
    if not finished:
        return None
    return max(finished, key=lambda launch: launch.after[-1].span.start).kernel

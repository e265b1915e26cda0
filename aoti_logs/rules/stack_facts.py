"""Plain facts of native stacks, under the keys of the explanation contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.parse.stacks.frame_name import frame_name, in_model_library, is_model, meaningful, signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.events import Frame, Stack

_OWN = ("c10", "captured_traceback", "windows")
"""Formats in which a program prints its own exceptions; the others are a debugger's or a signal handler's."""
_WIDE = frozenset({"gdb", "lldb", "ucx", "llvm"})  # they print addresses with 16 digits
_SHOWN = 64
_RUNTIME = ("std::", "__gnu_cxx::", "c10::")


def stack_facts(stacks: Sequence[Stack]) -> dict[str, Any]:
    """Return counts and the frames that matter of the C++ stacks of a log."""
    own = [s for s in stacks if s.format in _OWN]
    gdb = [s for s in stacks if s.format == "gdb"]
    facts: dict[str, Any] = {}
    if own or gdb:
        first = own or gdb
        facts = {"n_traces": len(first), **frames_facts(first[0].frames), "frames": frame_list(first[0])}
    if gdb:
        facts["n_gdb_frames"] = len(gdb[0].frames)
    return facts


def frames_facts(frames: Sequence[Frame]) -> dict[str, Any]:
    """Return what one stack shows: its frames by number, the model's own, those without a name."""
    facts: dict[str, Any] = {
        "n_frames": len(frames),
        "frame_numbers": [f.number for f in frames],
        "first_frame_symbol": frames[0].symbol.partition("(")[0] if frames and frames[0].symbol else None,
        "frames_without_symbol": [f.number for f in frames if f.symbol is None],
    }
    model = model_frame(frames)
    if model is not None and model.symbol:
        name = frame_name(model) or model.symbol.partition("(")[0]
        facts["first_model_frame"] = name
        facts["model_frame"] = {
            "number": model.number,
            "symbol": name,
            "file": model.file,
            "line": model.line,
        }
    return facts


def model_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost frame of the model's own code, else the first of the runtime that is compiled into it."""
    named = [f for f in frames if f.symbol is not None]
    own = next((f for f in named if is_model(f)), None)
    if own is not None:
        return own
    return next((f for f in named if in_model_library(f) and not (f.symbol or "").startswith(_RUNTIME)), None)


def frame_facts(frame: Frame, form: str) -> dict[str, Any]:
    """Return one frame as plain values; addresses and offsets as hexadecimal text."""
    library = frame.library
    facts: dict[str, Any] = {
        "number": frame.number,
        "symbol": frame.symbol,
        "file": frame.file,
        "line": frame.line,
        "address": _address(frame.address, form),
        "library": library,
        "lib": library.replace("\\", "/").rpartition("/")[2] if library else None,
    }
    if frame.offset is not None:
        facts["module_offset" if form == "sanitizer" else "offset"] = hex(frame.offset)
    if frame.column is not None:
        facts["column"] = frame.column
    if frame.build_id is not None:
        facts["build_id"] = frame.build_id
    if frame.inlined:
        facts["inlined"] = True
    return {k: v for k, v in facts.items() if v is not None or k == "symbol"}


def _address(address: int | None, form: str) -> str | None:
    if address is None:
        return None
    return f"0x{address:016x}" if form in _WIDE else hex(address)


def frame_list(stack: Stack) -> list[dict[str, Any]]:
    """Return the frames of a stack as plain values, at most the first 64."""
    return [frame_facts(f, stack.format) for f in stack.frames[:_SHOWN]]


def shown(frame: Frame) -> str:
    """Return one frame as a person reads it."""
    name = frame.symbol or "(no symbol)"
    text = f"#{frame.number} {name if len(name) <= 120 else (frame_name(frame) or name[:120])}"
    if frame.file is not None:
        text += f" at {frame.file}" + (f":{frame.line}" if frame.line is not None else "")
    elif frame.library is not None:
        text += f" in {frame.library}"
    return text


def stack_links(stack: Stack, most: int = 3) -> tuple[Link, ...]:
    """Return links to the innermost frame, to the first ones that mean something, and to the model's own."""
    chosen: list[tuple[str, Frame]] = [("frame", stack.frames[0])]
    chosen += [("frame", f) for f in meaningful(stack.frames)[:most]]
    model = next((f for f in stack.frames if is_model(f)), None)
    if model is not None:
        chosen.append(("model", model))
    links: dict[int, Link] = {}
    for step, frame in chosen:
        if frame.number not in links or step == "model":
            links[frame.number] = Link(step, shown(frame), frame.span.place)
    return tuple(links[n] for n in sorted(links))


def stack_signature(stack: Stack) -> dict[str, Any]:
    """Return the signature and the function that a person would name first."""
    first = next((frame_name(f) for f in meaningful(stack.frames)), None)
    return {"stack_signature": signature(stack), "first_meaningful": first}

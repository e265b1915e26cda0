"""What a native stack of a stopped or dying process says: where it was, and not why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.parse.stacks.demangle import MISSING, can_demangle, is_mangled
from aoti_logs.parse.stacks.frame_name import frame_name, is_model, meaningful
from aoti_logs.rules.component import aoti_phase, component_of
from aoti_logs.rules.stack_facts import frame_list, frames_facts, stack_links, stack_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import Frame, Stack

_NULL = re.compile(r"(?:^|[ ,])([A-Za-z_]\w*)=(?:0x0|\(nil\))(?=[,\s]|$)")
_BOUNDS = re.compile(r"index out of bounds: ([^\"\\]{1,400})")
_NEAR = 3  # frames whose arguments are looked at


def native_facts(stack: Stack) -> dict[str, Any]:
    """Return the facts of one stack."""
    facts: dict[str, Any] = {
        **frames_facts(stack.frames),
        "frames": frame_list(stack),
        **stack_signature(stack),
    }
    component = component_of(stack.frames)
    if component is not None:
        facts["component"] = component.what
        if component.phase is not None:
            facts["phase"] = component.phase
    phase = aoti_phase(stack.frames)
    if phase is not None:
        facts["aoti_phase"] = phase
    libraries = list(dict.fromkeys(f.library for f in stack.frames if f.library))
    if libraries:
        facts["libraries"] = libraries
    return facts


def where(stack: Stack) -> str:
    """Say where the thread was, in half a sentence."""
    model = next((f for f in stack.frames if f.symbol and is_model(f)), None)
    if model is not None:
        return f"in the compiled model's own code, `{frame_name(model)}`"
    component, phase = component_of(stack.frames), aoti_phase(stack.frames)
    if component is not None:
        return f"in the {component.what}" + (", while it compiles" if component.phase == "compile" else "")
    if phase is not None:
        words = {
            "load": "while AOTInductor loads a model: the container is made from the model's .so",
            "run": "in AOTInductor's runtime, while it runs a model",
            "unload": "while AOTInductor frees a model",
        }
        return words[phase]
    first = next(iter(meaningful(stack.frames)), None)
    return f"in `{frame_name(first)}`" if first is not None else "at a place without a name"


def null_argument(frames: Sequence[Frame]) -> tuple[str, Frame] | None:
    """Return an argument that is a null pointer in one of the innermost frames, as gdb prints it."""
    for frame in frames[:_NEAR]:
        found = _NULL.search(frame.arguments or "")
        if found is not None:
            return found[1], frame
    return None


def code_link(stack: Stack, evidence: Evidence) -> tuple[Link, str | None] | None:
    """Return the line of generated code that the model's innermost frame stands at, and the check in it."""
    model = next((f for f in stack.frames if is_model(f) and f.file and f.line), None)
    if model is None or model.file is None or model.line is None:
        return None
    name = model.file.replace("\\", "/").rpartition("/")[2]
    for source in evidence.sources:
        if source.name.replace("\\", "/").rpartition("/")[2] == name:
            text = source.line_text(model.line).strip()
            if not text:
                return None
            check = _BOUNDS.search(text)
            return Link("code", text[:300], source.place(model.line)), check[1].strip() if check else None
    return None


def mangled_note(stack: Stack) -> tuple[str, ...]:
    """Say how to read names that could not be taken apart."""
    mangled = any(f.symbol is not None and is_mangled(f.symbol) for f in stack.frames)
    return (MISSING,) if mangled and not can_demangle() else ()


def native_links(stack: Stack, evidence: Evidence | None = None) -> tuple[tuple[Link, ...], str | None]:
    """Return the links of a stack with the line of generated code, and the bounds check that stands on it."""
    links = stack_links(stack)
    code = code_link(stack, evidence) if evidence is not None else None
    return (links, None) if code is None else ((*links, code[0]), code[1])

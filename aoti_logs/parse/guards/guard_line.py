"""One guard as text: what it tests, where in the program it comes from, and what torch remarks about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from aoti_logs.parse.shape import LONGEST, Fields, fields, first

_GRAMMAR = "guard_tree"


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard's text taken apart (torch/_dynamo/guards.py, `get_verbose_code_part`).

    Attributes:
        expression: what is tested, Python text. The text as it is when it is no guard as torch prints them.
        type: the guarded object's type as printed (`<class 'module'>`).
        code: the user's line of code.
        file: the user's file; torch cuts the first characters off (`rv/demo/model.py`).
        line: line in it, from 1.
        function: function that the line is in.
        framework: the line of torch that made the guard, `FILE:LINE in FUNCTION`.
        hint: what else torch remarks, its brackets and the word HINT taken off.
        parsed: False when the grammar did not take the text.
    """

    expression: str
    type: str | None = None
    code: str | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    framework: str | None = None
    hint: str | None = None
    parsed: bool = True


@dataclass(frozen=True, slots=True)
class TensorGuard:
    """What TENSOR_MATCH holds a tensor to.

    Attributes:
        name: Dynamo source of the tensor.
        pytype: Python class, without its module.
        dispatch_keys: c10 dispatch keys.
        dtype: `torch.float32`.
        device: device index as printed; `None` on a CPU.
        requires_grad: whether it does.
        size: each dimension as printed; None where it is dynamic.
        stride: the same.
    """

    name: str
    pytype: str
    dispatch_keys: tuple[str, ...]
    dtype: str
    device: str
    requires_grad: bool
    size: tuple[str | None, ...]
    stride: tuple[str | None, ...]


@lru_cache(maxsize=4096)
def read_guard(text: str) -> Guard:
    """Take a guard's text apart by the rule `guard` of `grammars/guard_tree.lark`."""
    found = fields(_GRAMMAR, "guard", text)
    return Guard(text.strip(), parsed=False) if found is None else guard_of(found)


def guard_of(found: Fields) -> Guard:
    """Return the guard of a text's tokens by terminal."""
    file, line, function = first(found, "FILE"), first(found, "LINE"), first(found, "FUNCTION")
    framework = first(found, "FRAMEWORK") or first(found, "ASKED_IN")
    framework = framework.strip()[1:-1] if framework else None
    if file is not None and "CODE" not in found and "SEPARATOR" not in found and file.startswith("_dynamo/"):
        # Without a user's frame torch names its own line that asked for the guard, and shows no code.
        framework, file, line, function = f"{file}:{line} in {function}", None, None, None
    return Guard(
        expression=found["EXPRESSION"][0],
        type=first(found, "EXPRESSION_TYPE"),
        code=first(found, "CODE"),
        file=file,
        line=int(line[:18]) if line else None,
        function=function,
        framework=framework,
        hint=_remark(first(found, "HINT") or first(found, "REMARK") or first(found, "OTHER")),
    )


def _remark(text: str | None) -> str | None:
    if text is None:
        return None
    text = text.strip()
    if text.startswith("(") and text.endswith(")") and ") and " not in text:
        return text[1:-1].removeprefix("HINT: ")
    return text or None


@lru_cache(maxsize=4096)
def read_tensor_guard(expression: str) -> TensorGuard | None:
    """Take the `check_tensor(...)` of a TENSOR_MATCH apart; None when it is none."""
    if not expression.startswith("check_tensor(") or len(expression) > LONGEST:
        return None
    found = fields(_GRAMMAR, "tensor", expression)
    if found is None:
        return None
    return TensorGuard(
        name=found["NAME"][0],
        pytype=found["PYTYPE"][0],
        dispatch_keys=tuple((first(found, "KEYS") or "").split(", ")) if "KEYS" in found else (),
        dtype=found["DTYPE"][0],
        device=found["DEVICE"][0],
        requires_grad=found["FLAG"][0] == "True",
        size=_items(found["SIZE"][0]),
        stride=_items(found["STRIDE"][0]),
    )


def _items(text: str) -> tuple[str | None, ...]:
    inside = text[1:-1].strip()
    return tuple(None if item == "None" else item for item in inside.split(", ")) if inside else ()

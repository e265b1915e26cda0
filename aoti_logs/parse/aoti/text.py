"""The texts of the AOTInductor runtime, its shims and its loader, taken apart: a catalogue of what they say.

Formats: `grammars/aoti_text.lark`, `grammars/aoti_call.lark`, whose heads name the programs that print them. A text is
told by its first words; its grammar then says whether it is one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.parse.aoti import load as aoti_load
from aoti_logs.parse.aoti import run as aoti_run
from aoti_logs.parse.aoti.facts import ConstantError, PackageError, ProxyError, RuntimeFault
from aoti_logs.parse.shape import LONGEST, fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.shape import Fields


class Form(NamedTuple):
    """One kind of text: how it begins, its grammar rule, and what is made of its tokens and the whole text."""

    begins: re.Pattern[str]
    rule: str
    made: Callable[[Fields, str], object | None]
    grammar: str = "aoti_text"


def _form(
    begins: str, rule: str, made: Callable[[Fields, str], object | None], grammar: str = "aoti_text"
) -> Form:
    return Form(re.compile(begins), rule, made, grammar)


CATALOGUE: tuple[Form, ...] = (
    _form(r"(?:input|output)_handles\[\d", "input", aoti_run.input_mismatch),
    _form(
        r"expected (?:in|out)puts vector size|AOTInductorModelRunMinimalArrayref\w+ expected",
        "count",
        aoti_run.count,
    ),
    _form(r"expected ndim \d", "ndim", aoti_run.ndim),
    _form(r"expected size \d+==", "layout", aoti_run.layout),
    _form(r"\w+\s?\(.*\)\s+API call failed at ", "call", aoti_run.call, "aoti_call"),
    _form(r"Expected extern kernel ", "proxy", aoti_run.proxy),
    _form(
        r"Could not find schema for \w+::|Mismatch between \w+ consumed|NYI: Unsupported list type|Unsupported "
        r"(?:input|serialized) type|ProxyExecutor does not|Serialized node doesn't match",
        "proxy",
        aoti_run.proxy,
    ),
    _form(r"Expected .* but received ", "scalar", aoti_run.scalar),
    _form(r"Error in dlopen", "dlopen", aoti_load.dlopen),
    _form(r"dl(?:open|sym) \S", "launcher", aoti_load.dlopen),
    _form(r"[^'\"]{1,4096}: undefined symbol: ", "undefined", aoti_load.undefined),
    _form(r"error in LoadLibrary for ", "windows", aoti_load.windows),
    _form(r"Failed to find a generated cpp file or so file", "models", aoti_load.models),
    _form(
        r"Failed to (?:initialize|close|find (?:wrapper|parent)|create (?:dir|temp)|extract zip|read (?:zip )?filename|compile "
        r"cpp|link files|open (?:ser|out)|load model)|P[yY]TorchStreamReader failed|PytorchStreamReader failed|No "
        r"(?:files found in|AOTInductor generate|device information)|File (?:not )?found: .*\.json$|Multiple wrapper|"
        r"Model \S+ not found in (?:package|PT2)|Shared model directory|Saved archive version|\S+ not found in PT2|Unable to "
        r"find (?:file with suffix|a proxy executor)|\[json\.exception|num_(?:runners|models) must",
        "package",
        aoti_load.package,
    ),
    _form(
        r"Cannot find constants |Constant not found: |update_constant_buffer: constant '|Found constant ",
        "constant",
        aoti_load.constant,
    ),
    _form(
        r"Mixed-device constants|Unsupported device (?:key )?found|Torch not compiled with|Invalid device: |Incorrect device "
        r"passed|The specified pointer resides|Expected out tensor to have device|Expected all tensors to be on the same",
        "device",
        aoti_load.device,
    ),
    _form(
        r"(?:CUDA|HIP) (?:driver )?error: |Triton Error \[|L0 (?:runtime error|build)",
        "image",
        aoti_load.image,
    ),
    _form(
        r".{1,300} does not has any of the attributes|cannot import name '|module '[\w.]+' has no|(?:type object )?'[\w.]+' (?:object )?has no",
        "versions",
        aoti_load.versions,
    ),
    _form(r"(?:Warning: )?\"?Input \d+ was compiled as ", "aligned", aoti_run.aligned),
    _form(r"Could not dlsym |No \w+ (?:function )?in \.so!", "symlookup", aoti_load.symlookup),
)
"""Every kind of text that has parts, most telling first."""

_PLAIN: tuple[tuple[str, object], ...] = (
    ("update_constant_buffer: allow_h2d_copy is not supported with user_managed", ConstantError("usage")),
    ("load_constants: allow_h2d_copy is not supported with user_managed", ConstantError("usage")),
    ("constants_map_ was not ready when constants_ is trying to be constructed", ConstantError("state")),
    ("constant blob size is only available for mmap'd weights", ConstantError("blob")),
    ("Constants are not mmap'd. Use AOTInductorModelUpdateConstantsBlob", ConstantError("blob")),
    ("Can't find shared library name", ConstantError("blob")),
    ("Shared library file cannot be opened", ConstantError("blob")),
    ("Failed to seek to end of shared library file", ConstantError("blob")),
    ("Shared library file is smaller than embedded weights size", ConstantError("blob")),
    ("weights_offset must be aligned to 16K boundary", ConstantError("blob")),
    ("mmap() failed", ConstantError("blob")),
    ("Weights data seems corrupt", ConstantError("blob")),
    ("Unknown constant state: ", ConstantError("state")),
    ("Calling constant_folding in model, but compiled with config", ConstantError("folding")),
    ("No model available in container!", RuntimeFault("container")),
    ("No available models in container!", RuntimeFault("container")),
    ("AOTInductorModelContainerDelete failed", RuntimeFault("container")),
    ("The model did not finish successfully. Error: ", RuntimeFault("not_finished")),
    ("Model CUDA event was not initialized", RuntimeFault("event")),
    ("Model XPU event was not initialized", RuntimeFault("event")),
    ("Model event was not initialized", RuntimeFault("event")),
    ("CPU runtime error", RuntimeFault("cpu")),
    ("Unsupported scalar_to_tensor_handle", RuntimeFault("arrayref")),
    ("AOTInductorArrayRefTensor ndim exceeds", RuntimeFault("arrayref")),
    ("Unknown exception occurred.", RuntimeFault("unknown")),
    ("Integer division by zero", RuntimeFault("division")),
    ("ZeroDivisionError", RuntimeFault("division")),
    ("Failed to import triton_lazy_compile", RuntimeFault("lazy_triton")),
    ("Failed to start kernel compilation", RuntimeFault("lazy_triton")),
    ("Failed to run kernel with autotuning", RuntimeFault("lazy_triton")),
    ("Invalid extern node index", RuntimeFault("proxy")),
    ("Expect returned int value to match the serialized int value", ProxyError("outputs")),
    ("Failed to open custom obj file", PackageError("file")),
)
"""Texts without parts, by their first words."""

_STARTS = {words[:6] for words, _ in _PLAIN}


def read_aoti(text: str) -> object | None:
    """Take a text of the AOTInductor runtime or loader apart.

    Args:
        text: an error's whole text without its prefix (`Error: `, an exception's class), without blank lines.

    Returns:
        One of the types of `parse/aoti/facts.py`, or None for a text that is none of these.
    """
    head = text[:LONGEST]
    return _read(head) if head else None


@lru_cache(maxsize=4096)
def _read(text: str) -> object | None:
    line = text.partition("\n")[0].rstrip()
    if line[:6] in _STARTS:
        found = next((made for words, made in _PLAIN if line.startswith(words)), None)
        if found is not None:
            return found
    for form in CATALOGUE:
        if form.begins.match(line) is None:
            continue
        tokens = fields(form.grammar, form.rule, text.strip() if form.rule == "models" else line)
        if tokens is not None:
            made = form.made(tokens, text)
            if made is not None:
                return made
    return None

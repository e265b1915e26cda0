"""From the tokens of a text about loading a model to what it says (`parse/aoti/text.py` finds the text)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.codes import device_name
from aoti_logs.parse.aoti.facts import (
    ConstantError,
    DeviceError,
    DlopenError,
    ImageError,
    PackageError,
    VersionMismatch,
)
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.shape import Fields

_REQUIRED = re.compile(r"\(required by ([^\s()]+)\)")
_DARWIN_SYMBOL = re.compile(r"[Ss]ymbol not found(?: in flat namespace)?:? '?\(?([^\s',)]+)")


def dlopen(found: Fields, text: str) -> DlopenError:
    """Read `Error in dlopen: FILE: REASON`, as glibc and macOS word it."""
    line = text.partition("\n")[0]
    symbol = first(found, "SYMBOL") or first(found, "SYMBOL_NAME") or _listed_symbol(found, text)
    if "DARWIN_PATH" in found and symbol is not None:
        symbol = symbol.removeprefix("_")  # every C symbol has it there
    reason = first(found, "REASON") or (f"undefined symbol: {symbol}" if symbol else "")
    if "VERSION" in found:
        reason = line[line.index("version `") :]
    library, needed = first(found, "DARWIN_PATH") or first(found, "LIBRARY"), first(found, "NEEDED")
    asked = _REQUIRED.search(reason) if "VERSION" in found else None
    if asked is not None:  # glibc names the library that lacks the version first
        library, needed = asked[1], needed or library
    return DlopenError(
        library=library,
        reason=reason.partition("\n")[0].strip(),
        undefined_symbol=symbol,
        needed=needed,
        version=first(found, "VERSION"),
    )


def _listed_symbol(found: Fields, text: str) -> str | None:
    """Return the symbol that macOS names further below."""
    told = _DARWIN_SYMBOL.search(text[:4096]) if "DARWIN_PATH" in found else None
    return told[1] if told else None


def undefined(found: Fields, text: str) -> DlopenError:
    """Read glibc's own `FILE: undefined symbol: NAME`, with the program in front of it."""
    del text
    symbol = found["SYMBOL"][0]
    return DlopenError(
        found["LIBRARY"][0], f"undefined symbol: {symbol}", symbol, program=first(found, "PROGRAM")
    )


def windows(found: Fields, text: str) -> DlopenError:
    """Read `error in LoadLibrary for FILE. WinError 126: REASON`."""
    del text
    return DlopenError(found["DLL"][0], f"WinError {found['CODE'][0]}: {found['REASON'][0]}")


_PROBLEMS: tuple[tuple[str, str], ...] = (
    ("Failed to initialize zip", "zip"),
    ("Failed to close zip", "zip"),
    ("PytorchStreamReader", "zip"),
    ("PyTorchStreamReader", "zip"),
    ("No files found", "zip"),
    ("No AOTInductor generate", "no_code"),
    ("File ", "file"),
    ("Failed to find wrapper metadata", "metadata"),
    ("Multiple wrapper", "several_libraries"),
    ("Model ", "no_model"),
    ("Shared model directory", "directory"),
    ("Failed to create", "directory"),
    ("Failed to find parent", "directory"),
    ("Failed to extract", "extract"),
    ("Failed to read", "extract"),
    ("Failed to compile", "build"),
    ("Failed to link", "build"),
    ("Failed to open", "build"),
    ("Failed to load model", "library"),
    ("No device information", "no_device"),
    ("Saved archive version", "version"),
    ("Unable to find file", "member"),
    ("Unable to find a proxy", "no_proxy"),
    ("[json.exception", "json"),
    ("num_", "usage"),
)


_MODEL_FOLDER = re.compile(r"(?:^|/)data/aotinductor/([^/]+)/")


def package(found: Fields, text: str) -> PackageError:
    """Read what the loader says about a package or a file of it."""
    line = text.partition("\n")[0]
    problem = next((p for words, p in _PROBLEMS if line.startswith(words)), "member")
    files: tuple[str, ...] | None = None
    listed: tuple[str, ...] | None = None
    if problem == "no_code":
        files = tuple(text.partition("\n")[2].split())
        listed = tuple(dict.fromkeys(m[1] for f in files if (m := _MODEL_FOLDER.search(f)) is not None))
    named = ("FILE", "DIRECTORY", "TARGET_FILE", "MISSING_MEMBER", "SUFFIX")
    return PackageError(
        problem=problem,
        reason=first(found, "REASON"),
        model_name=first(found, "MODEL") or first(found, "MODEL_WORD"),
        available_models=listed,
        files=files,
        file=next((found[name][0] for name in named if name in found), None),
    )


def models(found: Fields, text: str) -> PackageError:
    """Read `Failed to find a generated cpp file or so file for model 'M'` with the lists below it."""
    del text
    return PackageError(
        problem="no_model",
        model_name=found["MODEL"][0],
        available_models=tuple(name.strip() for name in found.get("ROW", [])),
        files=tuple(name.strip() for name in found.get("FILE_ROW", [])),
    )


def constant(found: Fields, text: str) -> ConstantError:
    """Read what is said of one constant by its name."""
    if "QUOTED" in found:
        got, expected = device_name(found["GOT"][0]), device_name(found["BOUND"][0])
        return ConstantError("device", found["QUOTED"][0], got, expected)
    problem = (
        "missing"
        if text.startswith("Cannot")
        else "unknown"
        if text.startswith("Constant")
        else "not_provided"
    )
    return ConstantError(problem, found["NAME"][0])


_DEVICE_PROBLEMS = (
    ("QUOTED", "constants"),
    ("BACKEND", "not_built"),
    ("RUNNER", "runner"),
    ("PLATFORM", "host_memory"),
    ("BOUND_DEVICE", "out_tensor"),
    ("BOTH", "operands"),
)


def device(found: Fields, text: str) -> DeviceError | None:
    """Read what is said when model, tensors and build are of different devices."""
    problem = next((p for kind, p in _DEVICE_PROBLEMS if kind in found), None)
    named = first(found, "DEVICE") or first(found, "BOUND_DEVICE")
    if problem is None:
        problem = "no_runner" if text.startswith("Unsupported") else "invalid"
    elif problem in {"not_built", "host_memory"}:
        named = (first(found, "BACKEND") or first(found, "PLATFORM") or "").lower()
    elif problem == "runner":
        named = found["RUNNER"][0].rpartition("_")[2]
    return DeviceError(problem, named, first(found, "DEVICE_WORD"), first(found, "QUOTED"))


_IMAGE = re.compile(
    r"named symbol not found|file not found|device kernel image is invalid|no kernel image is available|invalid "
    r"device function|unsupported toolchain|PTX JIT|invalid error code|a PTX|shared object (?:symbol not found|"
    r"initialization failed)|invalid device image|device code"
)


def image(found: Fields, text: str) -> ImageError | None:
    """Read an error of a driver or runtime that is about a kernel's image; None for any other."""
    reason = found["REASON"][0].partition("\n")[0]
    xpu = text.startswith("L0 build")
    if not xpu and _IMAGE.search(reason) is None:
        return None
    platform = first(found, "PLATFORM") or ("XPU" if text.startswith("L0") else text[:4].strip(" []:"))
    source = (
        "triton" if text.startswith("Triton") else "driver" if "driver" in text[:20] or xpu else "runtime"
    )
    return ImageError(platform, source, reason)


def versions(found: Fields, text: str) -> VersionMismatch | None:
    """Read a name that torch looks for in Triton; None where the text is about anything else."""
    if "ATTRIBUTE" in found:
        names = tuple(a.strip("'") for a in found["ATTRIBUTE"])
        told = _inner_type(found["OBJECT"][0])
    elif "MODULE" in found:
        names, told = (found["QUOTED"][0],), found["MODULE"][0]
    else:
        names, told = (found["QUOTED"][0],), found["CLASS"][0].strip("'")
    del text
    return VersionMismatch(told, names)


def _inner_type(printed: str) -> str:
    """Return the class of `<a.b.Kernel object at 0x7f..>`."""
    return printed.lstrip("<").partition(" object at ")[0] if " object at " in printed else printed


def symlookup(found: Fields, text: str) -> ConstantError | DlopenError:
    """Read that a library of an older release has not a function that the runner knows."""
    name = first(found, "FUNCTION_WORD") or found["FUNCTION"][0]
    del text
    return DlopenError(None, "not in the library", name)


def deprecation(text: str) -> Fields | None:
    """Return the tokens of a deprecation's line, None where it is none."""
    return fields("aoti_text", "deprecated", text)

"""A compiled model's library could not be loaded.

## What it says
Which file the loader names, why it refuses it, and what that mostly means: a file that is not there or cut off, a
symbol that this torch has not, another C++ ABI, a library that is no model of AOTInductor.

## Why it matters
The loader speaks of symbols, not of versions. `undefined symbol: aoti_torch_...` is a model made by a newer torch (or
for a device that this build has not); a mangled name with `Ss` in it is the old C++ string, so model and runtime were
built with different ABIs; `AOTInductorModelContainerCreateWithDevice` is asked of whatever file was named, and of the
Python binary where the path is empty.

## Example
`Error in dlopen: /tmp/example/model.so: undefined symbol: _ZN3c107WarningC1E...Ssb`

## Evidence it needs
The text. A stack beside it shows which ABI the runtime has.

## What to do
Compile and load with the same release of torch, or a newer one for loading; keep what the package consists of
together. `ldd -r FILE` and `nm -D FILE | c++filt` show what a library needs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.explain import Confidence
from aoti_logs.parse.aoti.facts import DlopenError
from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.stacks.mangled import demangled
from aoti_logs.rules.aoti_story import loads_package, story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.aoti_story import Story
    from aoti_logs.rules.error_case import ErrorCase

_MODEL = re.compile(r"AOTInductor|aoti_|_binary_constants_bin|torchinductor|/aotinductor|/c[a-z2-7]{51}[/.]")
_OURS = re.compile(r"\b(?:AOTIModel|aot_load|aoti_load|load_package|_load_aoti|aot_inductor)")
_LACKS = "not in the library"
_OLD_STRING = re.compile(r"Ss|SbIwE")
_WORD = re.compile(r"(?<![ST\d])(?<!L[a-z])([1-9]\d{0,3})(?=[A-Za-z_])")
_NEW_STRING = "__cxx11"
_TORCH = re.compile(
    r"(?:(?:vtable|typeinfo|typeinfo name|guard variable) for )?(?:[\w:<>*& ]+ )?(?:c10|at|torch|caffe2)::|_ZN?K?(?:3c10|2at|5torch)"
)


class _Cause(NamedTuple):
    title: str
    because: tuple[str, ...]
    fixes: tuple[str, ...]
    confidence: Confidence = Confidence.PROVEN
    decide: tuple[str, ...] = ()


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which library was refused, and what that means."""
    told = case.error.detail
    if not isinstance(told, DlopenError) or case.error.form is ErrorForm.WARNING:
        return None
    story = story_of(case)
    if not _is_model(case, told):
        return None
    cause = _cause(told, story)
    facts: dict[str, Any] = {
        "phase": "load",
        "library": told.library,
        "undefined_symbol": told.undefined_symbol,
        "demangled": demangled(told.undefined_symbol) if told.undefined_symbol else None,
        "needed": told.needed,
        "version": told.version,
        "reason": told.reason,
        **story_facts(story),
    }
    return ErrorTold(
        "AL210",
        "aoti_dlopen_error",
        cause.title,
        cause.confidence,
        because=cause.because,
        links=story_links(story),
        facts={k: v for k, v in facts.items() if v is not None},
        decide=cause.decide,
        fixes=cause.fixes,
        doubt="what the loader says fits more than one cause"
        if cause.confidence is Confidence.LIKELY
        else None,
    )


def _is_model(case: ErrorCase, told: DlopenError) -> bool:
    """Tell whether it is a model that was loaded: torch loads other libraries, too, and Python does."""
    if (
        case.error.message.startswith("Error in dlopen")
        or case.error.exception_type == "c10::DynamicLibraryError"
    ):
        nvrtc = "nvrtc" in (told.library or "")
        return not nvrtc
    if told.reason == _LACKS or _MODEL.search(f"{told.library} {told.undefined_symbol}"):
        return True
    return loads_package(case.error) or any(_OURS.search(f.code or "") for f in case.error.python_frames)


def _cause(told: DlopenError, story: Story) -> _Cause:
    name = (told.library or "the library").replace("\\", "/").rpartition("/")[2]
    symbol = told.undefined_symbol
    if symbol is not None:
        return _of_symbol(told, symbol, name, story)
    reason = told.reason
    if told.version is not None:
        lacks = f"`{told.needed.rpartition('/')[2]}`" if told.needed else "the library that has it"
        return _Cause(
            f"`{name}` needs {told.version}, which {lacks} on this system has not",
            ("a library that was built on a newer system does not load on an older one",),
            ("compile on a system that is as old as the one that serves, or serve on a newer one",),
        )
    if "ermission denied" in reason or "Operation not permitted" in reason:
        return _Cause(
            f"the system does not let this process load `{name}`: {reason}",
            (
                "the file may not be read, or stands in a folder that is mounted without the right to execute (noexec)",
            ),
            ("load it from a folder that allows it",),
        )
    if "cannot open shared object file" in reason:
        missing = told.library if "/" in (told.library or "") else name
        return _Cause(
            f"there is no library `{missing}` where it is looked for",
            ("the loader names the file that it cannot open, which may be one that the model needs",),
            ("check the path; where it is a library of torch, put its folder on LD_LIBRARY_PATH",),
        )
    if re.search(
        r"file too short|invalid ELF header|wrong ELF class|not a mach-o|truncated|cannot read file data",
        reason,
    ):
        return _Cause(
            f"`{name}` is no whole library of this platform: {reason}",
            ("the file is cut off, is something else, or was made for another machine",),
            ("copy or compile it again; compare its size with the original",),
        )
    return _Cause(f"`{name}` could not be loaded: {reason}", (), ())


def _of_symbol(told: DlopenError, symbol: str, name: str, story: Story) -> _Cause:
    shown = demangled(symbol) or symbol
    if told.reason == _LACKS:
        return _Cause(
            f"the model's library has no function `{symbol}`: an older torch made it than loads it",
            ("the runner says so itself: it found no such function in the library that it had loaded",),
            ("compile the model again with the torch that loads it",),
            Confidence.LIKELY,
        )
    if symbol.startswith("AOTInductorModel"):
        if "Create" not in symbol:
            return _Cause(
                f"`{name}` has not `{symbol}`: the model may be older than the torch that loads it",
                (
                    "torch asks a model for the functions that it knows; one that an older torch made lacks the newer ones",
                ),
                (),
                Confidence.POSSIBLE,
                ("`nm -D FILE | grep AOTInductorModel` shows which functions the library has",),
            )
        title = f"`{name}` is no model of AOTInductor: it has not `{symbol}`"
        if re.search(r"(?:^|/)python[\d.]*$", told.library or ""):
            return _Cause(
                "no library was named: the loader asked the Python program itself for a model",
                ("an empty path stands for the program that runs, so its name is printed",),
                (
                    "give the path of the model's .so, or load the .pt2 with torch._inductor.aoti_load_package",
                ),
                Confidence.LIKELY,
            )
        return _Cause(
            title,
            (
                "every model that torch 2.4 or newer compiled has this function: the file is another library, or an older model",
            ),
            ("give the path of the model's .so, or load the .pt2 with torch._inductor.aoti_load_package",),
            Confidence.LIKELY,
        )
    if symbol.startswith("_binary_constants_bin"):
        return _Cause(
            f"`{name}` was linked without its weights: the constants are missing",
            (f"`{symbol}` marks the constants (weights) that a linked object file holds",),
            ("compile again, and look for errors of `ld` or `objcopy` in its output",),
        )
    if symbol.startswith("aoti_"):
        device = next((d for d in ("cuda", "xpu", "mps") if symbol.startswith(f"aoti_torch_{d}_")), None)
        title = f"`{name}` needs `{symbol}`, which this torch has not"
        if device:
            title += f": built for {device}, or by a newer torch"
            because: tuple[str, ...] = (
                f"functions of this name are in builds of torch with {device}; newer releases add some",
            )
        else:
            title += ": the model may come from a newer torch, or no torch is loaded"
            because = (
                "a model finds these functions in libtorch; each release adds some",
                "a C++ program that does not link libtorch (or drops it, `--as-needed`) has none of them",
            )
        return _Cause(
            title,
            because,
            (),
            Confidence.POSSIBLE,
            ("compare torch.__version__ where the model is compiled and where it is loaded",),
        )
    abi = _abi(symbol, story)
    if abi is not None:
        return abi
    if not _TORCH.match(shown):
        return _Cause(
            f"`{name}` needs `{shown}`, which the libraries that are loaded have not",
            ("it is no name of torch: the library that has it is not loaded, or is another version",),
            ("load or link the library that has it, in the version that the model was linked with",),
            Confidence.LIKELY,
        )
    return _Cause(
        f"`{name}` needs `{shown}`, which the libraries that are loaded have not",
        ("the model was built against another libtorch (release or C++ ABI) than the one that loads it",),
        ("compile and load with the same build of torch",),
        Confidence.LIKELY,
    )


def _abi(symbol: str, story: Story) -> _Cause | None:
    """Tell a symbol of the other C++ ABI: std::string is written `Ss` in the old one, `__cxx11` in the new one."""
    old, new = _OLD_STRING.search(_without_words(symbol)) is not None, _NEW_STRING in symbol
    if old == new:
        return None
    frames = [f.symbol for e in story.told if e.stack is not None for f in e.stack.frames if f.symbol]
    seen = {
        _NEW_STRING if _NEW_STRING in f else "std::string"
        for f in frames
        if _NEW_STRING in f or "std::string" in f
    }
    runtime = "new" if seen == {_NEW_STRING} else "old" if seen == {"std::string"} else None
    if (runtime == "new") is new if runtime is not None else new:
        # The same ABI, so another release lacks the function. Releases since 2.6 have the new one: it tells nothing.
        return None
    proven = runtime is not None
    made, loads = ("old", "new") if old else ("new", "old")
    shown = demangled(symbol) or symbol
    because = [
        f"`{shown}` takes a std::string of the {made} ABI (_GLIBCXX_USE_CXX11_ABI={int(new)})",
    ]
    if proven:
        because.append(f"the frames of this libtorch show the {loads} one (different libtorch builds)")
    return _Cause(
        f"the model was built for the {made} C++ ABI, and this libtorch has the {loads} one",
        tuple(because),
        ("use builds of torch with the same ABI (_GLIBCXX_USE_CXX11_ABI) for compiling and for loading",),
        Confidence.PROVEN if proven else Confidence.LIKELY,
    )


def _without_words(symbol: str) -> str:
    """Return a mangled name without its identifiers, which stand behind their lengths: they may have any letters."""
    kept, at = [], 0
    while (found := _WORD.search(symbol, at)) is not None:
        kept.append(symbol[at : found.start()])
        at = found.end() + int(found[1])
    return "".join((*kept, symbol[at:]))


RULE = Rule("AL210", "library-does-not-load", __doc__ or "")

"""A package of AOTInductor could not be opened.

## What it says
What the loader missed: the file, the zip archive, the model of that name, the library inside, its metadata. The
finding lists the models and files that the text names.

## Why it matters
`Loading outdated pt2 file. Please regenerate your package.` is printed whenever the first of two loaders fails, for
whatever reason, so it does not show that the package is old. `File found:` (torch 2.6) means "not found".

## Example
`Failed to find a generated cpp file or so file for model 'nope' in the zip archive.`, with `model` under
`Available models`.

## Evidence it needs
The text with the lists below it.

## What to do
Check the path and the size of the file, the model's name (`load_package(path, "NAME")`; `aoti_load_package` takes
none), and that the package was copied as it was made: no member renamed, none left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.aoti.facts import PackageError
from aoti_logs.rules.aoti_story import loads_package, story_facts, story_links, story_of
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_OUTDATED = "Loading outdated pt2 file"
_ANYWHERE = {"zip", "json", "member", "version", "directory", "library", "build", "extract"}
"""Problems whose words other loaders print as well."""


_ALONE = (
    "Failed to initialize zip archive",
    "Failed to compile cpp file.",
    "Failed to open serialized weights file",
)
"""Texts that no other program is known to print."""


class _Cause(NamedTuple):
    title: str
    because: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    confidence: Confidence = Confidence.PROVEN


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the loader missed."""
    told = case.error.detail
    if case.error.exception_type == "KeyError" and case.error.message == "'AOTI_DEVICE_KEY'":
        told = PackageError("no_device")
    if not isinstance(told, PackageError):
        return _wrong_arguments(case)
    if told.problem in _ANYWHERE and not _loads(case):
        return None
    story = story_of(case)
    cause = _cause(told, found=case.error.message.startswith("File found"))
    facts: dict[str, Any] = {
        "phase": "load",
        "problem": told.problem,
        "reason": told.reason,
        "model_name": told.model_name,
        "available_models": list(told.available_models) if told.available_models is not None else None,
        "n_files": len(told.files) if told.files is not None else None,
        "files": list(told.files) if told.files is not None else None,
        "missing_file": told.file,
        **story_facts(story),
    }
    because = list(cause.because)
    links = list(story_links(story))
    warned = next((m for m in case.events.messages if m.text.startswith(_OUTDATED)), None)
    if warned is not None:
        because.append(
            "the warning about an outdated file is printed for every load that fails, so it does not show that age is the reason"
        )
        links.append(Link("warning", warned.text, warned.span.place))
    return ErrorTold(
        "AL211",
        "aoti_package_error",
        cause.title,
        cause.confidence,
        because=tuple(because),
        links=tuple(links),
        facts={k: v for k, v in facts.items() if v is not None},
        fixes=cause.fixes,
        doubt="the text alone does not show what is in the package"
        if cause.confidence is Confidence.LIKELY
        else None,
    )


def _loads(case: ErrorCase) -> bool:
    error = case.error
    raised = error.raised_from.file if error.raised_from is not None else ""
    own = "aoti" in raised or "inductor" in raised
    alone = not error.python_frames and error.message.startswith(_ALONE)
    return own or alone or loads_package(error)


def _cause(told: PackageError, *, found: bool) -> _Cause:
    if told.problem == "zip":
        return _zip(told.reason or "")
    if told.problem == "no_model":
        return _no_model(told)
    if told.problem == "no_code":
        names = ", ".join(f"'{name}'" for name in told.available_models or ())
        return _Cause(
            "the archive has no code for the model that was asked for"
            + (f"; it has {names}" if names else ""),
            ("the loader of torch 2.6 looks below data/aotinductor/NAME, NAME being the model's name",),
            ("load it by the name that it was packaged with",),
        )
    if told.problem == "file" and (told.file or "").endswith(("_compile_flags.json", "_linker_flags.json")):
        return _Cause(
            "the package seems to hold no library: the loader set out to compile the source",
            (
                "without a .so of its own the loader takes a package for one of source only, and looks for compile flags",
                *(("torch 2.6 says `File found` where it means that it did not find it",) if found else ()),
            ),
            ("package it again (package_cpp_only adds the flags), and copy the file whole",),
            Confidence.LIKELY,
        )
    if told.problem == "build":
        return _Cause(
            "the loader could not compile or link the source in the package",
            (
                "a package of source only (package_cpp_only) is built when it is loaded; the compiler's output stands above",
            ),
            ("install the compiler that the flags in the package name, or package a library",),
        )
    titles = {
        "file": f"a file of the package is not there: {told.file}",
        "metadata": f"the package has no metadata for model '{told.model_name}'",
        "several_libraries": f"the package has several libraries for model '{told.model_name}'",
        "directory": f"the loader could not write where it unpacks: {told.file or told.reason}",
        "extract": f"a member of the package could not be unpacked: {told.reason or 'its name cannot be read'}",
        "no_device": "the package does not say for which device it was compiled",
        "version": "the package has another version than this torch reads",
        "member": f"the package has no `{told.file}`",
        "json": f"metadata of the package is no JSON: {told.reason}",
        "usage": f"the loader was called with numbers that do not go together: {told.reason}",
        "no_proxy": "an operator needs the file of operators (.json) that belongs to the library, and it is not there",
        "library": f"the library could not be loaded: {told.file}",
    }
    return _Cause(titles[told.problem])


def _zip(reason: str) -> _Cause:
    if "open failed" in reason:
        return _Cause(
            "the package could not be opened: no such file, or no permission",
            ("the archive's reader says no more than that",),
            ("check the path",),
        )
    if "not a ZIP" in reason:
        return _Cause("the file is no package: it is no zip archive", (), ("check which file was given",))
    if "central directory" in reason:
        return _Cause(
            "the package is cut off, or is no zip archive",
            ("the directory of a zip archive stands at its end, and there is none",),
            ("copy it again, and compare its size with the original",),
        )
    return _Cause(f"the package could not be read: {reason}" if reason else "the package is empty")


def _no_model(told: PackageError) -> _Cause:
    known = told.available_models or ()
    if told.model_name in known:
        bare = told.files and all(
            f.startswith(("data/", "archive_", ".data/", "byteorder", "version")) for f in told.files
        )
        if bare:
            return _Cause(
                f"the members of the package lack the folder that stands in front of them since torch 2.8; model "
                f"'{told.model_name}' is there",
                (
                    "the loader finds the name, but looks for STEM/data/aotinductor/NAME, and the members begin with data/",
                ),
                ("package the model again, or load it with the torch that packaged it",),
            )
        return _Cause(
            f"model '{told.model_name}' is in the package, but without code",
            ("the name is in the list of models; no .so and no .cpp lies below it",),
            ("package the model again",),
        )
    listed = ", ".join(f"'{name}'" for name in known)
    return _Cause(
        f"the package has no model '{told.model_name}'" + (f"; it has {listed}" if listed else ""),
        (),
        ('name one that it has: torch._inductor.package.load_package(path, "NAME")',),
    )


def _wrong_arguments(case: ErrorCase) -> ErrorTold | None:
    """Tell the call of `aoti_load_package` with a model's name, which is taken for `run_single_threaded`."""
    error = case.error
    if (
        "incompatible constructor arguments" not in error.message
        or "AOTIModelPackageLoader" not in error.text
    ):
        return None
    return ErrorTold(
        "AL211",
        "python_traceback",
        "the package loader was called with arguments of other types than it takes",
        because=("aoti_load_package takes no model name: its second argument is run_single_threaded",),
        links=story_links(story_of(case)),
        fixes=("load a named model with torch._inductor.package.load_package(path, model_name)",),
    )


RULE = Rule("AL211", "package-does-not-open", __doc__ or "")

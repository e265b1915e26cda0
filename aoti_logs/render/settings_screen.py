"""Settings as text: the list by when they take effect, and the page of one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from aoti_logs.settings.catalogue import TOPICS
from aoti_logs.settings.model import AGAIN, READINGS, Effect, Kind, Proof, Setting

HEADINGS = {
    Effect.PROCESS: "process: from the start of the process, or of CUDA in it; nothing has to be compiled again",
    Effect.IMPORT: "import: from the import of torch on; nothing has to be compiled again",
    Effect.COMPILE: "compile: when code is compiled or exported; a package that exists does not change",
    Effect.LOAD: "load: when a package is loaded",
    Effect.FIRST_RUN: "first run: at the first run of a loaded model",
    Effect.RUN: "run: at every run",
    Effect.BUILD: "build: when torch is built",
}
_WIDTH = 100
_MARGIN = 18
_SWITCH = {"True": "True (on)", "False": "False (off)"}


def settings_list(settings: Iterable[Setting]) -> str:
    """List settings by when they take effect, one a line."""
    found = list(settings)
    lines: list[str] = []
    for effect, heading in HEADINGS.items():
        some = [s for s in found if s.effect is effect]
        if some:
            lines += ["", heading, ""] if lines else [heading, ""]
            for topic in dict.fromkeys(s.topic for s in some):
                lines.append(f"  {TOPICS[topic]}")
                lines += [f"    {s.name:<54} {short(s)}" for s in some if s.topic == topic]
    return "\n".join(lines) + "\n" if lines else "no setting fits\n"


def short(setting: Setting) -> str:
    """Return the first sentence of what a setting does, cut off where it is long."""
    text = setting.does.partition(". ")[0].removesuffix(".")
    return text if len(text) <= 90 else textwrap.shorten(text, 90, placeholder=" ...")


def settings_page(setting: Setting) -> str:
    """Write all that is known about a setting."""
    lines = [setting.name, "", *_wrapped(setting.does, ""), ""]
    for label, texts in entries(setting):
        for index, text in enumerate(texts):
            head = label if index == 0 else ""
            lines += _wrapped(text, f"{head:<{_MARGIN}}")
    return "\n".join(lines) + "\n"


def entries(setting: Setting) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the labelled facts of a setting, in the order of its page."""
    yield "kind", (_kind(setting),)
    yield "takes effect", (HEADINGS[setting.effect].partition(": ")[2],)
    yield "read", (setting.read,)
    yield "after a change", (_again(setting),)
    yield "default", (_SWITCH.get(setting.default, setting.default),)
    if setting.reading is not None or setting.values is not None:
        reading = setting.values if setting.values is not None else READINGS[setting.reading or "text"]
        yield "values", (reading,)
    if setting.config is not None:
        yield "config value", (setting.config,)
    if setting.option is not None:
        yield (
            "as an option",
            (f'inductor_configs={{"{setting.option}": ...}}, torch.compile(..., options=...)',),
        )
    yield "releases", (releases(setting), *setting.changes)
    if setting.formerly:
        yield "formerly", (", ".join(setting.formerly),)
    yield "costs", (setting.cost,)
    if setting.misleads:
        yield "beware", tuple(f"- {text}" for text in setting.misleads)
    if setting.rules:
        yield "rules", (", ".join(setting.rules),)
    if setting.related:
        yield "see also", (", ".join(setting.related),)
    proofs = tuple(f"torch/{p.file}{_range(p)}: {p.text}" for p in setting.proof)
    if setting.outside is not None:
        proofs += (f"not in torch's wheel: {setting.outside}",)
    if setting.measured is not None:
        proofs += (f"measured: {setting.measured}",)
    yield "known from", proofs


def releases(setting: Setting) -> str:
    """Say which releases of torch know a setting."""
    if setting.since is None:
        return f"not torch's own: {setting.owner}" if setting.owner else "2.13; older ones were not read"
    first = "2.4 (or older)" if setting.since == "2.4" else setting.since
    if setting.until is not None:
        return f"torch up to {setting.until}"
    return f"torch {first} and newer"


def _again(setting: Setting) -> str:
    if (
        setting.effect is Effect.COMPILE
        and setting.kind is Kind.ENVIRONMENT
        and setting.read.endswith("imported")
    ):
        return "compile again, in a process that is started with it"
    return AGAIN[setting.again]


def _range(proof: Proof) -> str:
    if proof.since is not None:
        return f" ({proof.since} and newer)"
    return f" ({proof.until} and older)" if proof.until is not None else ""


def _kind(setting: Setting) -> str:
    match setting.kind:
        case Kind.CONFIG:
            return "config value of torch; no variable sets it"
        case Kind.BUILD:
            return "macro of torch's build"
        case _:
            return "environment variable" + (f" of {setting.owner}" if setting.owner else "")


def _wrapped(text: str, head: str) -> list[str]:
    indent = " " * len(head)
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=indent + ("  " if text.startswith("- ") else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )

"""What can be said of one setting in the command of a run: that its text means something else, or that it could not act."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.rules.setting_evidence import MARKS, generated, marked, only_loads, takes_any_text
from aoti_logs.settings import Effect, Kind, all_settings
from aoti_logs.settings.model import READINGS
from aoti_logs.settings.value import meant, switched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.settings import Setting

CHECKS, PRINTER = "AOTI_RUNTIME_CHECK_INPUTS", "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER"
_FILTER = "AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT"
_ASKED = frozenset(
    {
        "AOT_INDUCTOR_DEBUG_COMPILE",
        "AOT_INDUCTOR_DEBUG_SYMBOLS",
        _FILTER,
        PRINTER,
        "INDUCTOR_PROVENANCE",
        "TORCHINDUCTOR_NAN_ASSERTS",
        "TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS",
        "TORCHINDUCTOR_SCALAR_ASSERTS",
        "TORCHINDUCTOR_SIZE_ASSERTS",
        "TORCH_COMPILE_DEBUG",
    }
)
"""Settings of the compile that are set to find a fault. Those that every command has (caches, traces) are left alone."""
_NEEDS = {
    "AOTINDUCTOR_REPRO_LEVEL": "DUMP_AOTI_MINIFIER",
    "AOTI_CUDA_COPY_SLEEP_US": "AOTI_CUDA_COPY_CHUNK_SIZE",
    "TORCHDYNAMO_REPRO_LEVEL": "TORCHDYNAMO_REPRO_AFTER",
    _FILTER: PRINTER,
}
"""Settings that do nothing without another one."""
_OWNERS = {None, "Python", "Triton"}
"""Whose reading of a text is known from their source."""
_OURS = re.compile(r"(?:AOT_?I(?:NDUCTOR)?|TORCHINDUCTOR|TORCHDYNAMO|TORCH|PYTORCH)_[A-Z0-9_]{4,60}$")
_BEFORE_CONFIG = re.compile(r"(?:AOT_INDUCTOR|TORCHINDUCTOR|TORCHDYNAMO|TORCH_DYNAMO|TORCH_COMPILE)_")
_ALIKE = 0.97
_LONGEST = 80
_IN_A_COMPILE = "it acts when code is compiled, and a model that exists keeps what it was compiled with"


@dataclass(frozen=True)
class Said:
    """One sentence about a setting. `problem` is a word for what it is, `because` what the sentence rests on."""

    name: str
    text: str
    problem: str
    title: str
    confidence: Confidence
    because: tuple[str, ...] = ()


def said_of(env: Mapping[str, str], events: LogEvents, evidence: Evidence) -> Iterator[Said]:
    """Yield what is to be said of the variables of a command, for each at most one sentence."""
    known = _by_name()
    for name, text in env.items():
        setting = known.get(name)
        if setting is None:
            said = _no_such(name, text)
        else:
            said = (
                _other_value(setting, text, evidence)
                or _alone(name, text, env)
                or _too_late(name, text, events, evidence)
            )
        if said is not None:
            yield said


@cache
def _by_name() -> dict[str, Setting]:
    return {s.name: s for s in all_settings() if s.kind is Kind.ENVIRONMENT}


def _shown(name: str, text: str) -> str:
    return f"`{name}={text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}`"


def _other_value(setting: Setting, text: str, evidence: Evidence) -> Said | None:
    """Tell of a text that reads as off and is on, or the other way round."""
    name = setting.name
    wanted, does = meant(text), switched(setting, text)
    if name == CHECKS:
        return _checks_value(text, evidence)
    if name == PRINTER and text not in {"", "0", "1", "2", "3"}:
        title = f"{_shown(name, text)} is no level of the value printer: {setting.values}"
        return Said(
            name, text, "no_value", title, Confidence.LIKELY, ("torch 2.5 has no levels: only `1` is on",)
        )
    if wanted is None or does is None or wanted == does or setting.owner not in _OWNERS:
        return None
    reads = READINGS[setting.reading or ""]
    change = next((c for c in setting.changes if "is on" in c), None)
    return Said(
        name,
        text,
        "other_value",
        f"{_shown(name, text)} leaves the setting {'on' if does else 'off'}: {reads}"
        + (f" ({change})" if change else ""),
        Confidence.PROVEN,
        (f"this is how {setting.owner or 'torch 2.13'} reads it",),
    )


def _checks_value(text: str, evidence: Evidence) -> Said | None:
    if meant(text) is not False:
        return None
    code = takes_any_text(evidence)
    if code is None and generated(evidence):
        return None  # nothing at hand reads it, or models of several releases do
    zero, empty = text.startswith("0"), text == ""
    on = empty is False if code else not zero
    if not on or (zero and code is not True):
        return None
    reads = (
        "every text but the empty one is on" if code else "only unset, or a text that begins with 0, is off"
    )
    older = (
        " in code that torch 2.8 or newer compiled; for 2.7 the empty text is off"
        if empty and code is None
        else ""
    )
    return Said(
        CHECKS,
        text,
        "other_value",
        f"{_shown(CHECKS, text)} switches the checks of inputs ON: {reads}{older}",
        Confidence.PROVEN if code is not None else Confidence.LIKELY,
        ("the generated code at hand reads it so",)
        if code is not None
        else ("code that torch 2.7 or newer compiled reads it so; older code does not read it",),
    )


def _alone(name: str, text: str, env: Mapping[str, str]) -> Said | None:
    """Tell of a setting that does nothing without another one, which the command does not set."""
    needed = _NEEDS.get(name)
    if needed is None:
        return None
    other = env.get(needed)
    if name == _FILTER and other is not None and other != "2":
        title = f"{_shown(name, text)} does nothing: only level 2 of the value printer reads it, and {needed}={other}"
        return Said(name, text, "needs_another", title, Confidence.PROVEN)
    if other is None or switched(_by_name()[needed], other) is False:
        title = f"{_shown(name, text)} does nothing without `{needed}`, which the command does not set"
        return Said(name, text, "needs_another", title, Confidence.LIKELY, ("it may be set elsewhere",))
    return None


def _too_late(name: str, text: str, events: LogEvents, evidence: Evidence) -> Said | None:
    """Tell of a setting that no code at hand has anything of, or that a run which only loads a model cannot use."""
    if not _on(name, text) or _seen(name, events):
        return None
    mark = MARKS.get(name)
    has = marked(evidence, name) if mark is not None else None
    if has:
        return None
    if mark is not None and has is False:
        title = f"the command sets {_shown(name, text)}, and no generated code at hand {mark.what}"
        title += _WITHOUT[name]
        first = generated(evidence)[0].source.name.rpartition("/")[2]
        looked = f"looked for {' and '.join(f'`{w.decode()}`' for w in mark.words[:2])} in {first} and all others at hand"
        return Said(name, text, "not_in_the_code", title, Confidence.LIKELY, (looked,))
    if name in _ASKED and _by_name()[name].effect is Effect.COMPILE and only_loads(events):
        title = f"{_shown(name, text)} changes nothing in a run that only loads a model: {_IN_A_COMPILE}"
        because = ("the log shows a model being called, and nothing of a compile",)
        return Said(name, text, "too_late", title, Confidence.POSSIBLE, because)
    return None


_WITHOUT = {
    CHECKS: ": torch 2.6 and older write the checks only with AOT_INDUCTOR_DEBUG_COMPILE=1, and torch.compile has guards instead",
    PRINTER: f": {_IN_A_COMPILE}; for kernels on the CPU the Python wrapper of torch.compile prints nothing",
    "TORCHINDUCTOR_NAN_ASSERTS": f": {_IN_A_COMPILE}; packages for the CPU have none in torch 2.9 and older",
    "TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS": f": {_IN_A_COMPILE}; torch 2.9 and older do not know it, and kernels on the CPU never have it",
}


def _on(name: str, text: str) -> bool:
    """Tell whether the setting asks for something."""
    if name == PRINTER:
        return text in {"1", "2", "3"}
    return switched(_by_name()[name], text) is not False and text not in {"", "0"}


def _seen(name: str, events: LogEvents) -> bool:
    """Tell whether the log itself shows that a setting acts."""
    if name in {PRINTER, _FILTER}:
        return bool(events.dumps)
    if name == CHECKS:
        return any("input_handles[" in e.message for e in events.errors)
    if "NAN_ASSERTS" in name:
        return any(
            "At least one " in e.message or "NaN or Inf found" in e.message for e in events.errors
        ) or any("NaN or Inf found" in a.first.text for a in events.assertions)
    return False


def _no_such(name: str, text: str) -> Said | None:
    """Tell of a name that nothing reads: a config value that has no variable, or a letter that is missing."""
    if _OURS.match(name) is None:
        return None
    option = _BEFORE_CONFIG.sub("", name, count=1).lower()
    values = {s.name.rpartition(".")[2]: s for s in all_settings() if s.kind is Kind.CONFIG}
    if _BEFORE_CONFIG.match(name) and option in values:
        title = f"torch reads no variable `{name}`: there is only the config value `{values[option].name}`"
        because = ("a program may read the variable by itself",)
        return Said(name, text, "no_such_variable", title, Confidence.LIKELY, because)
    near = get_close_matches(name, _by_name(), n=1, cutoff=_ALIKE)
    if not near:
        return None
    title = f"`{name}` is no variable that is known here; `{near[0]}` is"
    return Said(name, text, "no_such_variable", title, Confidence.POSSIBLE)

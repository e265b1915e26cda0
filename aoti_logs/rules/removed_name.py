"""A name that this torch has no more: an entry point, or a config value that another release knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.errors import UnknownNameError
from aoti_logs.explain import Confidence
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.plain_kind import kind_of
from aoti_logs.settings import setting

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

# torch/utils/_config_module.py, and torch/__init__.py for torch.compile's options
_CONFIG = re.compile(
    r"(?P<module>torch\._(?:inductor|dynamo)\.config)\.(?P<name>[\w.]{1,80}) does not exist$"
)
_OPTION = re.compile(r"Unexpected optimization option (?P<name>[\w.]{1,80}), known options are \[")
_ENTRY = re.compile(
    r"(?:cannot import name '(?P<a>\w+)' from '(?P<from>torch[\w.]*)'|module '(?P<of>torch[\w.]*)' has no attribute '(?P<b>\w+)')"
)
_GONE = {
    ("torch._export", "capture_pre_autograd_graph"): (
        "torch.export.export(model, args).module()",
        "2.4 and 2.6 warn of it, 2.9 and 2.13 have it no more",
    )
}
_LONGEST = 1000


def removed_name(case: ErrorCase) -> ErrorTold | None:
    """Return what is known of a name that torch says it has not, or None."""
    message = case.error.message[:_LONGEST]
    kind = (case.error.exception_type or "").rpartition(".")[2]
    if kind in {"ImportError", "AttributeError"} and (entry := _ENTRY.match(message)) is not None:
        module, name = entry["from"] or entry["of"], entry["a"] or entry["b"]
        instead, when = _GONE.get((module, name), (None, ""))
        if instead is None:
            return None
        title = f"`{module}.{name}` is no more in this torch; use `{instead}`"
        return _told(case, f"{module}.{name}", title, (when,), instead)
    config = _CONFIG.match(message) if kind == "AttributeError" else None
    found = config or (_OPTION.match(message) if kind == "RuntimeError" else None)
    if found is None:
        return None
    full = f"{config['module']}.{found['name']}" if config else f"torch._inductor.config.{found['name']}"
    try:
        known = setting(full)
    except UnknownNameError:
        return _told(case, full, f"this torch has no config value `{full}`", (), None)
    newer = known.config or known.name
    if newer == full:
        until = (
            f"; releases {known.since} to {known.until} have it"
            if known.until
            else f"; {known.since} and newer have it"
        )
        return _told(
            case,
            full,
            f"this torch has no config value `{full}`{until if known.since else ''}",
            known.changes,
            None,
        )
    title = (
        f"this torch has no config value `{full}`; releases since {known.since or 'later'} call it `{newer}`"
    )
    return _told(case, full, title, known.changes, newer)


def _told(case: ErrorCase, name: str, title: str, because: tuple[str, ...], instead: str | None) -> ErrorTold:
    facts = {"api": name, "replacement": instead}
    return ErrorTold(
        "AL218", kind_of(case.error), title, Confidence.PROVEN, because=because,
        facts={k: v for k, v in facts.items() if v is not None},
        fixes=(f"use `{instead}`",) if instead else (),
    )  # fmt: skip

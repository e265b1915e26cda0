"""What a compiled model will do wrong silently or confusingly, before anything fails.

The models are those of packages, then the wrappers that stand alone; a wrapper's code is judged once, however many copies
there are, and each package by itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aoti_logs.code.model_facts import headline
from aoti_logs.code.packages.package import Form
from aoti_logs.commands import in_one
from aoti_logs.explain import AuditedModel
from aoti_logs.rules.model_case import RUNS, ModelCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.sources.source import Source

_OF_CODE = (
    "al711_inputs_unchecked",
    "al712_shared_size",
    "al713_small_sizes",
    "al714_ignored_errors",
    "al715_layout_on_trust",
    "al716_index_unasserted",
    "al717_data_size",
    "al718_divided_size",
)
_OF_PACKAGE = (
    "al721_constants",
    "al722_files_missing",
    "al723_bound_to",
)
_LAST = (
    "al724_debug_code",
    "al731_not_read",
)
_FORMS = {Form.ARCHIVE: 0, Form.FOLDER: 1, Form.FILES: 2}


def model_cases(subjects: Sequence[Source], evidence: Evidence) -> Iterator[tuple[ModelCase, bool]]:
    """Yield each model, and False where its code was judged with another package already.

    Args:
        subjects: what is asked about; a model in other sources is only evidence.
        evidence: all that is at hand.
    """
    own = {source.name for source in subjects}
    command = _command(evidence)
    seen: set[str] = set()
    for package in sorted(evidence.packages, key=lambda p: _FORMS.get(p.form, 3)):
        names = {package.name, *(f.name for f in package.files)}
        if not any(_within(name, own) for name in names):
            continue
        for model in package.models:
            view = evidence.view_of(model)
            code = None if view is None else view.wrapper.source.name
            if code in seen and package.form is Form.FILES:
                continue  # the same files, unpacked beside their package
            several = len(package.models) > 1
            yield (
                ModelCase(
                    f"{package.name}, {model.name}" if several else package.name,
                    view,
                    package,
                    model,
                    command,
                ),
                code is None or code not in seen,
            )
            if code is not None:
                seen.add(code)
    for code_file in evidence.base.wrappers:
        if code_file.wrapper is None or not any(_within(n, own) for n in code_file.names):
            continue
        view = evidence.view(code_file.wrapper)
        name = view.wrapper.source.name
        if name not in seen:
            seen.add(name)
            yield ModelCase(name, view, command=command), True


def audited(
    subjects: Sequence[Source], evidence: Evidence
) -> tuple[tuple[Finding, ...], tuple[AuditedModel, ...]]:
    """Return what is said of all models, in their order, and the models."""
    findings: list[Finding] = []
    models = []
    for case, code in model_cases(subjects, evidence):
        findings += audit_model(case, code=code)
        view = case.view
        models.append(
            AuditedModel(
                case.name,
                None if view is None else view.wrapper.source.name,
                None if view is None else headline(view),
                _torch(case),
            )
        )
    return tuple(findings), tuple(models)


def _torch(case: ModelCase) -> str | None:
    """Return which release compiled a model, as far as its files tell."""
    if case.package is None or case.model is None:
        return None
    told = case.package.torch(case.model)
    if told.exact is not None:
        return told.exact
    if told.at_least is None:
        return None if told.below is None else f"older than {told.below}"
    return f"{told.at_least} or later" + (f", older than {told.below}" if told.below is not None else "")


def _within(name: str, own: set[str]) -> bool:
    return name in own or name.partition("!")[0] in own or name.partition("#")[0] in own


def _command(evidence: Evidence) -> str:
    """Return the one command that logs at hand show, or words for it."""
    told = {
        in_one(dict(note.facts).get("command"))
        for _, events in evidence.logs
        for note in events.notes
        if note.kind == "command"
    } - {None}
    return str(told.pop()) if len(told) == 1 else RUNS


def audit_model(case: ModelCase, *, code: bool = True) -> list[Finding]:
    """Return what the rules say of one model, warnings first.

    Args:
        case: the model.
        code: also what its code says.
    """
    names = (*_OF_CODE, *_OF_PACKAGE, *_LAST) if code else _OF_PACKAGE
    found: list[Finding] = []
    for name in names:
        tell: Callable[[ModelCase], Iterator[Finding]] = import_module(f"aoti_logs.rules.{name}").tell_model
        found += tell(case)
    return sorted(found, key=lambda f: f.severity != "warning")

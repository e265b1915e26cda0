"""A compiled model that nobody ran yet, asked about: what a rule of the audit sees, and what it says.

A rule of the audit has `tell_model(case) -> Iterator[Finding]` in its module and its name in `rules/audit.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.code.model import InputCheck, ModelInput
    from aoti_logs.code.packages.package import Package, PackagedModel
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Experiment, Missing
    from aoti_logs.sources.source import Place

RUNS = "the command that runs the model"
MOST_LINKS = 5
_END = re.compile(rb"^\} // (?:\w+::run_impl|inductor_entry_impl)", re.MULTILINE)
_LONGEST = 200


@dataclass(frozen=True)
class ModelCase:
    """One compiled model.

    `view` is its wrapper's code, None where the text is not at hand. `model` is how it is packaged, None for a
    wrapper that stands alone. `command` is what runs it, in words where nothing shows it.
    """

    name: str
    view: ModelView | None
    package: Package | None = None
    model: PackagedModel | None = None
    command: str = RUNS

    @cached_property
    def aot(self) -> ModelView | None:
        """The code of an AOTInductor model; None for torch.compile's, whose inputs Dynamo guards."""
        return self.view if self.view is not None and self.view.is_aot else None

    @cached_property
    def cut(self) -> bool:
        """Whether the end of a C++ wrapper is not there."""
        view = self.view
        if view is None or view.wrapper.flavour == "jit_python":
            return False
        return _END.search(view.wrapper.source.data) is None

    @cached_property
    def absent(self) -> tuple[Confidence, str | None]:
        """How sure it is that what was not found in the code is not there, and what keeps it from being proven."""
        if self.view is None:
            return Confidence.UNKNOWN, "the code is not at hand"
        if self.cut:
            return Confidence.POSSIBLE, "the end of the wrapper is missing"
        number = len(self.view.wrapper.unread)
        if number:
            what = "1 statement" if number == 1 else f"{number:,} statements"
            return Confidence.LIKELY, f"{what} of the wrapper could not be read"
        return Confidence.PROVEN, None

    def place(self, line: int) -> Place | None:
        """Return a line of the wrapper."""
        return None if self.view is None else self.view.wrapper.source.place(line)

    def text(self, line: int) -> str:
        """Return what stands in a line of the wrapper."""
        if self.view is None:
            return ""
        return one_line("\n".join(self.view.wrapper.source.lines_from(line, line)))

    def link(self, step: str, line: int, text: str | None = None, *details: str) -> Link:
        """Quote a line of the wrapper."""
        return Link(
            step, self.text(line) if text is None else one_line(text), self.place(line), details=details
        )

    def called(self, entry: ModelInput) -> str:
        """Return what a person calls an input; only a name that is proven stands alone."""
        known = None if self.view is None else self.view.names.get(entry.name)
        if known is None:
            return f"input {entry.index} (`{entry.name}`)"
        return (
            f"`{known.name}`"
            if known.strength is Confidence.PROVEN
            else f"input {entry.index} (`{known.name}`?)"
        )

    def finding(
        self,
        code: str,
        kind: str,
        title: str,
        *,
        warning: bool = False,
        confidence: Confidence = Confidence.PROVEN,
        facts: dict[str, Any] | None = None,
        links: Sequence[Link] = (),
        because: Sequence[str] = (),
        decide: Sequence[str] = (),
        fixes: Sequence[str] = (),
        notes: Sequence[str] = (),
        missing: Sequence[Missing] = (),
        experiments: Sequence[Experiment] = (),
        doubt: str | None = None,
    ) -> Finding:
        """Return what a rule says as a finding about this model; arguments are those of `Finding` and `Verdict`.

        `warning`: a wrong result or a crash can come without a text, or the model cannot be loaded at all.
        """
        verdict = Verdict(code, title, confidence, tuple(because), tuple(decide), tuple(fixes))
        own = {"model": self.name, **(facts or {})}
        if self.view is not None:
            own = {"wrapper": self.view.wrapper.source.name, **own}
        return Finding(
            code,
            kind,
            "note",
            "warning" if warning else "note",
            confidence,
            title,
            own,
            log=self.name,
            chain=tuple(links),
            missing=tuple(missing),
            experiments=tuple(experiments),
            verdicts=(verdict,),
            notes=tuple(notes),
            doubt=doubt,
        )


def one_line(text: str) -> str:
    """Return code as one line that is not too long to read."""
    joined = " ".join(text.split())
    return joined if len(joined) <= _LONGEST else joined[:_LONGEST] + " ..."


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    every = list(dict.fromkeys(names))
    if len(every) > most + 1:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)


def gated(checks: Iterable[InputCheck]) -> bool | None:
    """Tell whether some checks are made only with AOTI_RUNTIME_CHECK_INPUTS; None where there are none."""
    found = [c.gated for c in checks]
    return all(found) if found else None

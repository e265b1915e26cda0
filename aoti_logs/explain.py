"""What an explanation is made of: findings, links that quote, what is missing, what to run next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from aoti_logs.commands import Variables, joined, shell_line
from aoti_logs.ladder import Ladder
from aoti_logs.sources.name import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Place

SCHEMA = 1


class Confidence(StrEnum):
    """How sure a statement is; only `PROVEN` may be worded as a fact."""

    PROVEN = "proven"
    """Every link is quoted from this run."""
    LIKELY = "likely"
    """One link rests on a unique match of names."""
    POSSIBLE = "possible"
    """There are several candidates; all are listed."""
    UNKNOWN = "unknown"
    """The chain is broken; it says where."""


_ORDER = [Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN]


def weakest(*parts: Confidence) -> Confidence:
    """Return the weakest of several; a chain is as strong as its weakest link."""
    return max(parts, key=_ORDER.index, default=Confidence.PROVEN)


@dataclass(frozen=True)
class Link:
    """One step of a chain. `details` are further lines that stand under it on the screen."""

    step: str
    text: str
    place: Place | None
    strength: Confidence = Confidence.PROVEN
    details: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "step": self.step,
            "text": self.text,
            "source": self.place.source if self.place else None,
            "line": self.place.line if self.place else None,
            "end_line": self.place.end_line if self.place else None,
            "strength": str(self.strength),
            "details": list(self.details),
        }


@dataclass(frozen=True)
class Missing:
    """A link that could not be made, and the way to record what it needs."""

    what: str
    how_to_record: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"what": self.what, "how_to_record": self.how_to_record}


@dataclass(frozen=True)
class Experiment:
    """The next thing to run. `takes_effect` is `run` (a new process is enough) or `compile`.

    `env` is what makes the experiment, `kept` what the shown command sets by itself: without it, another program would run.
    `change` says in words what has to be changed in the program before the command is run; empty where nothing has.
    """

    command: str
    env: Variables
    takes_effect: str
    why: str
    proof: str
    care: str | None = None
    kept: Variables = ()
    change: str = ""

    @property
    def line(self) -> str:
        """The whole line as a shell takes it."""
        return shell_line(joined(self.kept, self.env), self.command)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "command": self.command,
            "change": self.change or None,
            "env": dict(joined(self.kept, self.env)),
            "sets": dict(self.env),
            "takes_effect": self.takes_effect,
            "why": self.why,
            "proof": self.proof,
            "care": self.care,
        }


@dataclass(frozen=True)
class Verdict:
    """What a rule says about a cause. `because` are the facts it rests on, `decide` what would settle it when it is not
    proven. `doubted`: unless lines are lost, the log speaks against it, so it stands last among equals.
    """

    code: str
    title: str
    confidence: Confidence
    because: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    doubted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "rule": self.code,
            "title": self.title,
            "confidence": str(self.confidence),
            "because": list(self.because),
            "decide": list(self.decide),
        }


@dataclass(frozen=True)
class Finding:
    """One thing that happened. `verdicts` are all the rules that apply, the leading one first."""

    rule: str
    kind: str
    role: str
    severity: str
    confidence: Confidence
    title: str
    facts: Mapping[str, Any]
    rank: int | None = None
    log: str | None = None
    """Name of the log it was read from."""
    chain: tuple[Link, ...] = ()
    missing: tuple[Missing, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    consequences: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()
    doubt: str | None = None
    """What keeps it from being proven, in words; None where the chain says it."""

    @property
    def fixes(self) -> tuple[str, ...]:
        """What would mend it; empty as long as the cause is not decided."""
        sure = self.confidence in {Confidence.PROVEN, Confidence.LIKELY}
        return self.verdicts[0].fixes if self.verdicts and sure else ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values (the contract of `docs/explanation.schema.json`)."""
        return {
            "rule": self.rule,
            "kind": self.kind,
            "role": self.role,
            "severity": self.severity,
            "confidence": str(self.confidence),
            "title": self.title,
            "rank": self.rank,
            "log": self.log,
            "facts": _plain(self.facts),
            "chain": [link.to_dict() for link in self.chain],
            "missing": [m.to_dict() for m in self.missing],
            "experiments": [e.to_dict() for e in self.experiments],
            "verdicts": [v.to_dict() for v in self.verdicts],
            "fixes": list(self.fixes),
            "consequences": [c.to_dict() for c in self.consequences],
            "notes": list(self.notes),
            "doubt": self.doubt,
        }


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: integers beyond 64 bit and text that is not Unicode become readable text."""
    if isinstance(value, Mapping):
        return {_plain(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < 10_000 else f"{value:#x}"  # str() has a limit of digits
    return value


@dataclass(frozen=True)
class Explanation:
    """The answer of `Run.explain()`: findings in order, causes first."""

    inputs: tuple[str, ...]
    findings: tuple[Finding, ...]
    unparsed: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    failed_inputs: tuple[str, ...] = field(default=(), kw_only=True)
    """Those of `inputs` in which something failed."""
    silent: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """Those of `inputs` that say nothing, and why: `the file is empty`, or nothing in it is output of torch."""
    planner: Callable[[Finding], Ladder] | None = field(default=None, compare=False, repr=False, kw_only=True)
    """Makes the ladder of a finding, when it is asked for."""

    def plan(self, finding: Finding) -> Ladder:
        """Return every experiment that may help with a finding, the cheapest and least invasive first."""
        return self.planner(finding) if self.planner is not None else Ladder()

    def __iter__(self) -> Iterator[Finding]:
        """Iterate over the findings."""
        return iter(self.findings)

    def __str__(self) -> str:
        """Return the screen as plain text."""
        from aoti_logs.render.text import render_text

        return render_text(self)

    def _repr_html_(self) -> str:
        from aoti_logs.render.html import render_html

        return render_html(self)

    @property
    def heading(self) -> str:
        """What a page about it is called."""
        return "What failed, and why"

    @property
    def nothing(self) -> str:
        """What is said where nothing is to be shown."""
        return f"No failure found in {len(self.inputs)} {'source' if len(self.inputs) == 1 else 'sources'}."

    @property
    def failed(self) -> bool:
        """True when something failed."""
        return any(f.role == "cause" for f in self.findings)

    def to_dict(self, *, plans: bool = False) -> dict[str, Any]:
        """Return plain values: the versioned contract that `docs/explanation.schema.json` describes.

        Args:
            plans: also the ladder of experiments of each cause, under `plan`.
        """
        found: dict[str, Any] = _plain(
            {
                "schema": SCHEMA,
                "inputs": self.inputs,
                "failed_inputs": self.failed_inputs,
                "silent": self.silent,
                "findings": [
                    f.to_dict() | ({"plan": self.plan(f).to_dict()} if plans and f.role == "cause" else {})
                    for f in self.findings
                ],
                "unparsed": self.unparsed,
                "problems": self.problems,
            }
        )
        return found


@dataclass(frozen=True)
class AuditedModel:
    """A compiled model that was looked at.

    `name` is how a person finds it, and `Finding.log` of what is said of it. `headline` says what it is, None where its
    code is not at hand. `torch` is what is known about the release that compiled it, in words.
    """

    name: str
    wrapper: str | None
    headline: str | None
    torch: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "wrapper": self.wrapper, "headline": self.headline, "torch": self.torch}


@dataclass(frozen=True)
class Audit(Explanation):
    """The answer of `Run.audit()`: an explanation whose findings speak of compiled models before anything fails."""

    models: tuple[AuditedModel, ...] = ()

    def __str__(self) -> str:
        """Return the screen as plain text."""
        from aoti_logs.render.audit_text import render_audit

        return render_audit(self)

    @property
    def heading(self) -> str:
        """What a page about it is called."""
        return "What can go wrong without a text"

    @property
    def nothing(self) -> str:
        """What is said where no warning is to be shown."""
        if not self.models:
            return "No compiled model is here."
        return f"No warnings in {len(self.models)} {'model' if len(self.models) == 1 else 'models'}."

    @property
    def warned(self) -> bool:
        """True when a wrong result or a crash can come without a text, or a model cannot be loaded."""
        return any(f.severity == "warning" for f in self.findings)

    def to_dict(self, *, plans: bool = False) -> dict[str, Any]:
        """Return plain values: the contract of an explanation, with the models that were looked at."""
        return super().to_dict(plans=plans) | {"models": [_plain(m.to_dict()) for m in self.models]}

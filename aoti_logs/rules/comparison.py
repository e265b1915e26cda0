"""Whether two runs failed alike: the same signature, the same but for some facts, or another failure.

Too little evidence never makes two failures alike: they are then not known to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence
from aoti_logs.rules.signature import known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Finding, Link
    from aoti_logs.rules.signature import Signature


class Likeness(StrEnum):
    """How two failures stand to each other."""

    ALIKE = "alike"
    BUT = "alike but for"
    """The same failure, and some facts differ."""
    UNKNOWN = "not known to be alike"
    UNLIKE = "unlike"


_FACTS = {
    "size": (
        "bound_value", "bound.value", "literal_bound.value", "indexed_size", "index_max_printed", "index_min_printed", "got_value",
        "expected_value", "received", "value", "expected_inputs", "got_inputs", "expected_size", "expected_stride", "wanted", "required",
        "limit", "numel_in", "numel_out", "n_threads", "n_blocks",
    ),
    "text": ("assertion", "condition", "expression"),
    "kernel's name": ("kernel", "suspect_kernel"),
    "rank": ("rank", "ranks"),
    "exit": ("exit_code", "signal"),
    "setting": ("launch_blocking",),
    "device": ("device", "backend"),
}  # fmt: skip
"""Facts that may differ in two failures that are the same, by the word for them."""
_PLACE = {
    "file": "file",
    "line": "line number",
    "function": "function",
    "code": "line of code",
    "rule": "leading explanation",
}
_DECIDED = {Confidence.PROVEN, Confidence.LIKELY}
_WORDED = {"said", "exception"}
"""Parts that a release of torch may word anew."""
_SHOWN = ("assertion", "error", "kernel", "input", "size", "python", "reported", "trace")


@dataclass(frozen=True)
class Difference:
    """One thing that differs: `what` in a word (`size`, `line number`, `torch`), `name` of the fact, and both values."""

    what: str
    name: str
    first: str
    second: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"what": self.what, "name": self.name, "first": self.first, "second": self.second}


@dataclass(frozen=True)
class Pair:
    """A failure of each run. `same` are the parts of the signature that agree, `other` those that do not.

    `differences` are facts beside the signature; `shown` are the links of each that show it.
    """

    first: Finding
    second: Finding
    likeness: Likeness
    why: str
    same: tuple[str, ...] = ()
    other: tuple[Difference, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def shown(self) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
        """The links of both that say what failed, where and in which kernel."""
        first, second = (
            tuple(k for n, k in enumerate(f.chain) if n == 0 or k.step in _SHOWN)[:4]
            for f in (self.first, self.second)
        )
        return first, second

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        links = self.shown
        return {
            "likeness": str(self.likeness),
            "why": self.why,
            "same": list(self.same),
            "other": [d.to_dict() for d in self.other],
            "differences": [d.to_dict() for d in self.differences],
            **{
                side: {
                    "rule": f.rule,
                    "kind": f.kind,
                    "title": f.title,
                    "confidence": str(f.confidence),
                    "rank": f.rank,
                    "log": f.log,
                    "signature": f.facts.get("signature"),
                    "links": [k.to_dict() for k in shown],
                }
                for side, f, shown in (("first", self.first, links[0]), ("second", self.second, links[1]))
            },
        }


@dataclass(frozen=True)
class Comparison:
    """The answer of `Run.compare()`: failures that belong together, and those that only one run has."""

    names: tuple[str, str]
    likeness: Likeness
    why: str
    pairs: tuple[Pair, ...] = ()
    only_first: tuple[Finding, ...] = ()
    only_second: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        """Return the screen as plain text."""
        from aoti_logs.render.comparison import render_comparison

        return render_comparison(self)

    @property
    def alike(self) -> bool:
        """True when both failed, and in the same way, perhaps with other sizes, ranks or lines."""
        return self.likeness in {Likeness.ALIKE, Likeness.BUT}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "schema": 1,
            "inputs": list(self.names),
            "likeness": str(self.likeness),
            "why": self.why,
            "pairs": [p.to_dict() for p in self.pairs],
            "only_first": [f.to_dict() for f in self.only_first],
            "only_second": [f.to_dict() for f in self.only_second],
        }


Signed = tuple["Finding", "Signature"]


def compared(
    names: tuple[str, str],
    first: Sequence[Signed],
    second: Sequence[Signed],
    torch: tuple[str | None, str | None],
) -> Comparison:
    """Compare the causes of two runs.

    Args:
        names: what to call the runs.
        first: the causes of one, each with its signature, in order.
        second: the same of the other.
        torch: the releases of torch that they tell of.
    """
    rest = list(second)
    pairs: list[Pair] = []
    alone: list[Finding] = []
    for one in first:
        other = max(rest, key=lambda s: _nearness(one, s), default=None)
        if other is None or not _nearness(one, other):
            alone.append(one[0])
            continue
        rest.remove(other)
        pairs.append(_pair(one, other, torch))
    if len(alone) == len(rest) == 1 and not pairs:
        # One failure each, with nothing in common: how they differ is the answer.
        pairs, alone, rest = [_pair(first[0], rest[0], torch)], [], []
    return Comparison(
        names, *_overall(pairs, alone, rest), tuple(pairs), tuple(alone), tuple(f for f, _ in rest)
    )


def _nearness(one: Signed, other: Signed) -> int:
    a, b = one[1], other[1]
    if a.failure == b.failure:
        return 3 + (a.place == b.place)
    if a.failure.get("kind") != b.failure.get("kind"):
        return 0
    return 1 + (a.failure.get("said") == b.failure.get("said"))


def _pair(one: Signed, other: Signed, torch: tuple[str | None, str | None]) -> Pair:
    (first, a), (second, b) = one, other
    names = list(dict.fromkeys([*a.failure, *b.failure]))
    same = tuple(n for n in names if a.failure.get(n) == b.failure.get(n))
    other_parts = [n for n in names if n not in same]
    both = [n for n in other_parts if n in a.failure and n in b.failure]
    lacking = [n for n in other_parts if n not in both]
    parts = tuple(_different("signature", n, _as_told(a, n), _as_told(b, n)) for n in (*both, *lacking))
    facts = tuple(_differences(one, other, torch))
    other_release = None not in torch and torch[0] != torch[1]
    likeness, why = _judged(one, other, both, lacking, facts, other_release=other_release)
    return Pair(first, second, likeness, why, same, parts, facts)


def _judged(
    one: Signed,
    other: Signed,
    both: Sequence[str],
    lacking: Sequence[str],
    facts: Sequence[Difference],
    *,
    other_release: bool,
) -> tuple[Likeness, str]:
    sides = list(zip(("first", "second"), (one, other), strict=True))
    unsure = [f"the {name}" for name, (finding, signature) in sides if not known(finding, signature)]
    if unsure:
        return (
            Likeness.UNKNOWN,
            f"too little is known of {' and '.join(unsure)} to say that it is the same failure",
        )
    if both and set(both) <= _WORDED and other_release:
        return (
            Likeness.UNKNOWN,
            "the texts differ, and two releases of torch may word one failure in two ways",
        )
    if both:
        return Likeness.UNLIKE, f"another {', '.join(map(_word, both))}"
    if lacking:
        return Likeness.UNKNOWN, f"{', '.join(map(_word, lacking))}: known of one of them only"
    decided = [name for name, (finding, _) in sides if finding.confidence in _DECIDED]
    if len(decided) == 1:
        return Likeness.UNKNOWN, f"the same check failed, and why is decided for the {decided[0]} only"
    if decided and one[0].rule != other[0].rule:
        return Likeness.UNLIKE, "the same check failed, for another reason"
    words = list(dict.fromkeys(d.what for d in facts))
    if not decided:
        words.append("the cause, which is not decided")
    return (Likeness.BUT, ", ".join(words)) if words else (Likeness.ALIKE, "the same signature")


def _word(part: str) -> str:
    return {
        "said": "message",
        "kernel": "kernel's code",
        "stack_signature": "stack",
        "kind": "kind of failure",
    }.get(part, part)


def _different(what: str, name: str, first: object, second: object) -> Difference:
    return Difference(what, name, *("not known" if v is None else str(v) for v in (first, second)))


def _as_told(signature: Signature, part: str) -> str | None:
    """Return a part as its log words it: what is compared has lost its paths and numbers and is no quotation."""
    compared_text = signature.failure.get(part)
    return compared_text if compared_text is None else signature.told.get(part, compared_text)


def _differences(one: Signed, other: Signed, torch: tuple[str | None, str | None]) -> Iterator[Difference]:
    for name, word in _PLACE.items():
        values = one[1].place.get(name), other[1].place.get(name)
        if values[0] != values[1]:
            yield _different(word, name, *values)
    for word, names in _FACTS.items():
        for name in names:
            values = _value(one[0], name), _value(other[0], name)
            if values[0] != values[1]:
                yield _different(word, name, *values)
    if torch[0] != torch[1] and None not in torch:
        yield _different("torch version", "torch", *torch)


def _value(finding: Finding, name: str) -> str | None:
    found: Any = finding.rank if name == "rank" else finding.facts
    if name != "rank":
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    return None if found is None else str(found)


def _overall(pairs: Sequence[Pair], alone: Sequence[Finding], rest: Sequence[Signed]) -> tuple[Likeness, str]:
    if not pairs and not alone and not rest:
        return Likeness.UNKNOWN, "neither run failed"
    if not pairs and not (alone and rest):
        return Likeness.UNLIKE, f"only the {'first' if alone else 'second'} run failed"
    if not pairs:
        return Likeness.UNLIKE, "no failure of one run is one of the other's"
    lead = pairs[0]
    others = [
        f"{len(f)} more {'failure' if len(f) == 1 else 'failures'} of the {n} run"
        for n, f in (("first", alone), ("second", rest))
        if f
    ]
    worse = next((p for p in pairs if p.likeness in {Likeness.UNLIKE, Likeness.UNKNOWN}), None)
    if worse is not None:
        return worse.likeness, worse.why
    differing = [p.why for p in pairs if p.likeness is Likeness.BUT] + others
    return (Likeness.BUT, "; ".join(differing)) if differing else (lead.likeness, lead.why)

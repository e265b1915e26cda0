"""What the user calls each input of a generated wrapper (`arg1_1` is `lengths`), and who says so.

Several records may tell: the signature of the exported program, graphs with the user's names, the
announcement of size symbols, the order in which tracing met the inputs. Each is a witness. One whose
counts or symbols contradict the wrapper is about another model and is not heard. Witnesses from the
same trace or log as the wrapper go first; when they disagree, no name is called proven.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.names.name_symbols import Told
from aoti_logs.code.names.name_witness import Bench
from aoti_logs.code.names.nearness import SAME_RUN, belongs, nearness
from aoti_logs.code.names.testimony import WrapperInputs
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from aoti_logs.code.model import InputCheck, ModelInput, Size
    from aoti_logs.code.names.testimony import Testimony
    from aoti_logs.parse.facts import Graph, Signature, SourceName, Symbol
    from aoti_logs.sources.source import Place


@dataclass(frozen=True)
class InputName:
    """The user's name of an input.

    `place` and `why` quote the witness; `alternatives` are other names that other witnesses of
    equal standing give: `strength` is then `likely` where symbols support the name that was chosen,
    `possible` where only counts do.
    """

    name: str
    place: Place
    strength: Confidence
    why: str
    alternatives: tuple[str, ...] = ()
    measures: tuple[str, ...] | None = None
    """The sizes of the input as the witness prints them (`s28`, `3`); None where it prints none."""


def input_names(
    model_inputs: Sequence[ModelInput],
    sizes: Sequence[Size],
    flavour: str,
    graphs: Sequence[Graph] = (),
    signatures: Sequence[Signature] = (),
    symbols: Sequence[Symbol] = (),
    source_names: Sequence[SourceName] = (),
    copies: Sequence[str] = (),
    checks: Sequence[InputCheck] = (),
) -> dict[str, InputName]:
    """Return the user's name of each input that evidence names, by generated name.

    Args:
        model_inputs: the wrapper's inputs.
        sizes: its size definitions, first definition of each symbol first.
        flavour: `aoti_cpp`, `jit_python` or `jit_cpp`.
        graphs: graphs at hand, of any model.
        signatures: signatures at hand, of any model.
        symbols: announced size symbols.
        source_names: `describe_source` records.
        copies: names of the sources that hold the wrapper's text (`Source.name`, with `#` and the
            compile id for a text inside a trace or log); evidence of the same trace, compile or
            folder is preferred.
        checks: the wrapper's input checks; a static size that differs rules a witness out.
    """
    wrapper = WrapperInputs(tuple(model_inputs), tuple(sizes), tuple(checks))
    return decide(wrapper, flavour, (Bench(graphs, signatures, Told(symbols, source_names)),), copies)


def decide(
    wrapper: WrapperInputs, flavour: str, benches: Sequence[Bench], copies: Sequence[str]
) -> dict[str, InputName]:
    """Return the names that the witnesses of some benches give, by generated name (see `input_names`)."""
    heard = [t for bench in benches for t in bench.testimonies(wrapper, aoti=flavour == "aoti_cpp")]
    near: dict[tuple[int, str | None, str | None], int] = {}
    judged = []
    for testimony in heard:
        source = testimony.source
        key = (id(source.parent or source), testimony.compile_id, source.compile)
        if key not in near:
            near[key] = nearness(source, testimony.compile_id, copies)
        judged.append((testimony, near[key]))
    names: dict[str, InputName] = {}
    choices: dict[tuple[bool, ...], _Choice] = {}
    for entry in wrapper.inputs:
        about = tuple(entry.name in t.names for t, _ in judged)
        if any(about):
            # Most witnesses name every input.
            if about not in choices:
                choices[about] = _choose([j for j, tells in zip(judged, about, strict=True) if tells], copies)
            names[entry.name] = choices[about].name(entry.name, wrapper.symbols)
    return names


@dataclass(frozen=True)
class _Choice:
    """The testimony that counts, those that may differ from it, and how sure it is if none does."""

    chosen: Testimony
    rivals: list[Testimony]
    strength: Confidence

    near: list[Testimony]

    def name(self, arg: str, defined: Collection[str]) -> InputName:
        name, place = self.chosen.names[arg]
        others = tuple(dict.fromkeys(t.names[arg][0] for t in self.rivals if t.names[arg][0] != name))
        strength = self.strength
        if others:
            strength = Confidence.LIKELY if strength is Confidence.PROVEN else Confidence.POSSIBLE
        return InputName(name, place, strength, self.chosen.why, others, self._measures(arg, defined))

    def _measures(self, arg: str, defined: Collection[str]) -> tuple[str, ...] | None:
        """Return the sizes in the wrapper's own symbols, if a witness has them: early graphs have some that were replaced."""
        proven = (t for t in self.near if t.strength is Confidence.PROVEN)
        printed = [t.measures[arg] for t in (self.chosen, *proven) if arg in t.measures]
        own = (sizes for sizes in printed if set(_SYMBOL.findall(" ".join(sizes))) <= set(defined))
        return next(own, printed[0] if printed else None)


def _choose(judged: list[tuple[Testimony, int]], copies: Sequence[str]) -> _Choice:
    """Choose between testimonies about one input, each with its nearness."""
    heard = [t for t, _ in judged]
    best = max(n for _, n in judged)
    near = [t for t, n in judged if n == best]
    if best < SAME_RUN and any(t.strength is Confidence.PROVEN for t in heard):
        # Elsewhere, only those whose symbols agree with the wrapper's count.
        near = [t for t in near if t.strength is Confidence.PROVEN] or near
        kept = {id(t) for t in near}
        heard = [t for t in heard if t.strength is Confidence.PROVEN or id(t) in kept]
    near.sort(key=lambda t: (_ORDER.index(t.strength), t.rank))
    chosen = near[0]
    rivals = near if best >= SAME_RUN else heard
    rivals = [
        t for t in rivals if t.strength is Confidence.PROVEN or chosen.strength is not Confidence.PROVEN
    ]
    strength = chosen.strength
    if strength is Confidence.PROVEN and best < SAME_RUN and not belongs(chosen.source, copies):
        strength = Confidence.LIKELY
    return _Choice(chosen, rivals, strength, near)


_SYMBOL = re.compile(r"\bs\d+\b")
_ORDER = [Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN]

"""Whether loading the model brings its weights, as far as the packages and wrappers at hand say."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aoti_logs.code.packages.weights import ValueIn
from aoti_logs.explain import Experiment, Link
from aoti_logs.rules.model_case import listed

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.packages.package import PackagedModel


@dataclass(frozen=True)
class ModelWeights:
    """What is known of the weights of the one model at hand.

    `absent`: who loads the model has to give them; False, loading it brings them or it has none; None, nothing says.
    `names` are those of the module, in the order of the wrapper. `link` is the line that says so.
    `model` is the model that they belong to.
    """

    absent: bool | None
    names: tuple[str, ...] = ()
    link: Link | None = None
    model: PackagedModel | None = None

    def named(self, variable: str) -> str | None:
        """Return the module's name of a weight that does not come with the model, of its name in the wrapper."""
        wrapper = self.model.wrapper if self.model is not None and self.absent else None
        found = (
            next((c for c in wrapper.constants if c.name == variable), None) if wrapper is not None else None
        )
        name = None if found is None else found.fqn or found.name
        return name if name in self.names else None

    def read_by(self, kernel: str) -> str | None:
        """Say which weights that do not come with the model every launch of a kernel is given; None where there are none."""
        wrapper = self.model.wrapper if self.model is not None else None
        launches = (
            [] if wrapper is None else [launch for launch in wrapper.launches if launch.kernel == kernel]
        )
        given = [{n for a in launch.arguments if a.name and (n := self.named(a.name))} for launch in launches]
        common = set.intersection(*given) if given else set()
        read = [f"`{name}`" for name in self.names if name in common]
        if not read:
            return None
        whose = "this weight" if len(read) == 1 else "these weights"
        return (
            f"possible: it reads {listed(read)}: the library comes without {whose}, and one that was never loaded is a "
            "null pointer"
        )

    @property
    def possible(self) -> str | None:
        """What may have happened, said as possible; None where it is excluded."""
        if self.absent is False:
            return None
        if not self.absent:
            return "possible: weights that are not in the library and were never loaded (load_constants)"
        if not self.names:
            return "possible: weights that were never loaded; the package keeps them outside of the library"
        shown = ", ".join(f"`{name}`" for name in self.names[:3])
        more = f" and {len(self.names) - 3:,} more" if len(self.names) > 3 else ""
        whose = "its weight" if len(self.names) == 1 else f"its {len(self.names):,} weights"
        return (
            f"possible: a weight that was never loaded is a null pointer: the library comes without {whose} ({shown}{more}), "
            "and who loads it has to give them"
        )


_NOTHING_SAID = ModelWeights(None)


_KNOWN: WeakKeyDictionary[Evidence, ModelWeights] = WeakKeyDictionary()
"""The answers: one finding asks several times, and each answer reads every wrapper."""


def model_weights(evidence: Evidence) -> ModelWeights:
    """Return what the package or wrapper at hand says; of several that do not agree nothing is said."""
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _told(evidence)
    return _KNOWN[evidence]


def _told(evidence: Evidence) -> ModelWeights:
    # The same wrapper stands in a package and in the folder that it was compiled in; only the package may show where weights are.
    found: dict[bytes, ModelWeights] = {}
    for package in evidence.packages:
        for model in package.models:
            known = _of(model)
            text = model.wrapper.source.data if model.wrapper is not None else b""
            digest = blake2b(text, digest_size=16).digest()
            if known is not None and found.get(digest, _NOTHING_SAID).absent is None:
                found[digest] = known
    answers = {(known.absent, known.names): known for known in found.values()}
    if len(answers) == 1:
        return next(iter(answers.values()))
    for source in evidence.sources if not found else ():
        if source.name.endswith("weights_config.json"):
            link = Link("weights", "weights of the package stand outside of its library", source.place(1))
            return ModelWeights(True, link=link)
    return _NOTHING_SAID


def _of(model: PackagedModel) -> ModelWeights | None:
    if model.wrapper is None:
        return None
    store = model.weights
    if store.location is ValueIn.NOTHING or store.loaded_by_itself:
        return ModelWeights(False)
    if store.loaded_by_itself is None and not _without_library(model):
        return _NOTHING_SAID
    own = [v.constant for v in model.values if v.location is store.location]
    link = None if store.by is None else Link("weights", store.why, store.by)
    return ModelWeights(True, tuple(c.fqn or c.name for c in own), link, model)


def _without_library(model: PackagedModel) -> bool:
    """Tell whether the wrapper alone shows that loading brings no weights: neither the library nor a file that it maps."""
    base = None if model.wrapper is None else model.wrapper.base
    mapped = model.builds.get("compile")
    return (
        base is not None
        and base.include_weights is False
        and mapped is not None
        and not mapped.defines("USE_MMAP_EXTERNAL")
    )


def full_update(command: str) -> Experiment:
    """Let AOTInductor compare the names of the weights that are given with those of the model."""
    return Experiment(
        command,
        (),
        "run",
        "a weight that is left out is then refused by its name",
        "`assert_all_constants` in torch/csrc/inductor/aoti_runtime/model_container.h compares the names only when it is asked to",
        "buffers and constants of the trace that are left out are only warned of; shapes and dtypes are not compared",
        change="model.load_constants(weights, check_full_update=True) before the model runs",
    )

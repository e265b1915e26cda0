"""What is known of one failure that decides which experiments help: device, mode, version, command, suspects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aoti_logs.code.wrapper_release import Releases
from aoti_logs.commands import Shown
from aoti_logs.explain import Confidence
from aoti_logs.parse.events import LogEvents
from aoti_logs.plan.evidence import evidence_of
from aoti_logs.rules.shown_commands import compile_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.code.evidence import Evidence as AtHand
    from aoti_logs.code.index.episode import Episodes
    from aoti_logs.explain import Finding
    from aoti_logs.plan.evidence import Evidence
    from aoti_logs.plan.ran import Ran

_NAME = re.compile(r"[A-Za-z_][\w:.]*$")
_OF_TORCH = re.compile(r"triton_(?!\Z)|cpp_fused|extern_kernels\b|aoti_torch_|at::|torch\.")
_SYMBOL = re.compile(r"[a-z]{1,3}\d{1,6}$")
_LAUNCHER = re.compile(
    r"\s*(?:\S*/)?(?:torchrun|mpirun|mpiexec|srun|accelerate|deepspeed)\b|.*\btorch\.distributed\.(?:run|launch)\b"
)
_TORCHRUN = re.compile(r"(?:\S*/)?torchrun\b|\S+ -m torch\.distributed\.(?:run|launch)\b")
_DEVICES = ("cuda", "rocm", "hip", "xpu", "cpu", "mps")
_SIGNALS = {"SEGV", "BUS", "FPE", "ILL", "ABRT", "TRAP"}
_MOST = 8
_COMPILES = range(500, 700)
_AOTI_RULES = {
    "AL107",
    "AL201",
    "AL202",
    "AL203",
    "AL206",
    "AL210",
    "AL211",
    "AL212",
    "AL213",
    "AL214",
    "AL215",
    "AL310",
}
_OF_INDUCTOR = {"AL606", "AL607", "AL608", "AL612", "AL613", "AL614", "AL616"}
_BACKEND = _OF_INDUCTOR | {"AL603", "AL604", "AL605", "AL609", "AL615"}


@dataclass(frozen=True)
class Situation:
    """One failure in its run.

    `traits` are True or False; one that is not there is not known. `words` fill the texts of rungs. `shown` is the
    command of the log, `compile` the one that compiled the model, by this log or another one at hand. `releases` are
    those that can have compiled it.
    """

    finding: Finding
    traits: Mapping[str, bool] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    shown: Shown | None = None
    compile: Shown | None = None
    releases: Releases = field(default_factory=Releases)

    @property
    def number(self) -> int:
        """The number of the finding's rule."""
        return int(self.finding.rule[2:])

    @property
    def compiles(self) -> bool:
        """Whether the shown command compiles by itself: it failed while compiling, or is of torch.compile."""
        if self.number in _COMPILES or self.traits.get("jit") is True:
            return True
        return self.shown is not None and self.shown == self.compile


def situation_of(finding: Finding, run: Ran) -> Situation:
    """Look at a failure, its log, and what else of its run is at hand."""
    events = _events(finding, run)
    shown = next((Shown.of(dict(n.facts)) for n in events.notes if n.kind == "command"), None)
    command = shown.text if shown is not None else None
    traits = dict(_traits(finding, events, run, command))
    words = {k: v for k, v in _words(finding).items() if v} | {"logged": _logged(command)}
    traits |= {
        "suspects_unknown": "kernels" not in words,
        "symbols": "symbols" in words,
        "guard": "guard" in words,
    }
    kernels = words["kernels"].split(",") if "kernels" in words else []
    evidence = evidence_of(finding, events, dict(shown.env) if shown is not None else {}, run, kernels)
    return Situation(
        finding, traits, evidence, words, shown, compile_command(run.evidence), run.evidence.releases
    )


_EPISODES: WeakKeyDictionary[AtHand, dict[str, tuple[LogEvents, Episodes | None]]] = WeakKeyDictionary()


def _events(finding: Finding, run: Ran) -> LogEvents:
    """Return what the log says; of several runs in one log, what the run of the finding says."""
    from aoti_logs.code.index.episode import Episodes

    for source, events in run.logs():
        if source.name != finding.log:
            continue
        place = next(
            (k.place for k in finding.chain if k.place is not None and k.place.source == source.name), None
        )
        if place is None:
            return events
        known = _EPISODES.setdefault(run.evidence, {})
        if source.name not in known or known[source.name][0] is not events:
            begun = sum(n.kind == "command" for n in events.notes)
            borders = sum(n.kind in {"command", "exit"} for n in events.notes)
            # a log may hold thousands of runs, each with a finding
            known[source.name] = (events, Episodes(events) if begun > 1 or borders > 2 else None)
        episodes = known[source.name][1]
        return events if episodes is None else episodes.of(source.offset_of(place.line)).events
    return LogEvents()


def _device(finding: Finding) -> str | None:
    facts = finding.facts
    for told in (facts.get("device"), facts.get("backend"), finding.kind.partition("_")[0]):
        name = "cuda" if told == "triton" and facts.get("device") is None else str(told).partition(":")[0]
        if name in _DEVICES:
            return "rocm" if name == "hip" else name
    return "cuda" if finding.rule in {"AL303", "AL304", "AL305", "AL307", "AL308"} else None


def _traits(finding: Finding, events: LogEvents, run: Ran, command: str | None) -> Iterator[tuple[str, bool]]:
    facts, rule = finding.facts, finding.rule
    device = _device(finding)
    if device is not None:
        yield from ((name, name == device) for name in ("cuda", "rocm", "cpu"))
        yield "gpu", device in {"cuda", "rocm", "xpu"}
    aoti = _aoti(finding, events, run)
    if aoti is not None:
        yield "aoti", aoti
        yield "jit", not aoti
    elif rule == "AL001" and facts.get("export_call"):
        yield (
            "jit",
            False,
        )  # TORCH_COMPILE_DISABLE leaves an export as it is: the same error then says nothing
    if aoti is not True and device == "cpu" and aoti is not None:
        yield "printable", False  # the Python wrapper prints nothing of C++ kernels
    elif aoti is not None:
        yield "printable", True
    yield from _checks(facts, run)
    kernel = facts.get("kernel") or facts.get("suspect_kernel")
    yield "kernel_unknown", kernel is None or len(facts.get("launches") or ()) > 1
    yield (
        "kernel_unproven",
        not (kernel is not None and finding.confidence is Confidence.PROVEN) and rule != "AL303",
    )
    yield "recompiled", rule in {"AL501", "AL502"}
    sized = any(c.get("dim") is not None for c in facts.get("changed") or () if isinstance(c, dict))
    yield "sized", sized
    yield "symbolic", sized or rule not in {"AL501", "AL502"}
    yield "dynamo", rule in {"AL503", "AL601", "AL602"}
    if rule in _BACKEND or rule == "AL602":
        yield "backend", rule in _BACKEND
        yield "inductor", rule in _BACKEND and facts.get("backend") in {None, "inductor"}
    yield "stage_unknown", rule in {"AL601", "AL603", "AL001", "AL610"}
    yield "subprocess", rule == "AL615"
    yield "custom_operator", rule in {"AL604", "AL616"}
    yield "short_traceback", any("TORCHDYNAMO_VERBOSE=1" in e.text for e in events.errors)
    yield "exported", _exported(finding)
    launched = command is not None and _LAUNCHER.match(command) is not None
    yield "alone", not launched and finding.rank is None
    yield "child", launched or finding.rank is not None or rule in {"AL320", "AL321", "AL322", "AL323"}
    yield "terminated", rule == "AL315"
    yield "heap", rule == "AL318"
    yield "collective", rule != "AL323" or facts.get("signal") in {None, "SIGABRT"}
    yield "nccl", "nccl" in f"{finding.kind} {facts.get('message')} {finding.title}".lower()
    yield "dlopen", rule == "AL210" and _searches(facts)
    yield "called", facts.get("phase") != "load"
    if rule == "AL313":
        # A sanitizer that reports by itself ends the process by _exit; what it says of a signal, a signal brought.
        yield "signalled", str(facts.get("error") or "").split(" ")[0] in _SIGNALS
    yield "shim", rule in {"AL213", "AL214", "AL215"}
    yield "small_size", rule == "AL206"


def _searches(facts: Mapping[str, Any]) -> bool:
    """Tell whether a library or a symbol of another library was looked for: the loader's log then shows where."""
    symbol = str(facts.get("undefined_symbol") or "")
    if symbol:
        return not symbol.startswith("AOTInductorModel")  # the file itself has it, or is no model
    return facts.get("version") is not None or "cannot open shared object" in str(facts.get("reason"))


def _aoti(finding: Finding, events: LogEvents, run: Ran) -> bool | None:
    """Tell whether a model of AOTInductor failed, or code of torch.compile; None where nothing tells."""
    facts = finding.facts
    if str(facts.get("compile_id") or "").startswith("aoti/") or finding.kind.startswith("aoti_"):
        return True
    if finding.rule in _AOTI_RULES:
        return True
    if facts.get("compile_id"):
        return None if _exported(finding) else False
    if facts.get("backend") and finding.rule in {"AL601", "AL602", "AL603"}:
        return False
    named = str(facts.get("wrapper") or facts.get("wrapper_file") or "")
    for code in run.evidence.base.wrappers if facts.get("wrapper") else ():
        if code.wrapper is not None and code.source.name == named:
            return code.wrapper.flavour == "aoti_cpp"
    if named.endswith(".wrapper.cpp") or facts.get("checked_by"):
        return True
    if any(d.format.startswith("cpp_v") or d.format == "kernel_names_only" for d in events.dumps):
        return True
    from aoti_logs.rules.device_run import uses_aoti

    if uses_aoti(events):
        return True
    frames = [f.file for e in events.errors for f in e.python_frames]
    if any("torchinductor_" in f or "/_inductor/output_code" in f for f in frames):
        return False
    if int(finding.rule[2:]) in _COMPILES:
        return None
    from aoti_logs.rules.value_experiments import flavours

    wrote = flavours(run.evidence)
    return "aoti" in wrote if len(wrote) == 1 else None


def _exported(finding: Finding) -> bool:
    facts = finding.facts
    told = f"{facts.get('message')} {facts.get('export_call')}"
    return facts.get("export_call") is not None or "export(" in told or "torch.export" in told


def _checks(facts: Mapping[str, Any], run: Ran) -> Iterator[tuple[str, bool]]:
    """Tell whether the wrapper at hand has checks of inputs that a variable of the run switches on."""
    for code in run.evidence.base.wrappers if facts.get("wrapper") else ():
        if (
            code.wrapper is not None
            and code.source.name == facts["wrapper"]
            and code.wrapper.flavour == "aoti_cpp"
        ):
            view = run.evidence.view(code.wrapper)
            yield "checks_generated", any(c.gated and c.input_index is not None for c in view.wrapper.checks)


def _words(finding: Finding) -> dict[str, str]:
    facts = finding.facts
    # The kernel that reports a fault is no suspect as long as launches are not waited for.
    waited = facts.get("launch_blocking") is True
    told = ("kernel", "suspect_kernel", "produced_by", *(("reported_kernel",) if waited else ()))
    names = [facts.get(k) for k in told]
    names += [k for key in ("kernel_candidates", "unfinished_kernels") for k in facts.get(key) or ()]
    kernels = list(dict.fromkeys(str(n) for n in names if n and _NAME.match(str(n))))
    suspect = facts.get("suspect_kernel")
    if suspect in kernels and suspect != facts.get("reported_kernel") and not _OF_TORCH.match(str(suspect)):
        # A driver names a kernel of the user by its function; generated code gives it a number, which nothing tells here.
        kernels.remove(suspect)
    symbols = facts.get("unbacked_symbols") or ([facts["symbol"]] if facts.get("symbol") else [])
    guard = facts.get("guard")
    return {
        "kernels": ",".join(kernels) if len(kernels) <= _MOST else "",
        "symbols": ",".join(s for s in map(str, symbols) if _SYMBOL.match(s)),
        "guard": guard if isinstance(guard, str) and finding.rule in {"AL504", "AL505", "AL507"} else "",
        "stage": "aot" if finding.rule in _OF_INDUCTOR else "dynamo",
    }


def _logged(command: str | None) -> str:
    """Return a launcher's command that writes a log for each rank."""
    flags = "--log-dir logs --tee 3"
    found = _TORCHRUN.match(command) if command is not None else None
    if command is None or found is None:
        return f"<your torchrun command, with {flags} before the script>"
    return f"{found[0]} {flags}{command[found.end() :]}"

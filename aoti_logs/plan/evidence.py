"""Which experiments a run has made already: what its command switched on, what its log holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_release import always_checks
from aoti_logs.parse.events import ErrorForm
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.plan.ran import Ran
    from aoti_logs.sources.source import Place, Span

    Evidence = Mapping[str, tuple[str, Place | None]]

_SWITCHES = {
    "blocking": ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL"),
    "nan_asserts": ("TORCHINDUCTOR_NAN_ASSERTS",),
    "verbose": ("TORCHDYNAMO_VERBOSE",),
    "faulthandler": ("PYTHONFAULTHANDLER",),
    "one_thread": ("OMP_NUM_THREADS",),
    "heap_checked": ("MALLOC_CHECK_",),
    "no_caches": ("TORCHINDUCTOR_FORCE_DISABLE_CACHES",),
    "nccl_debug": ("NCCL_DEBUG",),
    "cpp_stack": ("TORCH_SHOW_CPP_STACKTRACES",),
    "collectives_compared": ("TORCH_DISTRIBUTED_DEBUG",),
}
_VALUES = {
    "one_thread": {"1"},
    "collectives_compared": {"DETAIL", "detail"},
    "nan_asserts": {"1"},
    "verbose": {"1"},
}
_LOGS = {"dynamic": "dynamic_logged", "guards": "guards_logged", "dynamo": "dynamo_logged"}
_FORMS = {
    ErrorForm.SANITIZER: ("sanitized", "a report of compute-sanitizer"),
    ErrorForm.DEVICE: ("core_dumped", "what the driver or cuda-gdb tells of the fault"),
}


def evidence_of(
    finding: Finding, events: LogEvents, env: Mapping[str, str], run: Ran, kernels: Sequence[str]
) -> Evidence:
    """Return the experiments that were made, by the name that rungs use, with what shows it and where.

    `kernels` are the suspects: values printed of others are no evidence about them.
    """
    found: dict[str, tuple[str, Place | None]] = {}
    place = next((n.span.place for n in events.notes if n.kind == "command"), None)
    for name, shown in (*_checks(env, run), *_switched(env), *_of_facts(finding, run)):
        found.setdefault(name, (shown, place if "=" in shown else None))
    for name, shown, span in _printed(events, kernels):
        found.setdefault(name, (shown, span.place))
    for source in run.files:
        if source.kind is Kind.PACKAGE:
            found.setdefault("package", (f"{source.name} is here", None))
        if source.kind is Kind.TORCH_TRACE or source.leads_report:
            found.setdefault("code", (f"a trace of the compile is here: {source.name}", None))
    return found


def _checks(env: Mapping[str, str], run: Ran) -> Iterator[tuple[str, str]]:
    """Tell whether the inputs were compared; code of torch before 2.7 does not read the variable."""
    checks = env.get("AOTI_RUNTIME_CHECK_INPUTS")
    old = run.evidence.releases.before((2, 7))
    if checks is not None and not checks.startswith("0") and not old:
        yield "checks_on", f"AOTI_RUNTIME_CHECK_INPUTS={checks} in the command"
    if old and always_checks(run.evidence):
        yield "checks_on", "the code at hand compares its inputs whenever it runs"


def _switched(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, variables in _SWITCHES.items():
        for variable in variables:
            value = env.get(variable, "")
            if value and (value in _VALUES[name] if name in _VALUES else value != "0"):
                yield name, f"{variable}={value} in the command"
    for word in env.get("TORCH_LOGS", "").split(","):
        if word.lstrip("+") in _LOGS:
            yield _LOGS[word.lstrip("+")], f"TORCH_LOGS={env['TORCH_LOGS']} in the command"
    for variable in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"):
        if "expandable_segments:True" in env.get(variable, ""):
            yield "expandable", f"{variable}={env[variable]} in the command"


def _of_facts(finding: Finding, run: Ran) -> Iterator[tuple[str, str]]:
    facts = finding.facts
    if finding.kind == "aoti_input_mismatch":
        yield "checks_on", "an input was refused by the check"
    if facts.get("launch_blocking") is True:
        yield "blocking", "the log shows that launches were waited for"
    if finding.kind == "nan_assert":
        yield "nan_asserts", "a generated check for NaN failed"
    if finding.rule in {"AL501", "AL502"} and facts.get("reasons"):
        yield "guards_logged", "the failed guards are told"
    if finding.rule == "AL311" or facts.get("printer") == "faulthandler":
        yield "faulthandler", "Python's faulthandler wrote the lines"
    if finding.rule == "AL312" or facts.get("printer") == "gdb":
        yield "debugged", "a debugger's frames are in the log"
    if finding.rule == "AL320" and facts.get("call_site") is not None:
        yield "recorder", "the flight recorder tells who called the collective"
    if facts.get("kernel_source") or facts.get("wrapper"):
        yield "code", f"the generated code is here: {facts.get('kernel_source') or facts.get('wrapper')}"
    ranks = {f.rank for _, e in run.logs() for f in e.errors} - {None}
    if len(ranks) > 1:
        yield "rank_logs", f"logs of {len(ranks)} ranks are here"


def _printed(events: LogEvents, kernels: Sequence[str]) -> Iterator[tuple[str, str, Span]]:
    seen = set()
    for dump in events.dumps:
        if not dump.kernel or dump.format in seen:
            continue
        seen.add(dump.format)
        yield "names_printed", "kernels are announced", dump.span
        if dump.format == "save":
            yield "values_saved", "tensors were saved", dump.span
    suspects = set(kernels)
    for dump in events.dumps:
        if dump.is_tensor and dump.kernel and (not suspects or dump.kernel in suspects):
            yield "values_printed", f"what {dump.kernel} was given is printed", dump.span
            break
    for error in events.errors:
        if error.form in _FORMS:
            yield (*_FORMS[error.form], error.span)
    for stack in events.stacks:
        if stack.format == "gdb":
            yield "debugged", "frames of a debugger", stack.span
        elif stack.format == "c10":
            yield "cpp_stack", "a C++ stack is printed", stack.span
    for message in events.messages:
        if "symbolic_shapes" in message.module and message.level.startswith("D"):
            yield "dynamic_logged", "TORCH_LOGS=+dynamic was on", message.span
            break
    for note in events.notes:
        if note.kind == "draft_export":
            yield "draft_export", "a report of draft_export", note.span

"""Evidence that the compile leaves behind: generated code, package, trace, names, origins, printing calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.kernel.inside import is_defined
from aoti_logs.code.model_facts import debug_calls
from aoti_logs.code.packages.package import Form
from aoti_logs.explain import Confidence
from aoti_logs.rules.checkup import EvidenceKind, Recording, State
from aoti_logs.rules.checkup_logs import counted
from aoti_logs.rules.setting_evidence import marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.view import ModelView
    from aoti_logs.rules.checkup_run import RunFacts

_CARE_TRACE = "set it before torch compiles anything; a loaded package ignores it"


def of_code(run: RunFacts) -> Iterator[EvidenceKind]:
    """Yield the kinds in the order in which they are usually needed."""
    compiles = run.compiles
    yield _wrapper(run, compiles)
    yield _kernels(run, compiles)
    yield _package(run)
    yield _trace(run, compiles)
    yield _program(run, compiles)
    yield _names(run, compiles)
    yield _provenance(run, compiles)
    yield _printer(run, compiles)
    yield _input_check(run)


def _wrapper(run: RunFacts, compiles: str) -> EvidenceKind:
    name = "generated wrapper"
    allows = "which launch a kernel is, what its arguments are, from which input a size comes"
    views = run.views
    if views:
        source = views[0].wrapper.source
        cut = next((v for v in views if v.wrapper.unread), None)
        if cut is not None:
            line, _ = cut.wrapper.unread[0]
            found = f"{counted(len(views), 'wrapper')}, {counted(len(cut.wrapper.unread), 'statement')} of one not understood"
            return EvidenceKind(name, State.PARTLY, found, allows, place=cut.wrapper.source.place(line))
        return EvidenceKind(name, State.HERE, counted(len(views), "wrapper"), allows, place=source.place(1))
    if run.aot:
        recording = Recording(
            "give the .pt2 that was loaded, or its `.wrapper.cpp`, as --context",
            takes_effect="now",
            typed=False,
        )
    else:
        recording = Recording(compiles, (("TORCHINDUCTOR_CACHE_DIR", "./sources"),), "compile", _CARE_TRACE)
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _kernels(run: RunFacts, compiles: str) -> EvidenceKind:
    name = "kernels' text"
    allows = "where a tested index comes from, what it addresses, and which line of a kernel failed"
    every = [(view, k) for view in run.views for k in view.wrapper.kernel_names]
    there = sum(_defined(view, k) for view, k in every)
    if not every:
        alone = sum(len(code.kernels) for code in run.evidence.base.kernel_files)
        if alone:
            return EvidenceKind(name, State.HERE, f"{counted(alone, 'kernel')} without a wrapper", allows)
        if run.views:
            return EvidenceKind(name, State.NOT_NEEDED, "the wrapper has no kernels of its own", allows)
        recording = Recording(compiles, (("TORCHINDUCTOR_CACHE_DIR", "./sources"),), "compile", _CARE_TRACE)
        return EvidenceKind(name, State.MISSING, "none", allows, recording)
    found = f"{there:,} of {counted(len(every), 'kernel')}"
    if there == len(every):
        return EvidenceKind(name, State.HERE, found, allows)
    recording = Recording(
        "give the `.kernel.cpp` files, or the Inductor cache, as --context", takes_effect="now", typed=False
    )
    return EvidenceKind(name, State.PARTLY if there else State.MISSING, found, allows, recording)


def _defined(view: ModelView, name: str) -> bool:
    kernel = view.definition(name)
    return kernel is not None and is_defined(kernel)


def _package(run: RunFacts) -> EvidenceKind:
    name = "package"
    allows = "for which device and machine it was compiled, where its weights are, which files are missing"
    packages = [p for p in run.evidence.packages if p.models and p.form is not Form.FILES]
    if packages:
        gone = sum(len([r for r in m.missing if r.needed]) for p in packages for m in p.models)
        found = f"{counted(len(packages), 'package')} with {counted(sum(len(p.models) for p in packages), 'model')}"
        if gone:
            verb = "is" if gone == 1 else "are"
            found += f"; {counted(gone, 'file')} that the code names {verb} not in it"
            return EvidenceKind(name, State.PARTLY, found, allows)
        return EvidenceKind(name, State.HERE, found, allows)
    if not run.aot:
        return EvidenceKind(name, State.NOT_NEEDED, "nothing speaks of AOTInductor", allows)
    recording = Recording("give the .pt2 that was loaded as --context", takes_effect="now", typed=False)
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _trace(run: RunFacts, compiles: str) -> EvidenceKind:
    name = "trace (TORCH_TRACE)"
    allows = "the user's names of inputs and sizes, graphs, guards, recompiles, and how each compile ended"
    traces = run.evidence.traces
    if traces:
        records = sum(len(t) for t in traces)
        torn = sum(len(t.unparsed) for t in traces)
        found = f"{counted(len(traces), 'trace')} with {counted(records, 'record')}"
        if torn:
            return EvidenceKind(
                name,
                State.PARTLY,
                f"{found}, and {counted(torn, 'torn part')}",
                allows,
                place=traces[0].source.place(1),
            )
        return EvidenceKind(name, State.HERE, found, allows, place=traces[0].source.place(1))
    recording = Recording(compiles, (("TORCH_TRACE", "./trace"),), "compile", _CARE_TRACE)
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _program(run: RunFacts, compiles: str) -> EvidenceKind:
    name = "ranges of sizes"
    allows = "which sizes the export allows, and whether this run kept to them"
    ranges = run.evidence.ranges
    if ranges:
        found = counted(len(ranges), "declared range")
        return EvidenceKind(name, State.HERE, found, allows, place=ranges[0].place)
    if run.evidence.symbols:
        symbols = run.evidence.symbols
        return EvidenceKind(
            name, State.HERE, counted(len(symbols), "announced symbol"), allows, place=symbols[0].place
        )
    if run.aot:
        line = "add `print(exported_program)` to the script that compiles, and give what it prints"
        recording = Recording(line, takes_effect="compile", typed=False)
    else:
        recording = Recording(compiles, (("TORCH_LOGS", "+dynamic"),), "compile")
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _names(run: RunFacts, compiles: str) -> EvidenceKind:
    name, allows = "names of inputs", "what the program calls `arg6_1` and `s19`"
    inputs = [(view, i.name) for view in run.views for i in view.wrapper.inputs if not i.scalar]
    if not inputs:
        return EvidenceKind(name, State.NOT_NEEDED, "no wrapper whose inputs could be named", allows)
    known = [view.names[i] for view, i in inputs if i in view.names]
    proven = sum(n.strength is Confidence.PROVEN for n in known)
    found = f"{len(known):,} of {counted(len(inputs), 'input')}" + (
        f", {proven:,} of them proven" if known else ""
    )
    if proven == len(inputs):
        return EvidenceKind(name, State.HERE, found, allows, place=known[0].place)
    recording = Recording(
        compiles, (("TORCH_TRACE", "./trace"),), "compile", "the printed exported program tells them as well"
    )
    return EvidenceKind(name, State.PARTLY if known else State.MISSING, found, allows, recording)


def _provenance(run: RunFacts, compiles: str) -> EvidenceKind:
    name, allows = "origin of kernels", "which line of the model a kernel was made from"
    origins = [o for o in run.evidence.origins if o.stacks]
    if origins:
        return EvidenceKind(
            name,
            State.HERE,
            f"Python stacks of {counted(len(origins), 'launch', 'launches')}",
            allows,
            place=origins[0].place,
        )
    recording = Recording(
        compiles, (("INDUCTOR_PROVENANCE", "1"),), "compile", "torch 2.9 and later put it into the package"
    )
    if run.evidence.traces:
        found = "graphs of a trace, whose nodes have stacks; no table of kernels"
        return EvidenceKind(name, State.PARTLY, found, allows, recording)
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _printer(run: RunFacts, compiles: str) -> EvidenceKind:
    name = "printed values"
    allows = "the values, shapes and strides that a kernel was given, and the first NaN"
    dumps = [d for _, events in run.logs for d in events.dumps]
    valued = [d for d in dumps if d.format != "kernel_names_only"]
    if valued:
        return EvidenceKind(
            name, State.HERE, counted(len(valued), "record"), allows, place=valued[0].span.place
        )
    recording = Recording(
        compiles,
        (("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", "2"),),
        "compile",
        "run it with PYTHONUNBUFFERED=1; restrict it with AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT",
    )
    if dumps:
        return EvidenceKind(
            name, State.PARTLY, "names of kernels only", allows, recording, dumps[0].span.place
        )
    if run.evidence.releases.before((2, 6)):
        found = "none; this code is older than torch 2.6, and 2.4 has no printer"
        line = Recording(
            "your program, with a line before the call that prints shape, minimum and maximum of each tensor",
            typed=False,
        )
        return EvidenceKind(name, State.MISSING, found, allows, line)
    printing = next((v for v in run.views if any("check" not in call for call in debug_calls(v))), None)
    if printing is not None:
        found = "the code prints values, and no log has them"
        line = Recording(f"{run.runs} > run.log 2>&1", (("PYTHONUNBUFFERED", "1"),))
        return EvidenceKind(name, State.MISSING, found, allows, line, printing.wrapper.source.place(1))
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _input_check(run: RunFacts) -> EvidenceKind:
    name = "input check"
    allows = "whether dtype, sizes, strides and device of the inputs are those of the compile"
    if not run.aot:
        found = "torch.compile guards its inputs" if run.jit else "nothing speaks of AOTInductor"
        return EvidenceKind(name, State.NOT_NEEDED, found, allows)
    checks = [c for v in run.views if v.is_aot for c in v.wrapper.checks if c.input_index is not None]
    if run.views and not checks and not marked(run.evidence, "AOTI_RUNTIME_CHECK_INPUTS"):
        found = "this code has no checks: torch before 2.7 writes them on request"
        if (given := run.env("AOTI_RUNTIME_CHECK_INPUTS")) is not None:
            found = f"AOTI_RUNTIME_CHECK_INPUTS={given} in the command, and {found}"
        env: tuple[tuple[str, str], ...] = (("AOT_INDUCTOR_DEBUG_COMPILE", "1"),)
        if run.evidence.releases.before((2, 6)):
            env = (*env, ("TORCHINDUCTOR_ABI_COMPATIBLE", "1"))
        recording = Recording(run.compiles, env, "compile", "it compiles with -O0")
        return EvidenceKind(name, State.MISSING, found, allows, recording)
    value = run.env("AOTI_RUNTIME_CHECK_INPUTS")
    if value is not None and not value.startswith("0"):
        place = run.run_command.place if run.run_command is not None else None
        return EvidenceKind(
            name, State.HERE, f"AOTI_RUNTIME_CHECK_INPUTS={value} in the command", allows, place=place
        )
    if checks and not all(c.gated for c in checks):
        return EvidenceKind(name, State.HERE, "compiled in, and always on", allows)
    recording = Recording(
        run.runs,
        (("AOTI_RUNTIME_CHECK_INPUTS", "1"),),
        care="it also refuses sizes 0 and 1, which may compute (torch 2.7 and later)",
    )
    found = "off in the shown command" if run.run_command is not None else "no log shows the command"
    return EvidenceKind(name, State.MISSING, found, allows, recording)

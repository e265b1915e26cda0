"""Evidence that only a run can leave behind: its text, stacks, reports of tools, other ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.checkup import EvidenceKind, Recording, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.rules.checkup_run import RunFacts
    from aoti_logs.sources.source import Place

_STREAMS = (("PYTHONUNBUFFERED", "1"),)
_SIGNALS = 128
"""Exit codes from here on, and negative ones, are signals."""
_LAUNCHERS = ("torchrun ", "python -m torch.distributed.run ", "torch.distributed.launch ")


def of_logs(run: RunFacts) -> Iterator[EvidenceKind]:
    """Yield the kinds in the order in which they are usually needed."""
    command = run.runs
    yield _errors(run, command)
    yield _output(run, command)
    yield _python_stack(run, command)
    yield _native_stack(run, command)
    yield _blocking(run, command)
    yield _sanitizer(run, command)
    yield _core(run, command)
    yield _ranks(run, command)


def counted(number: int, what: str, several: str | None = None) -> str:
    """Return `1 error`, `3 errors`."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def _errors(run: RunFacts, command: str) -> EvidenceKind:
    allows = "what failed first, and what only follows from it"
    assertions = [a for _, events in run.logs for a in events.assertions]
    told = [counted(len(run.errors), "error")] if run.errors else []
    told += [counted(len(assertions), "distinct failed assertion")] if assertions else []
    if told:
        first = run.errors[0].span.place if run.errors else assertions[0].first.place
        return EvidenceKind("error text (stderr)", State.HERE, " and ".join(told), allows, place=first)
    recording = Recording(f"{command} > run.log 2>&1", _STREAMS)
    if not run.logs:
        return EvidenceKind(
            "error text (stderr)", State.MISSING, "no log of a run was given", allows, recording
        )
    codes = sorted(run.exit_codes - {"0"})
    found = f"no error in {counted(len(run.logs), 'log')}" + (
        f", and the exit code is {', '.join(codes)}" if codes else ""
    )
    if "0" in run.exit_codes and not codes:
        return EvidenceKind("error text (stderr)", State.NOT_NEEDED, "the run ended with exit code 0", allows)
    return EvidenceKind("error text (stderr)", State.MISSING, found, allows, recording)


def _output(run: RunFacts, command: str) -> EvidenceKind:
    name, allows = (
        "output (stdout)",
        "values and kernel names that were printed, and what the program did last",
    )
    recording = Recording(
        f"{command} > run.log 2>&1",
        _STREAMS,
        care="without PYTHONUNBUFFERED the last lines before an abort stay in the buffer of a file or pipe",
    )
    dumps = [d for _, events in run.logs for d in events.dumps]
    if dumps:
        return EvidenceKind(
            name, State.HERE, counted(len(dumps), "printed value"), allows, place=dumps[0].span.place
        )
    apart = next((s for s, _ in run.logs if "stdout" in s.name), None)
    if apart is not None:
        return EvidenceKind(name, State.HERE, f"{apart.name}, apart from stderr", allows)
    own = next((u for _, events in run.logs for u in events.unparsed), None)
    if own is not None:
        found = "text of the program's own; which stream it came from is not told"
        return EvidenceKind(name, State.PARTLY, found, allows, recording, own.span.place)
    found = "nothing that a program writes to stdout" if run.logs else "no log of a run was given"
    return EvidenceKind(name, State.MISSING, found, allows, recording)


def _python_stack(run: RunFacts, command: str) -> EvidenceKind:
    name, allows = "Python stack", "which line of the program made the failing call"
    recording = Recording(
        command,
        (("PYTHONFAULTHANDLER", "1"),),
        care="it helps for signals; exceptions print a traceback by themselves",
    )
    deepest = max(run.errors, key=lambda e: len(e.python_frames), default=None)
    if deepest is not None and deepest.python_frames:
        found = f"a traceback of {counted(len(deepest.python_frames), 'frame')}"
        return EvidenceKind(name, State.HERE, found, allows, place=deepest.span.place)
    signal = next((e for e in run.errors if e.form is ErrorForm.SIGNAL), None)
    if signal is not None:
        return EvidenceKind(
            name,
            State.MISSING,
            f"{signal.message}, without Python frames",
            allows,
            recording,
            signal.span.place,
        )
    return EvidenceKind(name, State.MISSING, "no traceback", allows, recording)


def _native_stack(run: RunFacts, command: str) -> EvidenceKind:
    name = "native stack"
    allows = "which call of the model failed, when the text does not say it"
    stacks = [s for _, events in run.logs for s in events.stacks]
    if stacks:
        best = max(stacks, key=lambda s: len(s.frames))
        named = sum(f.symbol is not None for f in best.frames)
        found = f"{counted(len(stacks), 'stack')}; the longest has {counted(len(best.frames), 'frame')}, {named:,} with a name"
        if named:
            return EvidenceKind(name, State.HERE, found, allows, place=best.span.place)
        care = "frames without names: keep debug symbols, and let addr2line be found (TORCH_ADDR2LINE_BINARY)"
        recording = Recording(command, (("TORCH_SHOW_CPP_STACKTRACES", "1"),), care=care)
        return EvidenceKind(name, State.PARTLY, found, allows, recording, best.span.place)
    if any(e.form is ErrorForm.SIGNAL for e in run.errors):
        line = f"gdb -batch -ex run -ex bt --args {command}"
        return EvidenceKind(name, State.MISSING, "a signal, and no stack", allows, Recording(line))
    recording = Recording(
        command,
        (("TORCH_SHOW_CPP_STACKTRACES", "1"),),
        care="read when torch is imported in Python; a C++ host needs gdb",
    )
    return EvidenceKind(name, State.MISSING, "no frame of C++ code", allows, recording)


def _blocking(run: RunFacts, command: str) -> EvidenceKind:
    name = "launches that wait"
    allows = "that the launch which raises is the one that failed"
    if not run.on_gpu:
        return EvidenceKind(name, State.NOT_NEEDED, "nothing speaks of a GPU", allows)
    for variable in ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL"):
        value = run.env(variable)
        if value is not None and value != "0":
            place = run.run_command.place if run.run_command is not None else None
            return EvidenceKind(name, State.HERE, f"{variable}={value} in the command", allows, place=place)
    found = "the shown command does not set it" if run.run_command is not None else "no log shows the command"
    recording = Recording(
        command, (("CUDA_LAUNCH_BLOCKING", "1"),), care="it changes timing, and does not see into CUDA graphs"
    )
    place = run.run_command.place if run.run_command is not None else None
    return EvidenceKind(name, State.MISSING, found, allows, recording, place)


def _form(run: RunFacts, *forms: ErrorForm) -> Place | None:
    return next((e.span.place for e in run.errors if e.form in forms), None)


def _quiet_cpu(run: RunFacts) -> bool:
    """Tell a run of a CPU whose end its own text explains."""
    signals = any(e.form in {ErrorForm.SIGNAL, ErrorForm.TERMINATE} for e in run.errors)
    killed = any(code.lstrip("-").isdecimal() and not 0 <= int(code) < _SIGNALS for code in run.exit_codes)
    return not run.on_gpu and not signals and not killed


def _sanitizer(run: RunFacts, command: str) -> EvidenceKind:
    name = "memory checker"
    allows = "which kernel or function touched memory that is not its own, at which address"
    place = _form(run, ErrorForm.SANITIZER, ErrorForm.MEMORY_REPORT)
    if place is not None:
        return EvidenceKind(name, State.HERE, "a report", allows, place=place)
    if _quiet_cpu(run):
        return EvidenceKind(name, State.NOT_NEEDED, "no signal and no GPU is told of", allows)
    if run.on_gpu:
        recording = Recording(
            f"compute-sanitizer --tool memcheck {command}",
            (("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),),
            care="ten to a hundred times slower; unset expandable_segments",
        )
    else:
        recording = Recording(
            f"valgrind --error-limit=no {command}",
            (("PYTHONMALLOC", "malloc"),),
            care="twenty to fifty times slower; AVX-512 code does not run under it",
        )
    return EvidenceKind(name, State.MISSING, "no report", allows, recording)


def _core(run: RunFacts, command: str) -> EvidenceKind:
    name = "core dump, debugger"
    allows = "where a process or a device stood when it died, also without any text"
    place = _form(run, ErrorForm.DEVICE)
    stack = next((s for _, events in run.logs for s in events.stacks if s.format in {"gdb", "lldb"}), None)
    if place is not None or stack is not None:
        found = "output of a debugger or of the driver"
        return EvidenceKind(
            name, State.HERE, found, allows, place=place or (stack.span.place if stack else None)
        )
    if _quiet_cpu(run):
        return EvidenceKind(name, State.NOT_NEEDED, "no signal and no GPU is told of", allows)
    if run.on_gpu:
        recording = Recording(
            command,
            (("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1"), ("CUDA_COREDUMP_SHOW_PROGRESS", "1")),
            care="open the file with cuda-gdb: `target cudacore FILE`, and give its output",
        )
    else:
        recording = Recording(f"gdb -batch -ex run -ex bt --args {command}")
    return EvidenceKind(name, State.MISSING, "none", allows, recording)


def _ranks(run: RunFacts, command: str) -> EvidenceKind:
    name, allows = "other ranks", "which rank failed by itself, and which only waited for it"
    ranks = run.ranks
    if not ranks:
        return EvidenceKind(name, State.NOT_NEEDED, "nothing names a rank", allows)
    absent = sorted(set(range(max(ranks))) - set(ranks))
    found = f"{counted(len(ranks), 'rank')}: {_several(ranks)}"
    if not absent and len(ranks) > 1:
        return EvidenceKind(name, State.HERE, found, allows)
    if absent:
        found += f"; nothing of {_several(absent)}"
    launcher = next((w for w in _LAUNCHERS if command.startswith(w)), None)
    line = (
        command.replace(launcher, f"{launcher}--log-dir logs --redirects 3 ", 1)
        if launcher is not None
        else f"torchrun --log-dir logs --redirects 3 ... (now: {command})"
    )
    return EvidenceKind(name, State.PARTLY, found, allows, Recording(line))


def _several(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return shown + (f" and {len(ranks) - 8:,} more" if len(ranks) > 8 else "")

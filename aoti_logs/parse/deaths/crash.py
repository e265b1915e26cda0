"""How a process ended: signals as shells, launchers, the kernel, glibc and signal handlers tell them.

Formats: `grammars/death.lark` names the programs. faulthandler and debuggers have modules of their own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.deaths.signals import NAMES, by_code, by_words, number_of
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.stacks import debugger, faulthandler, py_spy
from aoti_logs.parse.stacks.stack import read_stack
from aoti_logs.parse.stacks.stack_form import bare, form_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.logs.lines import Line, Log
    from aoti_logs.parse.shape import Fields


_SHELL = re.compile(
    r"(?:\S+: line \d+:\s+)?(?:\[\d+\][+-]?\s+)?(?:\d+\s+)?(?:zsh: |make(?:\[\d+\])?: \*\*\* \[[^\[\]]*\] )?"
    r"(?:Aborted|Abort trap(?:: 6)?|Segmentation fault(?:: 11)?|Bus error(?:: 10)?|Floating point exception(?:: 8)?|"
    r"Illegal instruction(?:: 4)?|IOT instruction|Trace/breakpoint trap|Killed(?:: 9)?|abort|segmentation fault|bus error|"
    r"floating point exception|illegal hardware instruction|trace trap|killed)"
    r"(?:\s+\(core dumped\)(?:\s.*)?|\s{2,}\S.*|)$"
)
_HEAP = re.compile(
    r"(?:\*\*\* Error in `(?P<program>[^']*)': )?(?P<what>(?:free|malloc|realloc|calloc|munmap_chunk|mremap_chunk|malloc_consolidate|memalign)"
    r"(?:_\w+)?\(\): (?:invalid|corrupted|unaligned|double free|memory corruption|too many|smallbin|largebin|unsorted|mismatching)\b[\w ><()!,.\-]*|double free or corruption \([\w!]+\)|corrupted (?:size vs\. prev_size|double-linked list)[\w ()\-]*|"
    r"\*\*\* (?:stack smashing|buffer overflow) detected \*\*\*: .*terminated|pure virtual method called|deleted virtual method called)"
    r"(?:: 0x[0-9a-f]+ \*\*\*)?$"
)
_ASSERT = re.compile(
    r"(?P<program>\S+): (?P<place>\S.*:\d+): (?P<function>\S.*): Assertion `(?P<text>.*)' failed\.$"
)
_LLVM = re.compile(
    r"(?:.{0,300}[^\s\"'`(\[<=])??(?:LLVM ERROR: (?P<text>\S.*)|UNREACHABLE executed(?: at (?P<place>\S.{0,400}:\d+))?!)$"
)
"""llvm/lib/Support/ErrorHandling.cpp: `report_fatal_error`, `llvm_unreachable_internal`; what stood on the line has no line feed."""
_OOM = re.compile(r"\s*\"?[Rr]eason\"?:\s+\"?OOMKilled\b")
_ABORTED = re.compile(r"\*\*\* Aborted at \d+ \([Uu]nix time[,)]")
_BACKTRACE = re.compile(
    r"=+ ?[Bb]acktrace[ :=(]|={6,}$|\[[\w.-]+:\d+\] \*\*\* (?:Process|End)|PLEASE |Stack dump|\d+\.\t|\(safe mode, symbolizer"
)
_MPI = re.compile(
    r"(?:\[[\w.-]+:\d+\] )?(?P<text>Signal code: .*|Failing at address: .*|\*\*\* End of error message \*\*\*|Signal: .*)$"
)
_RUN = re.compile(r"(?P<name>\S{1,200})\s+(?:rc|exit|code|status|exit code)[=: ]\s?(?P<code>\d{1,3})\b")
_TAIL = 6  # lines that may stand between a signal and its stack


def _words(found: Fields) -> str:
    return (first(found, "WORDS") or first(found, "SIGNAL_WORDS") or first(found, "TRAP_WORDS") or "").strip()


def _shell(found: Fields) -> Death:
    words = _words(found)
    pid = first(found, "PID")
    return Death(
        "shell", by_words(words), words=words, pid=int(pid[:9]) if pid else None, core_dumped="CORE" in found,
        program=first(found, "COMMAND"),
    )  # fmt: skip


def _named(printer: str) -> Callable[[Fields], Death]:
    def read(found: Fields) -> Death:
        words = _words(found)
        number = int(found["NUMBER"][0][:4]) if "NUMBER" in found else None
        name = first(found, "NAME") or (first(found, "PAREN_NAME") or "").strip("()") or None
        signal = name or by_words(words) or (NAMES.get(number) if number is not None else None)
        pid = first(found, "PID")
        reason = first(found, "UCX_REASON") or first(found, "REASON") or _code(first(found, "REST") or "")
        return Death(
            printer,
            signal,
            number if number is not None else number_of(signal),
            words or None,
            int(pid[:9]) if pid else None,
            address=first(found, "ADDRESS"),
            reason=reason,
            program=first(found, "PROGRAM") or first(found, "QUOTED") or first(found, "COMMAND"),
            library=first(found, "LIBRARY"),
            where=first(found, "RANK") or first(found, "NODE"),
            core_dumped="CORE" in found,
        )

    return read


def _code(rest: str) -> str | None:
    found = re.search(r"\(code: ([^()]+)\)", rest)
    return found[1] if found else None


def _kernel(found: Fields) -> Death:
    death = _named("kernel")(found)
    address = "0x" + found["BARE_HEX"][0]
    if "TRAP_WORDS" in found:
        return replace(death, signal=_trap(death.words or ""), number=None, reason=death.words)
    return replace(
        death, signal="SIGSEGV", number=11, address=address, reason=f"segfault, error {found['NUMBER'][0]}"
    )


def _trap(words: str) -> str | None:
    return {"invalid": "SIGILL", "divide": "SIGFPE", "general": "SIGSEGV"}.get(
        words.replace("trap ", "").split(" ")[0]
    )


def _oom(found: Fields) -> Death:
    said = (first(found, "OOM_KILLED") or "out of memory").partition(":")[0]
    return replace(_named("kernel")(found), signal="SIGKILL", number=9, words="Killed", reason=said.lower())


def _coded(found: Fields) -> Death:
    death = _named("elastic")(found)
    signal = by_code(int(found["CODE"][0][:9]))
    return replace(death, signal=signal, number=number_of(signal), printer="elastic")


def _step(found: Fields) -> Death:
    return Death("slurm", "SIGKILL", 9, "Killed", reason="out of memory", where=first(found, "STEP"))


_RULES: tuple[tuple[re.Pattern[str], str, Callable[[Fields], Death]], ...] = (
    (_SHELL, "shell", _shell),
    (re.compile(r"fish: Job "), "fish", _named("shell")),
    (re.compile(r"\*\*\* (?:SIG|Signal \d)"), "glog", _named("glog")),
    (re.compile(r"(?:\[[^\]]*\] ?)?Caught signal \d"), "ucx", _named("ucx")),
    (re.compile(r"\w+ noticed that process rank \d"), "mpi_run", _named("mpi")),
    (re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal"), "hydra", _named("mpi")),
    (re.compile(r"(?:traceback\s*: )?Signal \d+ \(SIG\w+\) received by PID"), "elastic", _named("elastic")),
    # Of the table of torchrun, where its beginning is not in the log; a SIGTERM there is torchrun's own.
    (re.compile(r"exitcode\s+: -(?!15\b)\d"), "elastic_code", _coded),
    (re.compile(r"failed \(exitcode: -\d"), "elastic_failed", _coded),
    (re.compile(r"srun: error: .*: tasks? [\d,-]+: [A-Z]"), "srun", _named("slurm")),
    (re.compile(r"slurmstepd: error: Detected \d+ oom"), "oom_step", _step),
    (re.compile(r"\S+\[\d+\]: segfault at "), "segfault", _kernel),
    (re.compile(r"traps: "), "trap", _kernel),
    (re.compile(r"(?:Out of memory|Memory cgroup out of memory): Kill"), "oom", _oom),
    (re.compile(r"Process finished with exit code \d+ \(interrupted"), "pycharm", _named("pycharm")),
)
_KERNEL_TIME = re.compile(r"\[\s*\d+\.\d+\] ")
_LOGGED = re.compile(r"\[[\d\- :,.]+ [A-Z] \d+ \d+\] (?:\(\w+\) )?\S+\.cc:\d+: ")


def read_crash(log: Log, line: Line) -> bool:
    """Claim a line that tells a signal, with what follows from the same printer."""
    if any(
        read(log, line)
        for read in (
            faulthandler.read_faulthandler,
            debugger.read_debugger,
            py_spy.read_py_spy,
        )
    ):
        return True
    text = _LOGGED.sub("", _KERNEL_TIME.sub("", line.text.strip(), count=1), count=1)
    death = _death(text)
    if death is not None:
        return _add(log, line, text, death)
    if _ABORTED.match(text):
        return _aborted(log, line)
    if "*** Process received signal ***" in text:
        return _mpi(log, line)
    return False


def _death(text: str) -> Death | None:
    for pattern, rule, build in _RULES:
        if pattern.match(text):
            found = fields("death", rule, text)
            return None if found is None else build(found)
    heap = _HEAP.match(text)
    if heap is not None:
        printer = "stdlib" if "virtual method" in text else "glibc"
        return Death(printer, "SIGABRT", 6, reason=heap["what"], program=heap["program"])
    failed = _ASSERT.match(text)
    if failed is not None:
        where = f"{failed['place']}: {failed['function']}"
        return Death("assert", "SIGABRT", 6, reason=failed["text"], program=failed["program"], where=where)
    llvm = _LLVM.match(text)
    if llvm is not None:
        where = llvm["place"]
        return Death("llvm", reason=llvm["text"] or f"unreachable code was reached at {where}", where=where)
    return Death("kernel", "SIGKILL", 9, "Killed", reason="out of memory") if _OOM.match(text) else None


def _add(log: Log, line: Line, text: str, death: Death, head: tuple[Line, ...] = ()) -> bool:
    lines = [*head, line]
    if death.printer in {"glog", "ucx", "assert", "mpi"}:
        death = _with_stack(log, lines, death)
    if death.printer == "shell":
        death = replace(death, run=_run(log, line, death.signal))
    span = log.claim("signal", lines)
    log.stacks += death.stacks
    log.errors.append(
        ErrorText(
            ErrorForm.SIGNAL, text, span, stack=death.stacks[0] if death.stacks else None, signal=death.signal,
            rank=line.rank, text=text, detail=death,
        )
    )  # fmt: skip
    return True


def _run(log: Log, line: Line, signal: str | None) -> str | None:
    below = log.after(line)
    named = _RUN.match(below.text.strip()) if below is not None else None
    return named["name"] if named is not None and by_code(int(named["code"])) == signal else None


def _with_stack(log: Log, lines: list[Line], death: Death) -> Death:
    """Add the stack that the same handler prints below."""
    now = log.after(lines[-1])
    between: list[Line] = []
    for _ in range(_TAIL):
        if now is None:
            break
        form = form_of(now.text)
        if form is not None and form.name in {"glog", "absl", "folly", "ucx", "symbols", "llvm"}:
            read = read_stack(log, now)
            if read is None:
                break
            stack, own, bad = read
            for wrong in bad:
                log.unreadable(wrong.start, wrong.end, "stack frame")
            stack = replace(stack, signal=death.signal)
            lines += [*between, *own]
            end = log.after(lines[-1])
            if end is not None and _BACKTRACE.match(end.text.strip()):
                lines.append(end)
            printer = (
                stack.format
                if death.printer == "glog" and stack.format in {"absl", "folly"}
                else death.printer
            )
            return replace(death, printer=printer, stacks=(stack,))
        if now.text.strip() and not _BACKTRACE.match(now.text.strip()):
            break
        between.append(now)
        now = log.after(now)
    return death


def _aborted(log: Log, line: Line) -> bool:
    """Read glog's and folly's first line, the time, with the signal that follows it."""
    now = log.after(line)
    head = [line]
    for _ in range(2):
        if now is None:
            break
        text = bare(now.text.strip())
        if text.startswith(("*** SIG", "*** Signal ")):
            death = _death(text)
            return death is not None and _add(log, now, text, death, tuple(head))
        if not text.startswith("PC: @"):
            break
        head.append(now)
        now = log.after(now)
    log.claim("signal", [line])
    return True


def _mpi(log: Log, line: Line) -> bool:
    """Read OpenMPI's block: signal, code, address, a stack of `backtrace_symbols`."""
    lines, facts = [line], {}
    now = log.after(line)
    while now is not None and len(lines) < _TAIL:
        found = _MPI.match(now.text.strip())
        if found is None or not found["text"].startswith(("Signal", "Failing")):
            break
        name, _, value = found["text"].partition(":")
        facts[name] = value.strip()
        lines.append(now)
        now = log.after(now)
    read = fields("death", "mpi_signal", f"Signal: {facts.get('Signal', '')}")
    death = _named("mpi")(read) if read is not None else Death("mpi")
    code = facts.get("Signal code", "").rpartition("(")[0].strip() or None
    death = replace(death, reason=code, address=facts.get("Failing at address"))
    last = lines.pop()
    head = tuple(lines)
    text = f"Signal: {facts.get('Signal', '')}"
    ok = _add(log, last, text, death, head)
    return ok

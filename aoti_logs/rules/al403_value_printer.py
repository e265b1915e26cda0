"""What the value printer recorded, and which launch it announced last.

## What it says
How many records and launches the log holds, and which launch was announced and has no record after it.

## Why it matters
When a process dies in a kernel, the last announced launch is where it died, but only if nothing of the output was
lost. The printer writes to stdout; a process that is aborted loses what stands in its buffer: all of mode 3 (kernel names
only), integer tensors and scalars. A terminal or `PYTHONUNBUFFERED=1` keeps it. On a GPU, kernel names alone
are printed while earlier launches still run: mode 3 points at the right kernel only with `CUDA_LAUNCH_BLOCKING=1`.

## Example
```
[ before_launch: triton_poi_fused_index_put_2 ]
Error: CUDA driver error: an illegal memory access was encountered
```

## Evidence it needs
Records of `AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER` of any mode and release.

## What to do
Nothing, when no launch is unfinished. Else look at that launch and its arguments, after a run with unbuffered output.
A saved tensor (mode 1) is read with `aoti_logs.saved_tensor(path)`.

## When the printer itself fails
It raises where a tensor cannot be read: one on the meta device, a sparse or quantized one (C++), an empty one (Python:
`aminmax(): cannot compute aminmax over an empty dimension`). The model would have run without it. In mode 1 torch 2.6 to
2.9 make the folder `tmp/aoti_torch` only where `tmp` exists, and fail with `Failed to create directory`. A CUDA error that
is raised while a tensor is printed is one of an earlier kernel, and not the printer's.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.printer.launches import bare_name, printed_launches
from aoti_logs.rules.al401_nan_in_dump import header_of, printing_episodes
from aoti_logs.rules.dump_facts import dump_facts, unfinished
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.first_nan import first_nan
from aoti_logs.rules.model_weights import model_weights
from aoti_logs.rules.plain_kind import kind_of
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.index.episode import Episode
    from aoti_logs.parse.events import Dump, ErrorText
    from aoti_logs.parse.printer.launches import PrintedLaunch
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.log_notes import LogCase

_PRINTERS = ("_print_debugging_tensor_value_info", "aoti_torch_print_tensor_handle")
_MODES = {
    "save": "saved tensors",
    "kernel_names_only": "kernel names only",
    "python": "the Python printer",
}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Return what is said about an error of the printer itself, or None."""
    error = case.error
    told = [n for n in case.events.notes if n.kind == "save_directory" and n.span.start < error.span.start]
    if error.message == "Failed to create directory" and told:
        folder = dict(told[-1].facts)["folder"]
        return ErrorTold(
            "AL403",
            kind_of(error),
            f"the value printer could not make the folder {folder} for the tensors that it saves",
            because=("the run says that it makes this folder, and then that it failed",),
            links=(Link("announced", told[-1].span.text.strip(), told[-1].span.place),),
            facts={"folder": folder},
            fixes=(f"mkdir -p {shlex.quote(folder)}",),
        )
    if error.cuda_error is not None or not _raised_by_printer(error):
        return None
    dump = next((d for d in reversed(case.events.dumps) if not d.complete and d.rank == error.rank), None)
    tensor = f"`{bare_name(dump.argument)}`" if dump is not None else "a tensor"
    links = (Link("record", header_of(dump), dump.span.place),) if dump is not None else ()
    return ErrorTold(
        "AL403",
        kind_of(error),
        f"the value printer failed on {tensor}, not the model: {error.message}",
        because=("the function that prints values raised it",),
        links=links,
        facts={"tensor": dump.argument if dump is not None else None},
        fixes=(
            "compile without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER, or with mode 3 (kernel names only)",
        ),
    )


def _raised_by_printer(error: ErrorText) -> bool:
    """Tell whether the function that prints a tensor stands in the error's stack."""
    python = any(f.function in _PRINTERS for f in error.python_frames)
    frames = error.stack.frames if error.stack is not None else ()
    return python or any(f.symbol is not None and f.symbol.startswith(_PRINTERS[1]) for f in frames)


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield what was recorded of each run and rank, where no other finding tells it."""
    if any(f.role == "cause" and "n_records" in f.facts for f in case.told):
        return
    for episode in printing_episodes(case):
        dumps = episode.events.dumps
        for rank in dict.fromkeys(d.rank for d in dumps):
            own = [d for d in dumps if d.rank == rank]
            launches = printed_launches(own)
            if first_nan(own, launches) is None or unfinished(launches):
                yield _finding(case, episode, own, launches, rank)


def _finding(
    case: LogCase,
    episode: Episode,
    dumps: Sequence[Dump],
    launches: Sequence[PrintedLaunch],
    rank: int | None,
) -> Finding:
    facts = dump_facts(dumps, launches)
    left = unfinished(launches)
    how = _MODES.get(facts["format"])
    title = (
        f"the value printer wrote {len(dumps)} record{'s' * (len(dumps) != 1)} of {len(launches)} "
        f"launch{'es' * (len(launches) != 1)}" + (f" ({how})" if how else "")
    )
    chain = []
    because: tuple[str, ...] = ()
    confidence = Confidence.PROVEN
    doubt = None
    if left:
        last = left[-1]
        title += f"; launch {last.number} of `{last.kernel}` was announced{_told(dumps, launches, last)}"
        chain.append(Link("announced", header_of(last.before[-1]), last.before[-1].span.place))
        because = tuple(_care(case.evidence, episode, facts["format"], dumps[-1]))
    else:
        chain.append(Link("record", header_of(dumps[-1]), dumps[-1].span.place))
    for note in episode.events.notes:
        told = dict(note.facts)
        if note.kind == "save_directory" and "problem" in told:
            chain.append(Link("not saved", f"{told['folder']}: {told['problem']}", note.span.place))
            title += "; the folder for saved tensors could not be made"
    return Finding(
        rule="AL403",
        kind="aoti_printer",
        role="note",
        severity="note",
        confidence=confidence,
        title=title,
        facts=facts,
        rank=rank if rank is not None else case.source.rank,
        log=case.source.name,
        chain=tuple(chain),
        verdicts=(Verdict("AL403", title, confidence, because),),
        doubt=doubt,
    )


def _told(dumps: Sequence[Dump], launches: Sequence[PrintedLaunch], last: PrintedLaunch) -> str:
    """Count the records of the last launch, and those of no launch: these are inputs that the model printed first."""
    values = [d for d in last.before if d.is_tensor]
    if not values:
        return ", and no record follows it"
    loose = len(dumps) - sum(len(k.before) + len(k.after) for k in launches)
    others = f"; {loose} other{'s' * (loose != 1)} belong{'s' * (loose == 1)} to no launch" if loose else ""
    return f" with {len(values)} record{'s' * (len(values) != 1)} before it and none after it{others}"


def _care(evidence: Evidence, episode: Episode, printed: str, last: Dump) -> Iterator[str]:
    """Say whether the last announced launch is the one that was running."""
    if not last.complete:
        weight = model_weights(evidence).named(bare_name(last.argument)) if last.argument else None
        if weight is not None:
            yield (
                f"likely: `{weight}` was never loaded: its record is the one that is cut, and the library comes without its "
                "weights; the printer reads the null pointer before the kernel does"
            )
        yield (
            "the last record is cut: the run may have ended while it was printed, before this launch; on a GPU an error of "
            "an earlier kernel is raised there"
        )
    told = next((dict(n.facts) for n in episode.events.notes if n.kind == "command"), {})
    if told.get("PYTHONUNBUFFERED", "") not in {"", "0"}:
        yield "the output was not buffered (PYTHONUNBUFFERED is set), so nothing printed was lost"
    else:
        yield (
            "a process that dies loses what stands in the buffer of its output: a later launch may have been "
            "started, unless this was a terminal or PYTHONUNBUFFERED=1"
        )
    if printed == "kernel_names_only" and told.get("CUDA_LAUNCH_BLOCKING", "0") in {"", "0"}:
        yield "on a GPU a launch returns before its kernel ends: with CUDA_LAUNCH_BLOCKING=1 the last name is the kernel that fails"


RULE = Rule("AL403", "value-printer", __doc__ or "")

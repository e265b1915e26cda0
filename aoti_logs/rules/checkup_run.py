"""What kind of run it is that evidence is asked of: device, compiler, commands, ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.commands import COMPILES, SAME_COMMAND, Shown
from aoti_logs.parse.events import AssertionForm, ErrorForm
from aoti_logs.rules.shown_commands import compile_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.view import ModelView
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.sources.source import Place, Source

_ON_DEVICE = frozenset({ErrorForm.CUDA, ErrorForm.SANITIZER, ErrorForm.DEVICE, ErrorForm.KERNEL_LOG})
_ACCELERATOR = re.compile(r"\b(?:CUDA|HIP|cuda:\d+|hip:\d+|xpu:\d+|ROCm|NCCL)\b")
_MOST_VIEWS = 200


@dataclass(frozen=True)
class Command:
    """A command that a log shows, and where."""

    shown: Shown
    place: Place


@dataclass(frozen=True)
class RunFacts:
    """Everything at hand of one run. `files` are the files and members that were read."""

    files: tuple[Source, ...]
    logs: tuple[tuple[Source, LogEvents], ...]
    evidence: Evidence

    @cached_property
    def views(self) -> tuple[ModelView, ...]:
        """The generated wrappers, those that are asked about; of thousands only the first ones."""
        wrappers = [c.wrapper for c in self.evidence.base.wrappers if c.wrapper is not None]
        return tuple(self.evidence.view(w) for w in wrappers[:_MOST_VIEWS])

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Types of device that code, packages and logs speak of."""
        found = [d for view in self.views for d in view.wrapper.devices]
        found += [m.metadata.device for p in self.evidence.packages for m in p.models if m.metadata.device]
        if any(self._accelerators()):
            found.append("gpu")
        named = list(dict.fromkeys(found))
        return tuple(d for d in named if d != "gpu" or not {"cuda", "hip", "xpu"} & set(named))

    def _accelerators(self) -> Iterator[bool]:
        for _, events in self.logs:
            yield any(a.form is not AssertionForm.CPU for a in events.assertions)
            yield any(
                e.form in _ON_DEVICE or _ACCELERATOR.search(e.message) is not None for e in events.errors
            )
            yield any((d.device or "").startswith(("cuda", "hip", "xpu")) for d in events.dumps)

    @property
    def on_gpu(self) -> bool:
        """Whether anything speaks of a GPU."""
        return any(d not in {"cpu", "mps"} for d in self.devices)

    @cached_property
    def aot(self) -> bool:
        """Whether anything speaks of AOTInductor."""
        return (
            any(view.is_aot for view in self.views)
            or any(p.models for p in self.evidence.packages)
            or any(e.form is ErrorForm.AOTI_ERROR for e in self.errors)
        )

    @cached_property
    def jit(self) -> bool:
        """Whether anything speaks of torch.compile."""
        return any(not view.is_aot for view in self.views)

    @cached_property
    def errors(self) -> tuple[ErrorText, ...]:
        """The errors of all logs; warnings are none."""
        return tuple(e for _, events in self.logs for e in events.errors if e.form is not ErrorForm.WARNING)

    @cached_property
    def failed(self) -> bool:
        """Whether a log tells a failure."""
        return (
            bool(self.errors)
            or any(events.assertions for _, events in self.logs)
            or bool(self.exit_codes - {"0"})
        )

    @cached_property
    def exit_codes(self) -> set[str]:
        """Exit codes that logs tell."""
        notes = (n for _, events in self.logs for n in events.notes if n.kind == "exit")
        return {code for n in notes if (code := dict(n.facts).get("code")) is not None}

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands that logs show, those of logs that tell a failure first."""
        found: list[tuple[bool, Command]] = []
        for _, events in self.logs:
            quiet = not (events.assertions or any(e.form is not ErrorForm.WARNING for e in events.errors))
            for note in events.notes:
                shown = Shown.of(dict(note.facts)) if note.kind == "command" else None
                if shown is not None:
                    found.append((quiet, Command(shown, note.span.place)))
        return tuple(c for _, c in sorted(found, key=lambda f: f[0]))

    @property
    def run_command(self) -> Command | None:
        """The command of the run that is asked about."""
        return self.commands[0] if self.commands else None

    @cached_property
    def compile_command(self) -> Shown | None:
        """The command that compiled: of an AOTInductor model that of a log with an exported program, else the run's."""
        if self.aot:
            return compile_command(self.evidence)
        return self.run_command.shown if self.run_command is not None else None

    def env(self, name: str) -> str | None:
        """Return what the shown command of the run sets a variable to."""
        command = self.run_command
        return None if command is None else dict(command.shown.env).get(name)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Ranks that logs and traces name."""
        found = {s.rank for s, _ in self.logs} | {e.rank for _, v in self.logs for e in v.errors}
        found |= {a.rank for _, events in self.logs for a in events.assertions}
        found |= {trace.source.rank for trace in self.evidence.traces}
        return tuple(sorted(rank for rank in found if rank is not None))

    @property
    def about(self) -> str:
        """Say in words what kind of run it is."""
        made_by = [name for name, is_it in (("AOTInductor", self.aot), ("torch.compile", self.jit)) if is_it]
        parts = [" and ".join(made_by) or "a run whose compiler nothing names"]
        if self.devices:
            parts[0] += f" on {', '.join(self.devices)}"
        if self.ranks:
            parts.append(f"{len(self.ranks)} ranks" if len(self.ranks) > 1 else f"rank {self.ranks[0]}")
        if not self.logs:
            parts.append("no log of a run")
        else:
            parts.append("a failure is told" if self.failed else "no failure is told")
        return ", ".join(parts)

    @property
    def runs(self) -> str:
        """The command of the run to build on, with the environment that it shows, or a word for it."""
        return SAME_COMMAND if self.run_command is None else self.run_command.shown.text

    @property
    def compiles(self) -> str:
        """The command that compiles to build on, likewise; torch.compile compiles in the run itself."""
        if self.compile_command is not None:
            return self.compile_command.text
        return COMPILES if self.aot else SAME_COMMAND

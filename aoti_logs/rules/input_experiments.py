"""How to let a model of AOTInductor compare its inputs with what it was compiled for: another way in each release.

Since 2.7 the comparisons are always in the code, and a variable of the run switches them on. Before, only a compile with
AOT_INDUCTOR_DEBUG_COMPILE=1 wrote them, and then they always run; 2.4 and 2.5 wrote them for the C shims only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_release import always_checks
from aoti_logs.commands import COMPILES
from aoti_logs.explain import Experiment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.wrapper_release import Releases

_SMALL = "it also refuses sizes 0 and 1 of dynamic dimensions, which may compute correctly (AL206)"
_OLDER = "torch before 2.7 does not read it: there, compile with AOT_INDUCTOR_DEBUG_COMPILE=1"
_COMPILES = f"{COMPILES} && {{command}}"


def check_inputs(command: str, evidence: Evidence) -> tuple[Experiment, ...]:
    """Return the experiment that the release of the code at hand allows; none where its checks ran already."""
    releases = evidence.releases
    if releases.before((2, 7)):
        return () if always_checks(evidence) else (compile_with_checks(command, releases),)
    return (switch_checks_on(command, known=releases.since((2, 7))),)


def in_words(checks: Sequence[Experiment]) -> tuple[str, ...]:
    """Say in a line what an experiment asks for."""
    return tuple(
        ("compile with {} and run again" if check.takes_effect == "compile" else "run again with {}").format(
            " ".join(f"{name}={value}" for name, value in check.env)
        )
        for check in checks
    )


def switch_checks_on(command: str, *, known: bool = True) -> Experiment:
    """Let code that has the comparisons run them; `known` that it is of torch 2.7 or newer."""
    return Experiment(
        command,
        (("AOTI_RUNTIME_CHECK_INPUTS", "1"),),
        "run",
        "inputs of another dtype, size, stride or kind of device are then refused with a message before the model runs",
        "generated code reads it at the first run of each loaded model (torch 2.7 or newer)",
        _SMALL if known else f"{_OLDER}; {_SMALL}",
    )


def compile_with_checks(command: str, releases: Releases) -> Experiment:
    """Let torch before 2.7 write the comparisons into the model."""
    first = (("AOT_INDUCTOR_DEBUG_COMPILE", "1"),)
    care = "they test no device, and refuse sizes 0 and 1 of dynamic dimensions, which may compute correctly (AL206)"
    if releases.before((2, 6)):
        return Experiment(
            _COMPILES.format(command=command),
            (*first, ("TORCHINDUCTOR_ABI_COMPATIBLE", "1")),
            "compile",
            _WHY,
            "this code has no checks of inputs; torch 2.4 and 2.5 write them with both settings only",
            care,
        )
    return Experiment(
        _COMPILES.format(command=command),
        first,
        "compile",
        _WHY,
        "this code has no checks of inputs; torch before 2.7 writes them with this setting only",
        care if releases.since((2, 6)) else f"torch 2.5 also needs TORCHINDUCTOR_ABI_COMPATIBLE=1; {care}",
    )


_WHY = "the model then refuses an input of another dtype, size or stride before it runs"

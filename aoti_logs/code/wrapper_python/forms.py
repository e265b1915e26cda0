"""How the kernels of a Python wrapper are called: which parameters `kernel.run(...)` passes, and in which order.

A Triton kernel is called without its block sizes (`XBLOCK : tl.constexpr`), which the chosen configuration gives;
behind its arguments stand the grid (`_grid_0`, ...) or sizes that the grid is computed from, as `inductor_meta`
lists them (`torch/_inductor/runtime/triton_heuristics.py`: `extra_launcher_args`; `codegen/wrapper.py`:
`define_user_defined_triton_kernel`). A user's kernel is called with its constants by some versions of torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.body import Param

_EXTRA = re.compile(r"['\"]extra_launcher_args['\"]: \[([^\]\n]*)\]")
_CONFIGS = re.compile(r"\bconfigs=(\[[^\n]*)")
_KEY = re.compile(r"['\"](\w+)['\"]: ")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class CallForm:
    """The ways in which a kernel may be called.

    `ways` are the lists of parameters that can be passed by position, `extra` what the launcher takes behind them.
    A kernel whose parameters are not known has no way.
    """

    ways: tuple[tuple[Param, ...], ...]
    every: tuple[Param, ...] = ()
    extra: tuple[str, ...] = ()
    unknown: str = "the kernel's parameters are not known"
    """Why a kernel without parameters has none."""

    def fitting(self, count: int, words: Sequence[str]) -> tuple[tuple[Param, ...], str | None]:
        """Return the parameters of `count` arguments given by position, or none and the reason.

        Args:
            count: how many are given by position, the launcher's own not counted.
            words: the names of those that are given by keyword.
        """
        names = {p.name for p in self.every}
        if not self.every:
            return (), self.unknown
        unknown = next((w for w in words if w not in names), None)
        if unknown is not None:
            return (), f"the kernel has no parameter {unknown}"
        if len(set(words)) < len(words):
            return (), "a parameter is given twice"
        if count == 0 and words:
            return (), None
        found = {
            w[:count] for w in self.ways if {p.name for p in w[count:]} == set(words) and len(w) >= count
        }
        if len(found) == 1:
            return found.pop(), None
        if found:
            return (), f"{count} arguments fit the kernel in several ways"
        known = " or ".join(str(n) for n in sorted({len(w) for w in self.ways}))
        return (), f"{count + len(words)} arguments for {known} parameters"


def plain_form(params: tuple[Param, ...]) -> CallForm:
    """Return the form of a function that is called with all its parameters."""
    return CallForm((params,), params)


def choice_form(forms: Sequence[CallForm | None], passed: Sequence[tuple[range, ...] | None]) -> CallForm:
    """Return the form of a multi-kernel: that of its kernels, where all take the same arguments.

    Args:
        forms: the forms of its kernels.
        passed: which arguments go to each of them; None for all.
    """
    known = [f for f in forms if f is not None and f.ways]
    names = {tuple(p.name for p in f.ways[0]) for f in known}
    whole = all(p is None or (len(p) == 1 and p[0].start == 0) for p in passed)
    if known and len(known) == len(forms) and len(names) == 1 and len(set(passed)) == 1 and whole:
        return known[0]
    return CallForm((), unknown="the kernels that it chooses from are called differently")


def triton_form(text: str, params: tuple[Param, ...]) -> CallForm:
    """Return the form of a Triton kernel.

    Args:
        text: the text of its kernel file.
        params: its parameters.
    """
    plain = tuple(p for p in params if p.dtype != "constexpr")
    extra = _EXTRA.search(text) if "extra_launcher_args" in text else None
    ways = [plain]
    if "user_autotune" in text or "triton.autotune" in text:
        tuned = set(_tuned(text))
        ways += [params, tuple(p for p in params if p.name not in tuned), tuple(p for p in plain if p.dtype)]
    return CallForm(
        tuple(dict.fromkeys(ways)), params, () if extra is None else tuple(_WORD.findall(extra[1]))
    )


def _tuned(text: str) -> Iterator[str]:
    """Yield the parameters that the configurations of a user's kernel give."""
    for match in _CONFIGS.finditer(text):
        yield from (m[1] for m in _KEY.finditer(match[1]))

"""Which of several kernel files holds the body of a wrapper's kernel: models use the same names for other code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.names.nearness import compile_of_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.codebase import CodeBase, Wrapper
    from aoti_logs.code.model import Kernel


def defined_elsewhere(name: str, declared: Kernel | None, wrapper: Wrapper, base: CodeBase) -> Kernel | None:
    """Return the kernel of this name in the kernel file that goes with a wrapper; None when no file certainly does.

    The nearest files count: those that the wrapper's commands name, that were recorded with it, or that lie beside
    it. If they hold different code under this name, none is taken.

    Args:
        name: the kernel.
        declared: how the wrapper declares it; a definition with other parameters is another kernel.
        wrapper: the wrapper.
        base: where kernel files are looked for.
    """
    ours = base.copies(wrapper.source) or (wrapper.source.name,)
    files = set(wrapper.kernel_files)
    found: dict[tuple[int, int], list[Kernel]] = {}
    for source, kernel in base.kernels_in_files.get(name, ()):
        if declared is None or not declared.params or _types(declared) == _types(kernel):
            theirs = base.copies(source) or (source.name,)
            # Of two texts that lie beside two copies of the wrapper, the one beside the copy that is quoted.
            near = _near(theirs, ours, files), _near(theirs, ours[:1], files)
            found.setdefault(near, []).append(kernel)
    best = max(found, default=(0, 0))
    if not best[0] and len(base.wrappers) > 1:
        return None
    texts = {tuple(k.source.lines_from(k.line, k.end_line)): k for k in found.get(best, ())}
    return next(iter(texts.values())) if len(texts) == 1 else None


def _types(kernel: Kernel) -> list[str]:
    return ["".join(p.dtype.split()) for p in kernel.params]


def _near(theirs: Sequence[str], ours: Sequence[str], files: set[str]) -> int:
    named = any(_file(name) in files for name in theirs)
    beside = bool({_folder(n) for n in theirs if "#" not in n} & {_folder(n) for n in ours if "#" not in n})
    together = {compile_of_copy(n) for n in theirs if "#" in n} & {
        compile_of_copy(n) for n in ours if "#" in n
    }
    if named:
        return 4 if beside else 3
    return 2 if together else int(beside)


def _folder(name: str) -> str:
    return name.replace("!", "/").rpartition("/")[0]


def _file(name: str) -> str:
    return name.replace("!", "/").rpartition("/")[2]

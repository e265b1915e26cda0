"""Short names of files on a screen; the legend under it gives the whole ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_HASH = re.compile(r"^(c[a-z2-7]{51})(.*)$")
_HASHED = re.compile(r"(?<![a-z2-7])(c[a-z2-7]{7})[a-z2-7]{44}(?![a-z2-7])\.?")
_TRACE = re.compile(r"^dedicated_log_torch_trace_(.+)$")
_LONGEST = 30


def short_name(name: str) -> str:
    """Return the file's own name, a cache hash cut to what the eye can compare.

    >>> short_name("sources/2s/c2s4nfvsvekyh5wwnigxmdm7ltxh6jxilwrfxsqmomhluabtt3m2.py")
    'c2s4nfvs..py'
    """
    archive, _, member = name.rpartition("!")
    outer = archive.rpartition("/")[2] + "!" if archive else ""
    path, _, label = (member or name).partition("#")
    last = path.rpartition("/")[2] or path
    if match := _HASH.match(last):
        last = f"{match[1][:8]}..{match[2].lstrip('.')}" if match[2] else match[1][:12]
    elif match := _TRACE.match(last):
        last = f"trace_{match[1]}"
    elif len(last) > _LONGEST:
        last = f"{last[:12]}..{last[-14:]}"
    return outer + last + (f"#{label}" if label else "")


def short_path(name: str) -> str:
    """Return the whole path, each cache hash in it cut.

    >>> short_path("sort/c2poqbcm5gif4caxuacmyg5d4gknupctb67xdjhunigbl5iveyal/cuis6iyigs5ilv6dbo5fu4ngab3drhxfbckbnvxykfk7bgses3zz.py")
    'sort/c2poqbcm../cuis6iyi..py'
    """
    return _HASHED.sub(r"\1..", name)


class ShortNames:
    """Short names that stay distinct, and the legend that explains them.

    Args:
        names: names of sources, as places give them.
        whole: one that is not cut: the only file that was given is known by its name.
        paths: where the files lie, by the names of their sources, as a person can paste it.
    """

    def __init__(
        self, names: list[str], whole: str | None = None, paths: Mapping[str, str] | None = None
    ) -> None:
        self._paths = paths or {}
        self._short: dict[str, str] = {}
        taken: dict[str, int] = {}
        for name in dict.fromkeys(names):
            short = name if name == whole else short_name(name)
            taken[short] = taken.get(short, 0) + 1
            self._short[name] = short if taken[short] == 1 else f"{short}({taken[short]})"
        longest = sorted((n for n in self._short if n != self._short[n]), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def name(self, name: str) -> str:
        """Return the short form of a source's name."""
        return self._short.get(name, name)

    def within(self, text: str) -> str:
        """Replace whole names inside a sentence."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda m: self._short[m[0]], text)

    def legend(self) -> list[tuple[str, str]]:
        """Return (short, path) of every name that was cut; without a path its whole name."""
        return [(s, self._path(n)) for n, s in self._short.items() if s != n]

    def _path(self, name: str) -> str:
        outer, mark, member = name.partition("!")
        return self._paths.get(name) or self._paths.get(outer, outer) + mark + member

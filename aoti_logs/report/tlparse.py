"""tlparse: where it is, how it is run, what it says of itself on stderr.

tlparse is a program of its own (github.com/meta-pytorch/tlparse, in Rust); its wheel puts it beside the
Python that runs this.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

NOT_FOUND = "tlparse was not found beside this Python nor on PATH: pip install tlparse"
_STATS = re.compile(r"Stats \{ ?([a-z_0-9:, ]*?) ?\}\s*")
_COUNT = re.compile(r"([a-z_0-9]+): (\d{1,19})")
_UNKNOWN = re.compile(r"Unknown fields: \{(.*)\} \(consider")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_REJECTED = "Failed to parse metadata JSON: "
_WHY = re.compile(r'Error\("(.*)", line: 1, column: \d+\)(?: on line (\d{1,12}))?')
_RANK = re.compile(r"Processing rank (\d{1,10}) ")
_MOST_REJECTED = 200
_LONGEST = 1 << 16
_LAST = 12
_SECONDS = 900


@dataclass(frozen=True)
class Options:
    """What tlparse is asked for.

    Attributes:
        plain: generated code as text instead of highlighted HTML (`-p`).
        provenance: the pages that set graphs and code side by side (`-i`).
        export: the report of a draft export instead of the usual one (`-e`).
    """

    plain: bool = False
    provenance: bool = False
    export: bool = False

    def flags(self) -> list[str]:
        """Return them as tlparse spells them."""
        given = {"-p": self.plain, "-i": self.provenance, "-e": self.export}
        return ["--no-browser", *(flag for flag, wanted in given.items() if wanted)]


class Rejected(NamedTuple):
    """A line that tlparse could not read as a record.

    Attributes:
        text: beginning of its JSON, as tlparse 0.4.3 prints it; empty for later versions.
        why: tlparse's words.
        line: number of the line, as versions after 0.4.3 print it.
    """

    text: str
    why: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Said:
    """What one run of tlparse printed.

    Attributes:
        problem: why it failed, in one sentence; None when it did not.
        stats: the counts of its `Stats` line of each trace, in the order it took them.
        unknown: entry names that it has no page for.
        rejected: lines that it could not read as records, at most 200.
        last: the last lines of its stderr, when it failed.
        ranks: in the order of `stats`, for a page of all ranks.
    """

    problem: str | None = None
    stats: tuple[Mapping[str, int], ...] = ()
    unknown: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    last: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()


def find_tlparse() -> Path | None:
    """Return the program, None when it is not installed."""
    name = "tlparse.exe" if sys.platform == "win32" else "tlparse"
    import sysconfig

    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which("tlparse")
    return Path(found) if found else None


def version(program: Path) -> str:
    """Return its version (`0.4.3`), empty when it does not say."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.search(r"\d+(?:\.\d+){1,3}", done.stdout)
    return found[0] if found else ""


def run(program: Path, arguments: list[str], scratch: Path, size: int) -> Said:
    """Run tlparse and read what it printed.

    Args:
        program: from `find_tlparse`.
        arguments: options and paths.
        scratch: a folder of ours for what it prints.
        size: bytes that it is given; it may take 15 minutes and two more seconds for each MB.
    """
    import os

    errors, output = scratch / "stderr", scratch / "stdout"
    seconds = _SECONDS + 2 * (size >> 20)
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    with errors.open("wb") as written, output.open("wb") as told:
        try:
            done = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=written,
                timeout=seconds,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problem: str | None = f"it was stopped after {seconds} seconds"
        except OSError as error:
            problem = f"it could not be started: {error.strerror}"
        else:
            code = done.returncode
            ended = f"it ended with exit code {code}" if code > 0 else f"it was ended by signal {-code}"
            problem = ended if code else None
    with errors.open("rb") as printed, output.open("rb") as told_of:
        return read_stderr(printed, problem, read_stdout(told_of))


def read_stdout(printed: IO[bytes]) -> tuple[int, ...]:
    """Return the ranks in the order in which tlparse took them; it tells them for a page of all ranks."""
    found = (_RANK.match(line) for line in _lines(printed))
    return tuple(int(rank[1]) for rank in found if rank)


def read_stderr(printed: IO[bytes], problem: str | None, ranks: tuple[int, ...] = ()) -> Said:
    """Read what tlparse printed; a log can make any line of it as long as itself.

    Args:
        printed: its stderr.
        problem: why it failed, None when it did not.
        ranks: what `read_stdout` gave.
    """
    stats: list[Mapping[str, int]] = []
    unknown: dict[str, None] = {}
    rejected: list[Rejected] = []
    last: list[str] = []
    for line in _lines(printed):
        if found := _STATS.fullmatch(line):
            stats.append({name: int(count) for name, count in _COUNT.findall(found[1])})
        elif found := _UNKNOWN.match(line):
            unknown.update(dict.fromkeys(_QUOTED.findall(found[1])))
        elif line.startswith(_REJECTED) and len(rejected) < _MOST_REJECTED:
            rejected.append(Rejected(line.removeprefix(_REJECTED)))
        elif (found := _WHY.fullmatch(line)) and rejected and not rejected[-1].why:
            rejected[-1] = Rejected(rejected[-1].text, found[1], int(found[2]) if found[2] else None)
        if line.strip():
            last = [*last[1 - _LAST :], line[:500]]
    return Said(problem, tuple(stats), tuple(unknown), tuple(rejected), tuple(last) if problem else (), ranks)


def _lines(printed: IO[bytes]) -> Iterator[str]:
    """Yield lines, each cut at 64 kB."""
    beginning = True
    while part := printed.readline(_LONGEST):
        if beginning:
            yield part.decode("utf-8", "replace").rstrip("\r\n")
        beginning = part.endswith(b"\n")

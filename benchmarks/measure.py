"""Run programs in turn, each in its own process, and keep their time and their peak memory."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Contender:
    """One way to do the work: a name for the table and a command."""

    name: str
    command: tuple[str, ...]
    bytes: int = 0  # how much input it reads; 0 where a rate means nothing


@dataclass(frozen=True)
class Sample:
    """One process: wall clock, processor time, largest resident set."""

    seconds: float
    cpu: float
    peak_mb: float


@dataclass(frozen=True)
class Result:
    """What a contender took, over all rounds."""

    name: str
    seconds: float  # the median
    spread: float  # the slowest minus the fastest
    cpu: float  # the median of user and system time, all threads: steadier where others use the machine, too
    peak_mb: float  # the largest resident set of any round; mapped pages of the input count
    bytes: int


def python(name: str, code: str, *args: object, size: int = 0) -> Contender:
    """Make a contender of a piece of Python; `args` are its sys.argv[1:]."""
    return Contender(name, (sys.executable, "-c", code, *map(str, args)), size)


def measure(contenders: Sequence[Contender], rounds: int) -> list[Result]:
    """Run every contender once a round, so that a machine that slows down slows all of them."""
    runs: dict[str, list[Sample]] = {c.name: [] for c in contenders}
    for number in range(rounds):
        for contender in contenders:
            progress(f"{contender.name}, round {number + 1} of {rounds}")
            runs[contender.name].append(run(contender.command))
    progress("")
    return [result(c, runs[c.name]) for c in contenders]


def result(contender: Contender, samples: Sequence[Sample]) -> Result:
    """Sum up the rounds of a contender."""
    seconds = [s.seconds for s in samples]
    return Result(
        contender.name,
        statistics.median(seconds),
        max(seconds) - min(seconds),
        statistics.median(s.cpu for s in samples),
        max(s.peak_mb for s in samples),
        contender.bytes,
    )


def run(command: Sequence[str]) -> Sample:
    """Run a command. A command that fails ends the benchmark: its time is void.

    A child's peak cannot read lower than what its parent had resident at the fork, so the parent imports nothing.
    """
    with tempfile.TemporaryFile() as said:
        begin = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=_environment()
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            sys.exit(
                f"\n{' '.join(command)[:500]}\nfailed with {child.returncode}:\n{said.read()[-3000:].decode()}"
            )
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, kilobytes elsewhere
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / MEGABYTE)


def _environment() -> dict[str, str]:
    """Return the environment of every contender: modules are compiled once, as they are for a user who runs twice."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(Path(__file__).resolve().parent / ".inputs" / "compiled")}


def progress(text: str) -> None:
    """Say on a terminal what runs now."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)


def table(title: str, note: str, results: Sequence[Result]) -> str:
    """Show results as Markdown; times are also given as multiples of the first row's."""
    base = results[0].seconds
    lines = [
        f"### {title}",
        "",
        note,
        "",
        f"| | median s | ± s | CPU s | MB/s | times {results[0].name} | peak MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for r in results:
        rate = f"{r.bytes / MEGABYTE / r.seconds:,.0f}" if r.bytes else ""
        lines.append(
            f"| {r.name} | {r.seconds:.3f} | {r.spread / 2:.3f} | {r.cpu:.3f} | {rate} | {r.seconds / base:.2f} | {r.peak_mb:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    return (
        sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
        if path.is_dir()
        else path.stat().st_size
    )

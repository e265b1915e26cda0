"""Measure aoti-logs side by side with tlparse and with bare readers, and print Markdown tables.

usage: python -m benchmarks.run [--only trace ranks storm stacks wrapper start doubling] [--mb 100] [--lines 1000000] ...

Inputs are made from the recorded runs in fixtures/ and kept in benchmarks/.inputs. Every row is a whole process:
interpreter, imports, work. The medians of the rounds are shown; in a round every contender runs once.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.make_inputs import FAILING
from benchmarks.measure import Contender, measure, python, size_of, table

HERE = Path(__file__).resolve().parent
INPUTS = HERE / ".inputs"
BIN = Path(sys.executable).parent  # where pip puts tlparse and aoti-logs

# What the contenders run. Each is a program of its own, so that imports count and memory is its own.
COUNT_LINES = """
import sys
with open(sys.argv[1], "rb") as f:
    print(sum(block.count(b"\\n") for block in iter(lambda: f.read(1 << 20), b"")))
"""
POLARS_LINES = """
import sys, polars as pl
print(pl.scan_lines(sys.argv[1]).select(pl.len()).collect().item())
"""
INDEX = """
import sys, aoti_logs
print(sum(map(len, aoti_logs.load(sys.argv[1]).evidence.traces)))
"""
RECORDS = """
import sys, aoti_logs
print(aoti_logs.load(sys.argv[1]).tables["records"].height)
"""
EVERY_TABLE = """
import os, sys, aoti_logs
os.environ["AOTI_LOGS_PROCESSES"] = sys.argv[2]
print(sum(table.height for table in aoti_logs.load(sys.argv[1]).tables.values()))
"""
TLHUB = """
import sys, pathlib
from tlhub.trace_parser import ingest_trace_dir
ingest_trace_dir("run", pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
"""
EXPLAIN = """
import sys, aoti_logs
path, context, *words = sys.argv[1:]
text = str(aoti_logs.load(path, context=context or None).explain())
missing = [word for word in words if word not in text]
sys.exit(f"the explanation does not name {missing}" if missing else 0)
"""
SCAN_ASSERTS = """
import re, sys
count = 0
with open(sys.argv[1], "rb") as f:
    for line in f:
        count += re.match(rb"(.*?):(\\d+): .*block: \\[(\\d+),(\\d+),(\\d+)\\].* Assertion `(.*)` failed", line) is not None
print(count)
"""
FRAMES = """
import sys, aoti_logs
print(aoti_logs.load(sys.argv[1]).tables["frames"].height)
"""
LARK_FRAMES = """
import sys
from aoti_logs._grammar import parser
grammar = parser("frame", "c10")
with open(sys.argv[1]) as f:
    print(sum(len(grammar.parse(line.strip()).children) > 0 for line in f if line.startswith("frame #")))
"""
SCAN_WRAPPER = """
import re, sys
text = open(sys.argv[1]).read()
print(len(re.findall(r"^static inline void call_(\\w+)\\(", text, re.M)), len(re.findall(r"^ +call_(\\w+)\\((.*)\\);", text, re.M)))
"""


def main() -> None:
    """Run the sections that were asked for."""
    sections = {
        "start": start,
        "trace": trace,
        "ranks": ranks,
        "storm": storm,
        "stacks": stacks,
        "wrapper": wrapper,
        "doubling": doubling,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=sections, default=list(sections))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mb", type=int, default=100, help="size of the trace")
    parser.add_argument("--lines", type=int, default=1_000_000, help="length of the storm of device asserts")
    parser.add_argument("--stacks", type=int, default=20_000, help="C++ stacks of 30 frames in a log")
    parser.add_argument("--log", type=Path, help="measure stacks with this log instead of a made one")
    parser.add_argument("--kernels", type=int, default=5_000, help="kernels in the wrapper.cpp")
    parser.add_argument("--trace", type=Path, help="measure with this trace instead of a made one")
    parser.add_argument("--ranks", type=Path, help="measure with this folder of ranks instead of a made one")
    args = parser.parse_args()
    INPUTS.mkdir(exist_ok=True)
    packages = ", ".join(f"{name} {version(name)}" for name in ("aoti-logs", "polars", "lark", "tlparse"))
    print(
        f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores; medians of {args.rounds} rounds\n"
    )
    for name in args.only:
        print(sections[name](args), flush=True)


def start(args: argparse.Namespace) -> str:
    """Measure import and help: what everybody pays every time."""
    contenders = [
        python("python -c 'import typer'", "import typer"),
        python("python -c 'import aoti_logs'", "import aoti_logs"),
        Contender("aoti-logs --help", (str(BIN / "aoti-logs"), "--help")),
        python("python -c 'import polars'", "import polars"),
    ]
    return table("Start", "Goal: under 1.5 times `import typer`.", measure(contenders, max(10, args.rounds)))


def trace(args: argparse.Namespace) -> str:
    """Measure a large TORCH_TRACE log: index of records and all tables, against tlparse's report of it."""
    path: Path = args.trace or made("trace", args.mb)
    size = size_of(path)
    report = INPUTS / "tlparse-report"
    tlparse = (str(BIN / "tlparse"), "-p", str(path), "-o", str(report), "--overwrite", "--no-browser")
    contenders = [
        Contender("tlparse -p", tlparse, size),
        python("load and index", INDEX, path, size=size),
        python("the table records", RECORDS, path, size=size),
        python("every table", EVERY_TABLE, path, os.cpu_count() or 1, size=size),
        python("every table, one process", EVERY_TABLE, path, 1, size=size),
        *tlhub(path, size),
        python("count newlines", COUNT_LINES, path, size=size),
        python("polars scan_lines", POLARS_LINES, path, size=size),
    ]
    results = measure(contenders, args.rounds)
    shutil.rmtree(report, ignore_errors=True)
    shutil.rmtree(INPUTS / "tlhub", ignore_errors=True)
    note = (
        f"{size / 1e6:,.0f} MB. Goals: the index in a tenth of tlparse's time and with less than 200 MB over the "
        "file (which is mapped, and counts in the peak); every table in a quarter of tlparse's time."
    )
    return table("Trace", note, results)


def ranks(args: argparse.Namespace) -> str:
    """Measure a folder of traces, one a rank."""
    folder: Path = args.ranks or made_ranks(args.mb)
    size = sum(size_of(path) for path in folder.iterdir())
    report = INPUTS / "tlparse-report"
    command = (str(BIN / "tlparse"), "-p", str(folder), "-o", str(report), "--overwrite", "--no-browser")
    contenders = [
        Contender("tlparse -p --all-ranks-html", (*command, "--all-ranks-html"), size),
        python("load and index", INDEX, folder, size=size),
        python("every table", EVERY_TABLE, folder, os.cpu_count() or 1, size=size),
        python("every table, one process", EVERY_TABLE, folder, 1, size=size),
    ]
    results = measure(contenders, args.rounds)
    shutil.rmtree(report, ignore_errors=True)
    return table("Ranks", f"{len(list(folder.iterdir()))} ranks, {size / 1e6:,.0f} MB.", results)


def made_ranks(megabytes: int) -> Path:
    """Make eight traces of an eighth of the size each."""
    folder = INPUTS / f"ranks-{megabytes}"
    if not folder.exists():
        part = INPUTS / f"ranks-{megabytes}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        for rank in range(8):
            out = part / f"dedicated_log_torch_trace_rank_{rank}_abcdefgh.log"
            make("trace", out, max(1, megabytes // 8), "--first", str(rank * 10_000))
        part.rename(folder)
    return folder


def tlhub(path: Path, size: int) -> list[Contender]:
    """Return the PyPI package tlhub as a contender, where it is installed. It reads folders."""
    if find_spec("tlhub") is None:
        return []
    folder = INPUTS / "tlhub"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "trace").mkdir(parents=True)
    (folder / "trace" / "dedicated_log_torch_trace_abcdefgh.log").symlink_to(path.resolve())
    return [python("tlhub", TLHUB, folder / "trace", folder / "out", size=size)]


def storm(args: argparse.Namespace) -> str:
    """Measure a log in which every thread of three kernels printed its failed assertion."""
    path = made("storm", args.lines)
    size = size_of(path)
    contenders = [
        python("count newlines", COUNT_LINES, path, size=size),
        python("explain", EXPLAIN, path, "", "ks0", size=size),
        python("one regex a line", SCAN_ASSERTS, path, size=size),
    ]
    note = f"{args.lines:,} lines, {size / 1e6:,.0f} MB. Goals: explained at 100 MB/s or more, peak under 600 MB."
    return table("Storm of assertions", note, measure(contenders, args.rounds))


def stacks(args: argparse.Namespace) -> str:
    """Measure a log of C++ stacks of which no two are alike, against the grammar alone on each of their lines."""
    path: Path = args.log or made("stacks", args.stacks)
    size = size_of(path)
    contenders = [
        python("count newlines", COUNT_LINES, path, size=size),
        python("explain", EXPLAIN, path, "", "device-side assert", size=size),
        python("the table frames", FRAMES, path, size=size),
        python("Lark, line by line", LARK_FRAMES, path, size=size),
    ]
    note = f"{size / 1e6:,.0f} MB. Goal: explained at 10 times the speed of Lark on each line."
    return table("C++ stacks", note, measure(contenders, args.rounds))


def wrapper(args: argparse.Namespace) -> str:
    """Measure one assertion of a model with very many kernels; the explanation has to name the right one."""
    cpp = made("wrapper", args.kernels)
    kernel = cpp.with_suffix(".kernel").read_text().strip()
    folder = INPUTS / f"model-{args.kernels}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FAILING / "sources", folder / "build")
    log = folder / "run.log"
    shutil.copyfile(FAILING / "run.log", log)
    (recorded,) = (folder / "build").rglob("*.wrapper.cpp")
    shutil.copyfile(cpp, recorded)
    size = size_of(cpp)
    contenders = [
        python("read and scan", SCAN_WRAPPER, cpp, size=size),
        python("explain", EXPLAIN, log, folder / "build", kernel, size=size),
    ]
    note = f"{args.kernels:,} kernels, {size / 1e6:,.0f} MB. Goal: under 3 times a read and two regex scans."
    return table("wrapper.cpp", note, measure(contenders, args.rounds))


def doubling(args: argparse.Namespace) -> str:
    """Half the input and all of it, to see that time grows in step."""
    text = []
    for what, size, code, context, title in (
        ("trace", args.mb, INDEX, "", "index of a trace"),
        ("trace", args.mb, EVERY_TABLE, "1", "every table of a trace"),
        ("storm", args.lines, EXPLAIN, "", "explanation of a storm"),
    ):
        half, whole = made(what, size // 2), made(what, size)
        contenders = [
            python("half", code, half, context, size=size_of(half)),
            python("whole", code, whole, context, size=size_of(whole)),
        ]
        text.append(table(f"Doubling: {title}", "Goal: at most 2.2 times.", measure(contenders, args.rounds)))
    return "\n".join(text)


def made(what: str, size: int) -> Path:
    """Return an input of this kind and size; make it when it is not there yet.

    It is made by another process, because a process that has held much memory makes its children look large.
    """
    path = (
        INPUTS
        / {
            "trace": f"trace-{size}.log",
            "storm": f"storm-{size}.log",
            "stacks": f"stacks-{size}.log",
            "wrapper": f"{size}.wrapper.cpp",
        }[what]
    )
    if not path.exists():
        part = path.with_suffix(".part")
        said = make(what, part, size)
        if what == "wrapper":  # it printed the name of the kernel to look for
            path.with_suffix(".kernel").write_text(said)
        part.rename(path)
    return path


def make(what: str, out: Path, size: int, *options: str) -> str:
    """Make an input in another process; return what that printed."""
    command = [sys.executable, "-m", "benchmarks.make_inputs", what, str(out), str(size), *options]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


if __name__ == "__main__":
    main()

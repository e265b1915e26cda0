"""Build the wheel the way a release does and use it where nothing of this folder is in reach.

Not a test of pytest's, because it installs from a package index and takes a minute: `make wheel-check` runs it.
Says what it checks, one line each, and stops at the first thing that is not so.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURE = ROOT / "fixtures" / "gpu_empty_events"
KERNEL = re.compile(r"\btriton_[a-z]+_fused_\w+")
HEAVY = "polars lark torch dataframely typer rich orjson"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="aoti-logs-wheel-") as folder:
        check(Path(folder))
    print("wheel-check: all well")


def check(folder: Path) -> None:
    wheel = build(folder / "dist")
    names = zipfile.ZipFile(wheel).namelist()
    say(
        "the wheel carries the grammars", any(re.fullmatch(r"aoti_logs/grammars/\w+\.lark", n) for n in names)
    )
    say("the wheel says that it is typed", "aoti_logs/py.typed" in names)
    say(
        "the wheel carries no tests or fixtures",
        not any(n.startswith(("tests/", "fixtures/")) for n in names),
    )

    venv.create(folder / "env", with_pip=True)
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(folder, scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)

    where = run(folder, scripts / "python", "-c", "import aoti_logs; print(aoti_logs.__file__)")
    say(
        "it is the installed package that answers",
        str(folder.resolve()) in str(Path(where.strip()).resolve()),
    )
    heavy = run(
        folder,
        scripts / "python",
        "-c",
        f"import sys, aoti_logs; print(*[m for m in {HEAVY.split()} if m in sys.modules])",
    )
    say(f"importing it brings none of: {HEAVY}", heavy.strip() == "")
    say("aoti-logs --help names its commands", "explain" in run(folder, scripts / "aoti-logs", "--help"))

    shown = run(folder, scripts / "aoti-logs", "explain", FIXTURE / "run.log", "--context", FIXTURE)
    sources = "".join(p.read_text(errors="replace") for p in FIXTURE.rglob("*.cpp"))
    kernels = {k for k in KERNEL.findall(shown) if k in sources}
    say(f"it names the failing kernel of {FIXTURE.name}: {', '.join(sorted(kernels))}", bool(kernels))


def build(dist: Path) -> Path:
    """Source archive first, then the wheel from that archive: so the archive is complete, too."""
    run(ROOT, sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ROOT)
    (wheel,) = dist.glob("*.whl")
    return wheel


def run(cwd: Path, *command: str | Path) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") and k != "VIRTUAL_ENV"}
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def say(fact: str, holds: bool) -> None:
    print(("ok    " if holds else "FAILS ") + fact, flush=True)
    if not holds:
        sys.exit(1)


if __name__ == "__main__":
    main()

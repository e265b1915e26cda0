"""Large inputs out of the small recorded runs in fixtures/.

usage: python -m benchmarks.make_inputs trace   OUT.log MB      a TORCH_TRACE log in which nothing repeats
       python -m benchmarks.make_inputs storm   OUT.log LINES   device asserts as a GPU prints them, three conditions
       python -m benchmarks.make_inputs stacks  OUT.log STACKS  C++ stacks of 30 frames, no two of them alike
       python -m benchmarks.make_inputs wrapper OUT.cpp KERNELS a wrapper.cpp with many kernels and launches

`--seeds FOLDER` takes other recorded runs than those in fixtures/ (for a wrapper: than fixtures/gpu_empty_events).
"""

import argparse
import hashlib
import random
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
FAILING = FIXTURES / "gpu_empty_events"
TRACE_LINE = re.compile(rb"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ \S+:\d+\] \{")
TRACE_NAMES = ("*.log", "*.txt")
NOISE_EVERY = 1000  # lines of a storm; the kernel prints in bursts, a training loop's own log gets in between

# Where, line, and condition: one bound that is a size, one that is a constant, one without a source file.
CONDITIONS = (
    (
        "/tmp/torchinductor_me/ab/cab0000000000000000000000000000000000000000000000000.py",
        39,
        "0 <= tmp10 < ks0",
    ),
    (
        "/tmp/torchinductor_me/cd/ccd0000000000000000000000000000000000000000000000000.py",
        34,
        "0 <= tmp4 < 32000",
    ),
    ("unknown", 0, "0 <= tl.broadcast_to(tmp43, [XBLOCK]) < 8192"),
)


def make_trace(out: Path, megabytes: int, seeds: Path = FIXTURES, first: int = 0) -> None:
    """Copy recorded traces until the file is large; compile ids move on and every payload differs.

    Payload checksums are true, so a reader that checks them or deduplicates by them has its usual work.
    """
    traces = [list(records(path.read_bytes())) for path in trace_files(seeds)]
    if not traces:
        raise SystemExit(f"no recorded TORCH_TRACE log under {seeds}")
    written = 0
    with out.open("wb") as file:
        for copy in count(first):
            for head, payload in traces[copy % len(traces)]:
                written += file.write(shifted(head, payload, copy))
            if written >= megabytes * 1_000_000:
                return


def trace_files(seeds: Path) -> list[Path]:
    """Find trace logs by what their first line looks like."""
    found = []
    for pattern in TRACE_NAMES:
        for path in seeds.rglob(pattern):
            with path.open("rb") as file:
                if TRACE_LINE.match(file.readline(1000)):
                    found.append(path)
    return sorted(found)


def records(text: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """Split a trace into (first line, payload lines without their tab)."""
    head: bytes | None = None
    payload: list[bytes] = []
    for line in text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n"):
        if line.startswith(b"\t"):
            payload.append(line[1:])
            continue
        if head is not None:
            yield head, payload
        head, payload = line, []
    if head is not None:
        yield head, payload


def shifted(head: bytes, payload: list[bytes], copy: int) -> bytes:
    """Return a record as a later compilation would have written it."""
    head = re.sub(rb'"frame_id": (\d+)', lambda m: b'"frame_id": %d' % (int(m[1]) + 1000 * copy), head)
    head = re.sub(rb', "rank": \d+', b"", head)  # one file is one rank
    if payload:
        json = payload[0].startswith((b"{", b"["))
        # After JSON only blanks are allowed: the number is written in them.
        mark = f"{copy:b}".replace("0", " ").replace("1", "\t").encode() if json else b" # copy %d" % copy
        payload = [*payload[:-1], payload[-1] + mark]
        digest = hashlib.md5(b"\n".join(payload), usedforsecurity=False).hexdigest().encode()
        head = re.sub(rb'(?<="has_payload": ")[0-9a-f]{32}', digest, head)
    return b"\n".join([head, *(b"\t" + line for line in payload)]) + b"\n"


def make_storm(out: Path, lines: int) -> None:
    """Print what a GPU prints when every thread of three kernels fails its bounds check."""
    rnd = random.Random(0)
    with out.open("w") as file:
        for i in range(lines):
            path, number, condition = CONDITIONS[i * len(CONDITIONS) // lines]
            file.write(
                f"{path}:{number}: unknown: block: [{i // 128},0,0], thread: [{i % 128},0,0] "
                f"Assertion `index out of bounds: {condition}` failed.\n"
            )
            if i % NOISE_EVERY == NOISE_EVERY - 1:
                file.write(f"INFO 11-29 12:00:{i % 60:02} worker.py:88] step {i} loss {rnd.random():.4f}\n")


def make_stacks(out: Path, stacks: int) -> None:
    """Put the frames of recorded C++ stacks together anew, each time with other addresses and offsets."""
    rnd = random.Random(0)
    recorded = set()
    for path in sorted(FIXTURES.glob("*/run.log")):
        recorded |= {
            line.rstrip()
            for line in path.read_text(errors="replace").splitlines()
            if line.startswith("frame #")
        }
    frames = [re.sub(r"^frame #\d+: ", "", line) for line in sorted(recorded)]
    with out.open("w") as file:
        for i in range(stacks):
            file.write("CUDA error: device-side assert triggered\n")
            file.write(
                f"Exception raised from operator() at /pytorch/c10/cuda/CUDAException.cpp:{i} (most recent call first):\n"
            )
            for number in range(30):
                text = re.sub(r"0x[0-9a-f]{8,}", lambda _: f"{rnd.getrandbits(47):#x}", rnd.choice(frames))
                file.write(f"frame #{number}: {text}\n")


def make_wrapper(out: Path, kernels: int, seeds: Path = FAILING) -> str:
    """Give a recorded wrapper.cpp many more kernels, each launched once; return the name of the one that failed.

    The copies are copies of that kernel. Their names and their temporaries are numbered on, so that no copy has the
    same condition.
    """
    said = "".join(path.read_text(errors="replace") for path in seeds.glob("*.log"))
    for path in sorted(seeds.rglob("*.wrapper.cpp")):
        text = path.read_text()
        for kernel in re.finditer(r"^static inline void call_(triton_\w+)\($.*?^\}$", text, re.M | re.S):
            message = re.search(r'tl\.device_assert\(.*"(index out of bounds: .*)"\)', kernel[0])
            launch = re.search(rf"^ +call_{kernel[1]}\(.*\n", text[kernel.end() :], re.M)
            if message and message[1] in said and launch:
                start = text.rfind("\n\n", 0, kernel.start())  # its template line stands above
                body, call = text[start : kernel.end()], launch[0]
                split = kernel.end() + launch.end()
                with out.open("w") as file:
                    file.write(text[: kernel.end()])
                    file.writelines(numbered(body, kernel[1], k) for k in range(1, kernels))
                    file.write(text[kernel.end() : split])
                    file.writelines(numbered(call, kernel[1], k) for k in range(1, kernels))
                    file.write(text[split:])
                return kernel[1]
    raise SystemExit(f"no wrapper.cpp under {seeds} has a Triton kernel whose check failed in a log there")


def numbered(text: str, name: str, k: int) -> str:
    """Return the text of copy k."""
    text = text.replace(name, f"{name}{k:06}")
    return re.sub(r"\btmp(\d+)", lambda m: f"tmp{int(m[1]) + 100 * k}", text)


def main() -> None:
    """Make one input."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["trace", "storm", "stacks", "wrapper"])
    parser.add_argument("out", type=Path)
    parser.add_argument("size", type=int)
    parser.add_argument("--seeds", type=Path)
    parser.add_argument("--first", type=int, default=0, help="number of a trace's first copy; each differs")
    args = parser.parse_args()
    if args.what == "trace":
        make_trace(args.out, args.size, args.seeds or FIXTURES, args.first)
    elif args.what == "storm":
        make_storm(args.out, args.size)
    elif args.what == "stacks":
        make_stacks(args.out, args.size)
    else:
        print(make_wrapper(args.out, args.size, args.seeds or FAILING))


if __name__ == "__main__":
    main()

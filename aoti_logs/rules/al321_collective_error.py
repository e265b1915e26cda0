"""Processes of a group could not talk to each other, or called different things.

## What it says
NCCL's error code with what `Last error:` adds, the collectives that did not match, or the store or socket that failed.
It tells apart what this process did wrong (invalid usage, two ranks on one GPU, tensors of different sizes), what the
device did, and what follows from a peer that had ended.

## Why it matters
`NCCL error ... unhandled cuda error` is often no error of NCCL: the device had failed before. `ncclRemoteError`, `Connection
reset by peer` and `Broken pipe` mean that another process ended first. Its log holds the cause.

## Evidence it needs
The message. With `NCCL_DEBUG=WARN` NCCL says more in lines of its own, which are quoted.

## What to do
For an error of a peer, read the log of the rank that ended first. For a mismatch, compare what the ranks call. For an
unhandled CUDA error, look for an earlier error of the device, and run with `CUDA_LAUNCH_BLOCKING=1`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Link, Missing
from aoti_logs.parse.errors.collective import fingerprints, nccl_error
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.errors.collective import Fingerprint, NcclError
    from aoti_logs.rules.error_case import ErrorCase

_RESULTS = {
    "ncclUnhandledCudaError": "a call into CUDA failed inside of NCCL; the device may have failed before",
    "ncclSystemError": "a system call failed inside of NCCL (a socket, memory, a file)",
    "ncclInternalError": "NCCL found itself in a state that it does not expect",
    "ncclInvalidArgument": "NCCL was called with an argument that it does not take",
    "ncclInvalidUsage": "NCCL was used in a way that it does not allow, as two ranks on one GPU",
    "ncclRemoteError": "the peer of a connection had ended, or the network failed",
    "ncclInProgress": "an operation had not ended yet",
}
"""What NCCL's result codes mean, from nccl.h."""


@dataclass(frozen=True)
class _Text:
    kind: str
    title: str
    why: str
    pattern: re.Pattern[str]
    peer: bool = False
    waited: bool = False


_SIZES = re.compile(r"op\.preamble\.length <= op\.nbytes\. (?P<got>\d{1,18}) vs (?P<room>\d{1,18})")
_PEER = "that process had ended before: its own log tells why"
_TEXTS: tuple[_Text, ...] = (
    _Text(
        "gloo_error",
        "Gloo could not connect every rank with every other",
        "a rank did not come, or an address or interface is not reachable (GLOO_SOCKET_IFNAME)",
        re.compile(r"Gloo connectFullMesh failed"),
    ),
    _Text(
        "peer_closed",
        "a peer closed the connection",
        _PEER,
        re.compile(
            r"Connection (?:closed|reset) by peer|Broken pipe|Failed to recv, got 0 bytes|"
            r"Application timeout caused pair closure|Remote peer closed the connection"
        ),
        peer=True,
    ),
    _Text(
        "rendezvous_error",
        "the store could not listen on its port",
        "another process uses the port, often a run that has not ended",
        re.compile(r"server socket has failed to (?:listen|bind)|EADDRINUSE|[Aa]ddress already in use"),
    ),
    _Text(
        "rendezvous_error",
        "not all ranks came to the rendezvous in time",
        "a rank was not started, died before, or cannot reach the address",
        re.compile(
            r"Timed out after \d+ seconds waiting for clients|client socket has (?:failed to connect|timed out)"
        ),
    ),
    _Text(
        "rendezvous_error",
        "a rank waited in the store for what another had not written in time",
        "the other was late, had ended, or never came there: its own log tells which",
        re.compile(r"wait timeout after \d+ ?ms, keys|Socket Timeout"),
    ),
    _Text(
        "gloo_error",
        "a collective of Gloo did not end in time",
        "a rank did not join it, called another one first, or died",
        re.compile(r"Timed out waiting \d+ms for (?:send|recv) operation"),
        waited=True,
    ),
)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what a group of processes could not do."""
    text = case.error.text or case.error.message
    prints = fingerprints(text)
    if prints:
        return _mismatch(prints)
    sizes = _SIZES.search(text[:4000])
    if sizes is not None:
        return _sizes(case, sizes)
    nccl = nccl_error(text)
    if nccl is not None:
        return _nccl(case, nccl)
    known = next((t for t in _TEXTS if t.pattern.search(text[:4000])), None)
    if known is None or not _distributed(case, text):
        return None
    return ErrorTold(
        "AL321",
        known.kind,
        known.title,
        Confidence.UNKNOWN if known.peer else Confidence.PROVEN,
        because=(known.why,),
        facts={"peer_ended": known.peer, "waited": known.waited},
        missing=(Missing("why the peer ended", "the log of the rank that ended first"),)
        if known.peer
        else (),
    )


def _distributed(case: ErrorCase, text: str) -> bool:
    """Tell whether an error of a socket is one of a process group; programs have sockets of their own."""
    said = f"{case.error.exception_type or ''} {text[:2000]}"
    if re.search(
        r"Dist(?:Network|Store|Backend)Error|gloo|Gloo|TCPStore|c10d|waiting for clients|server socket", said
    ):
        return True
    return any("/torch/distributed/" in f.file.replace("\\", "/") for f in case.error.python_frames)


def _sizes(case: ErrorCase, found: re.Match[str]) -> ErrorTold:
    """Tell of a message that was longer than the memory for it, which Gloo finds in the middle of a collective."""
    got, room = int(found["got"]), int(found["room"])
    return ErrorTold(
        "AL321",
        "collective_mismatch",
        f"a rank received {got} bytes where it had asked for {room}: the ranks do not call the same collective with the "
        "same sizes",
        Confidence.LIKELY,
        because=(
            "Gloo compares the length of each message with what the receiver expects; it says neither tensor nor shape",
            "the bytes are those of one message: a collective is sent in parts",
        ),
        facts={"received_bytes": got, "expected_bytes": room, "backend": "gloo"},
        decide=("which collective each rank called, and with which shape",),
        missing=(Missing("what each rank called", "TORCH_DISTRIBUTED_DEBUG=DETAIL"),),
        experiments=(
            Experiment(
                case.command,
                (("TORCH_DISTRIBUTED_DEBUG", "DETAIL"),),
                "run",
                "every collective is then compared over all ranks before it runs: operation, shapes and dtypes are named",
                "torch.distributed reads it when the process group is made, and wraps the group",
                "every collective costs another one: not for production",
            ),
        ),
        doubt="a library may send messages of its own over the same connection",
    )


def _mismatch(prints: tuple[Fingerprint, ...]) -> ErrorTold:
    differ = sorted(
        {key for key, value in prints[0].fields for p in prints[1:] if dict(p.fields).get(key) != value}
    )
    shown = [
        f"rank {p.rank}: "
        + ", ".join(f"{k}={dict(p.fields).get(k)}" for k in ("OpType", *differ) if dict(p.fields).get(k))
        for p in prints
    ]
    facts: dict[str, Any] = {
        "differ": differ,
        "ranks": [{"rank": p.rank, **dict(p.fields)} for p in prints],
    }
    return ErrorTold(
        "AL321",
        "collective_mismatch",
        f"the ranks called different collectives: {'; '.join(dict.fromkeys(shown))}",
        Confidence.PROVEN,
        because=("TORCH_DISTRIBUTED_DEBUG=DETAIL compares what the ranks call before it runs",),
        facts=facts,
    )


def _nccl(case: ErrorCase, found: NcclError) -> ErrorTold:
    meaning = _RESULTS.get(found.result or "")
    remote = found.result == "ncclRemoteError" or "remote process exited" in found.what
    warned = [n for n in case.events.notes if n.kind == "nccl"]
    last = found.last or (dict(warned[0].facts)["text"] if warned else None)
    links = tuple(Link("nccl", dict(n.facts)["text"], n.span.place) for n in warned[:3])
    facts = {
        "nccl_error": found.result,
        "nccl_version": found.version,
        "last_error": last,
        "file": found.file,
        "line": found.line,
        "peer_ended": remote,
    }
    title = f"NCCL: {found.what}" + (f": {last}" if last else "")
    because = (meaning,) if meaning else ()
    return ErrorTold(
        "AL321",
        "nccl_error",
        title,
        Confidence.UNKNOWN if remote or found.result == "ncclUnhandledCudaError" else Confidence.PROVEN,
        because=because,
        links=links,
        facts=facts,
        missing=(Missing("why the peer ended", "the log of the rank that ended first"),) if remote else (),
        experiments=()
        if last
        else (
            Experiment(
                case.command,
                (("NCCL_DEBUG", "WARN"),),
                "run",
                "NCCL then says in a line of its own what it could not do",
                "NCCL reads it when the first communicator is made",
            ),
        ),
    )


RULE = Rule("AL321", "collective-error", __doc__ or "")

"""What launchers, log collectors and loggers put in front of a line, as patterns: the fast way of
`grammars/launcher_prefix.lark`, which names the programs.

A kind that `relays` stands before every line of a process and tells whose line it is; any other stands before the
first line of a message. A kind that is not `certain` is only believed where a whole log shows it
(`parse/logs/wrapping.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from aoti_logs.parse.logs.sender import Sender

_DATE = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = rb"(?:Z|[+-]\d\d:?\d\d)"
_UTC = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?" + _ZONE
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_SYSLOG_TIME = _MONTH + rb" [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
_LEVEL = rb"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|SUCCESS)"
_NAME = rb"[A-Za-z0-9][\w.-]{0,252}"
_IP = rb"(?:, ip=[0-9A-Fa-f.:]{2,45})?"
# What torch's own loggers print is read by `parse/logs/torch_logs.py`, with the time and level that stand before it.
_TORCH = (
    rb"(?![\s\-|:;,\[\](){}<>/=#*\d]{0,40}(?:(?:" + _LEVEL + rb"|\w{1,60}\.py|MainProcess|MainThread)"
    rb"[\s\-|:;,\[\](){}<>/=#*\d]{1,40}){0,3}torch\.(?:[a-z_][a-z0-9_]*\.){0,12}[a-z_][a-z0-9_]*(?![\w.(/]))"
)
_TORCH_OLD = rb"(?! ?(?:\[!?\d[\d/_]{0,40}\] )?[A-Za-z_][\w.]{0,300}: \[[A-Z]{4,8}\])"
_PARALLEL = rb"(?:(?: [A-Z]{2,4}(?:_[A-Z]{2})?\d{1,5}){1,6})?"
_EXCEPTION = rb"(?![\w.]{0,200}(?:Error|Exception|Interrupt|Failed|Unsupported|Exit|Warning|Timeout)\b)"


@dataclass(frozen=True)
class PrefixKind:
    """One kind of prefix: `first` are the bytes that it can begin with (empty: any)."""

    name: str
    pattern: bytes
    first: bytes = b""
    relays: bool = False
    certain: bool = True
    stamp: bool = False
    """Whether the rest of a logger's prefix (`- name - ERROR - `) may follow."""

    @cached_property
    def regex(self) -> re.Pattern[bytes]:
        """The pattern, compiled."""
        return re.compile(self.pattern)

    @cached_property
    def plain(self) -> bytes:
        """The pattern without groups that capture."""
        return re.sub(rb"\(\?P<\w+>", b"(?:", self.pattern)


_DIGITS = b"0123456789"
_MONTHS = b"JFMASOND"

_C10 = rb"\[[VIWEFC](?:\d{3,4} \d\d:| \w+\.\w+:\d)"

KINDS: tuple[PrefixKind, ...] = (
    # c10/util/Logging.cpp puts the rank before the first line of a message only: its further lines are of no rank's.
    PrefixKind("rank_of_c10", rb"\[rank(?P<rank>\d{1,7})\]:(?=" + _C10 + rb")", b"["),
    PrefixKind("rank", rb"\[rank(?:: )?(?P<rank>\d{1,7})\]:? ?(?!(?<=:)" + _C10 + rb")", b"[", relays=True),
    PrefixKind(
        "torchrun", rb"\[(?P<worker>(?:default|trainer|worker)(?P<rank>\d{1,7}))\]:(?: (?=\S))?", b"[", relays=True
    ),
    PrefixKind(
        "process",
        rb"\((?:(?P<worker>[^\s()][^()\n]{0,120}?(?:\([^()\n]{0,60}\)[^()\n]{0,60}?)?) )??"
        rb"(?:rank=(?P<rank>\d{1,7}) )?pid=(?P<process>\d{1,10})" + _IP + rb"\) ?",
        b"(",
        relays=True,
    ),
    PrefixKind(
        "ray", rb"\((?P<worker>raylet|(?:autoscaler|scheduler)(?= \+))(?: \+[\dhms.]{1,16})?" + _IP + rb"\) ?", b"(",
        relays=True,
    ),
    PrefixKind(
        "cri", rb"(?P<time>" + _UTC + rb") (?P<pipe>stdout|stderr) (?P<part>[FP])(?::\w{1,20})?(?: |$)", _DIGITS,
        relays=True,
    ),
    PrefixKind(
        "gitlab", rb"(?P<time>" + _UTC + rb") [0-9a-f]{2}(?P<pipe>[OE])(?P<part>\+| )", _DIGITS, relays=True
    ),
    PrefixKind(
        "journal_iso",
        rb"(?P<time>" + _UTC + rb") [\w.:-]{1,100} (?P<worker>[\w./@:+-]{1,100}?)(?:\[(?P<process>\d{1,10})\]|(?<=kernel)): ",
        _DIGITS,
        relays=True,
    ),
    PrefixKind("stamp", rb"(?P<time>" + _DATE + rb"(?:" + _ZONE + rb"|" + _TORCH + rb"))(?::? |\t|$)", _DIGITS, stamp=True),
    PrefixKind("stamp_us", rb"(?P<time>\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)" + _TORCH + rb"(?= - | " + _LEVEL + rb") ", _DIGITS, stamp=True),
    PrefixKind(
        "journal",
        rb"(?:<\d{1,3}>)?(?P<time>" + _SYSLOG_TIME + rb") [\w.:-]{1,100} (?P<worker>[\w./@:+-]{1,100}?)"
        rb"(?:\[(?P<process>\d{1,10})\])?: ",
        b"<" + _MONTHS,
        relays=True,
    ),
    PrefixKind(
        "syslog",
        rb"<\d{1,3}>1 (?P<time>" + _UTC + rb") \S{1,255} (?P<worker>\S{1,48}) (?:(?P<process>\d{1,10})|\S{1,128}) \S{1,32} "
        rb"(?:-|\[[^\]\n]{0,500}\])(?: |$)(?:\xef\xbb\xbf)?",
        b"<",
        relays=True,
    ),
    PrefixKind("kubectl", rb"\[pod/(?P<worker>" + _NAME + rb"/" + _NAME + rb")\](?: |$)", b"[", relays=True),
    PrefixKind(
        "mpirun",
        rb"(?:[A-Z][a-z]{2} " + _MONTH + rb" [ \d]\d \d\d:\d\d:\d\d \d{4})?\[(?:[\w.@-]{1,120}@)?\d{1,10},(?P<rank>\d{1,7})\]"
        rb"(?:\[[\w.:-]{1,100}\])?<(?P<pipe>stdout|stderr|stddiag)>:(?: (?=\S))?",
        b"[STMWF",
        relays=True,
    ),
    PrefixKind(
        "gh_run",
        rb"(?P<worker>[^\t\n]{1,200})\t[^\t\n]{1,200}\t(?:\xef\xbb\xbf)?(?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z(?: |$))",
        relays=True,
    ),
    PrefixKind("hydra", rb"\[(?P<time>" + _DATE + rb")\]" + _TORCH + rb"\[[\w.]{1,200}\]\[(?P<level>" + _LEVEL + rb")\] - ", b"["),
    PrefixKind(
        "bracket",
        rb"\[(?P<time>(?:" + _DATE + rb"|\d\d-\d\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d)" + _ZONE + rb"?)(?P<parallel>" + _PARALLEL
        + rb")\]" + _TORCH_OLD + _TORCH + rb"(?: |$)",
        b"[",
        stamp=True,
    ),
    PrefixKind(
        "vllm",
        rb"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) +(?P<time>\d\d-\d\d \d\d:\d\d:\d\d) \[?[\w./-]{1,200}\.py:\d{1,7}\](?: |$)?",
        b"DIWEC",
    ),
    PrefixKind("transformers", rb"\[(?P<level>" + _LEVEL + rb")\|[\w./-]{1,200}:\d{1,7}\] (?P<time>" + _DATE + rb") >> ", b"["),
    PrefixKind("box", rb"(?:\xe2\x94\x82|\xe2\x94\x83|\xe2\x95\x91)(?: |$)?", b"\xe2"),
    PrefixKind("fence", rb"(?:```|~~~)[\w+-]{0,20}[ \r]{0,9}$", b"`~"),
    PrefixKind("mark", rb"\xef\xbb\xbf", b"\xef"),
    # Only where a whole log shows it:
    PrefixKind("quote", rb"(?!>>>(?: |$))>(?:>| >){0,9}(?: |$)", b">", certain=False),
    PrefixKind("srun", rb" {0,5}(?P<rank>\d{1,6}):(?: |$)", b" " + _DIGITS, relays=True, certain=False),
    PrefixKind("mpiexec", rb"\[(?P<rank>\d{1,7})\](?: |$)", b"[", relays=True, certain=False),
    PrefixKind("numbered", rb"(?: {0,5}\d{1,6}:|\[\d{1,7}\]| {0,5}\d{1,6}(?= )|\d{1,6}$)(?: |$)", b"[ " + _DIGITS, certain=False),
    PrefixKind("compose", rb"(?P<worker>" + _NAME + rb"?) {1,80}\|(?: |$)", relays=True, certain=False),
    PrefixKind(
        "stern", rb"(?P<worker>[a-z0-9][a-z0-9.-]{0,230}-[a-z0-9]{1,10} [a-z0-9][a-z0-9-]{0,62}) ", relays=True, certain=False
    ),
    PrefixKind("host", rb"(?P<worker>" + _NAME + rb"):(?: |$)", relays=True, certain=False),
    PrefixKind("tee", rb"\[(?P<worker>[A-Za-z_][\w.-]{0,60}?(?P<rank>\d{1,7}))\]:(?: (?=\S))?", b"[", relays=True, certain=False),
    PrefixKind("clock", rb"(?P<time>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: {1,2}|$)", _DIGITS, certain=False, stamp=True),
    PrefixKind("ts", rb"(?P<time>" + _SYSLOG_TIME + rb")(?: |$)", _MONTHS, certain=False, stamp=True),
    PrefixKind("kernel", rb"\[ {0,6}(?P<time>\d{1,8}\.\d{6})\](?: |$)", b"[", certain=False),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}

REST = PrefixKind(
    "rest",
    rb"(?:"
    rb"\| *" + _LEVEL + rb" *\| +[\w.<>-]{1,200}:[\w.<>-]{1,100}:\d{1,7} - "
    rb"|\| *" + _LEVEL + rb" *\| *[\w.]{1,200} *[|:] ?"
    rb"|(?:- )?[\w.:/<>-]{1,200} - " + _LEVEL + rb" - "
    rb"|- " + _LEVEL + rb" - (?:" + _EXCEPTION + rb"\w{0,200}[._][\w.]{0,200} - |root - )?"
    rb"|\[" + _LEVEL + rb" {0,2}\] W-[\w.-]{1,200}-std(?:out|err) [\w.]{1,200} - "
    rb"|\[" + _LEVEL + rb"\] \[[\w./-]{1,200}\.py:\d{1,7}:[\w<>.]{1,100}\] ?"
    rb"|\[" + _LEVEL + rb"\]:? (?:\[?" + _EXCEPTION + rb"[\w.]{1,200}\]?: )?"
    rb"|" + _LEVEL + rb" {1,9}\[?[\w./-]{1,200}\.py:\d{1,7}\]?:? (?:- )?"
    rb"|" + _LEVEL + rb":? {1,9}(?:\[[\w.]{1,200}\] |" + _EXCEPTION + rb"[A-Za-z_][\w.]{0,200}: )?"
    rb"|##\[(?:error|warning|debug|group|command|section|notice)\]"
    rb"|(?=))",
)
"""What a logger's format puts between the time and the message; a mark of GitHub Actions; always fits."""
LEVEL_OF_REST = re.compile(rb"(?<![\w.:/-])" + _LEVEL + rb"(?![\w.:/-])|" + _LEVEL + rb"(?=: )")
"""The level in it."""
NO_REST = rb"(?! ?(?:[-|]|##\[|\[?" + _LEVEL + rb"\b|[\w.:/<>-]{1,200} - " + _LEVEL + rb"))"
"""Says of what follows a time that it is no rest of a logger's prefix."""

ANSI = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[*(+)][0-9A-Za-z]|[=>78cDEHMNOZ])"
)
"""Control sequences of terminals: colours and cursor, titles and links (OSC), Buildkite's times (APC), charsets."""
_REPEATED = re.compile(
    rb" ?\[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs by default\.[^\n]*)?$"
)
_BARS = (b"\xe2\x94\x82", b"\xe2\x94\x83", b"\xe2\x95\x91")


def tail_of(kind: str, text: bytes, start: int) -> int:
    """Return where what a kind of prefix also puts at the end of a line begins: a border, Ray's count."""
    bare = text.rstrip(b" \r")
    if kind == "box" and bare.endswith(_BARS):
        return max(len(bare[:-3].rstrip(b" ")), start)
    if kind == "process" and b"x across cluster]" in bare and (found := _REPEATED.search(bare, start)):
        return found.start()
    return len(text)


_TENSOR_PARALLEL = re.compile(r"(?:^|[ _])TP(\d{1,5})")
_OTHER_PARALLEL = re.compile(r"(?:^|[ _])(?:DP|PP)\d")


def sender_of(kind: PrefixKind, found: re.Match[bytes]) -> Sender:
    """Return what a prefix tells."""
    groups = {k: v.decode("utf-8", "replace") for k, v in found.groupdict().items() if v is not None}
    rank, worker = groups.get("rank"), groups.get("worker")
    parallel = groups.get("parallel") or (worker if kind.name == "process" else None)
    if (
        rank is None
        and parallel
        and (one := _TENSOR_PARALLEL.search(parallel))
        and not _OTHER_PARALLEL.search(parallel)
    ):
        rank = one[1]  # the only axis: it counts the processes
    pipe = groups.get("pipe")
    return Sender(
        rank=int(rank) if rank is not None else None,
        worker=worker,
        process=int(groups["process"]) if "process" in groups else None,
        pipe={"O": "stdout", "E": "stderr"}.get(pipe, pipe) if pipe else None,
        time=groups.get("time"),
        level=groups.get("level"),
    )

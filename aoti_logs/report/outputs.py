"""The files of one tlparse report, as `compile_directory.json` lists them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.records.envelope import decode_json
from aoti_logs.report.mend import plain_name

if TYPE_CHECKING:
    from pathlib import Path

    from aoti_logs.records.trace import TraceRecord

_NUMBERED = re.compile(r"(?s)(.*)_(\d+)(?:\.(?:txt|json|html))?")
_KEY = re.compile(r"\[(?:!\d+/)?(?:\d+|-)/(?:\d+|-)(_\d+)?\]")
_EVAL = re.compile(r"<eval_with_key>\.([0-9]+)")
_LARGEST = 256 << 20

NAMED = frozenset(
    {
        "optimize_ddp_split_graph",
        "compiled_autograd_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "aot_inference_graph",
        "aot_joint_graph",
        "inductor_post_grad_graph",
        "inductor_pre_grad_graph",
        "dynamo_cpp_guards_str",
        "dynamo_output_graph",
        "dynamo_guards",
        "exported_program",
        "compilation_metrics",
        "bwd_compilation_metrics",
        "aot_autograd_backward_compilation_metrics",
        "artifact",
        "graph_dump",
        "inductor_output_code",
        "optimize_ddp_split_child",
        "dump_file",
    }
)
"""Entries of which tlparse 0.4.3 writes a file."""


@dataclass(frozen=True)
class Output:
    """A file that tlparse wrote for a record.

    Attributes:
        key: compile id as tlparse displays it, `[0/1]`.
        stem: the file's name without number and suffix.
        number: position among all files of the report.
        url: path relative to the report.
    """

    key: str
    stem: str
    number: int
    url: str


def read_outputs(folder: Path) -> tuple[list[Output], set[str]]:
    """Return the files of a report and the compile ids that its index lists; both empty when unreadable."""
    path = folder / "compile_directory.json"
    try:
        if path.stat().st_size > _LARGEST:
            return [], set()
        listed = decode_json(path.read_bytes())
    except (OSError, ValueError):
        return [], set()
    outputs = []
    keys = set()
    for key, entry in listed.items() if isinstance(listed, dict) else ():
        keys.add(key)
        artifacts = entry.get("artifacts") if isinstance(entry, dict) else None
        for artifact in artifacts if isinstance(artifacts, list) else ():
            output = _output(key, artifact)
            if output is not None:
                outputs.append(output)
    return sorted(outputs, key=lambda output: output.number), keys


def _output(key: str, artifact: Any) -> Output | None:
    if not isinstance(artifact, dict):
        return None
    url, number = artifact.get("url"), artifact.get("number")
    if not isinstance(url, str) or type(number) is not int or "://" in url or "/" not in url:
        return None  # a link to elsewhere
    folder, _, file = url.partition("/")
    if folder == "dump_file":
        return Output(key, f"dump_file/{file}", number, url)
    found = _NUMBERED.fullmatch(file)
    return Output(key, found[1], number, url) if found else None


def display_key(envelope: dict[str, Any]) -> str:
    """Return a record's compile id as tlparse displays it; records without an attempt count as attempt 0."""
    autograd, frame, number, attempt = (
        envelope.get(key) for key in ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")
    )
    if any(n is not None and type(n) is not int for n in (autograd, frame, number, attempt)):
        return "unknown"
    text = f"{'-' if frame is None else frame}/{'-' if number is None else number}"
    text = text if autograd is None else f"!{autograd}/{text}"
    return f"[{text}_{attempt}]" if attempt else f"[{text}]"


def without_attempt(key: str) -> str:
    """Return the key of attempt 0."""
    found = _KEY.fullmatch(key)
    return key.replace(found[1], "") if found and found[1] else key


def stems(record: TraceRecord) -> list[str]:
    """Return the stems of the files that tlparse writes for a record; empty when it writes none."""
    found = []
    for name, metadata in record.envelope.items():
        if name not in NAMED:
            continue
        entry = metadata if isinstance(metadata, dict) else {}
        own = entry.get("name")
        own = plain_name(own) if isinstance(own, str) else ""
        if name in {"artifact", "graph_dump"}:
            found.append(own)
        elif name == "optimize_ddp_split_child":
            found.append(f"{name}_{own}")
        elif name == "dump_file":
            key = _EVAL.search(str(entry.get("name")))
            found.append(f"dump_file/eval_with_key_{key[1]}.html" if key else f"dump_file/{own}.html")
        elif name == "inductor_output_code":
            file = entry.get("filename")
            stem = _stem(plain_name(file.rpartition("/")[2])) if isinstance(file, str) else ""
            found.append(f"{name}_{stem}" if stem else name)
        else:
            found.append(name)
    return found


def _stem(file: str) -> str:
    """Return a name without its last suffix, as Rust's `file_stem` does."""
    before, dot, _ = file.rpartition(".")
    return before if dot and before else file

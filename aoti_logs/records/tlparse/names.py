"""Records out of names of files, where `raw.jsonl` is missing or does not tell of a file.

A folder's name is the compile id, a file's name the entry's or artifact's own and a number that counts up in
the order of the trace (`add_unique_suffix` in `src/lib.rs` of tlparse 0.4.3). Nothing else is known.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aoti_logs.records import envelope as _envelope
from aoti_logs.records.tlparse.entry import Entry
from aoti_logs.records.tlparse.page import code_of
from aoti_logs.records.tlparse.payloads import code_stem, number_of, whole
from aoti_logs.sources.report_files import COMPILE_FOLDER, NUMBERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.sources.source import Source

# `default_parsers` of tlparse: entries whose name is the file's. Any other name is an artifact's or a dump's.
_ENTRIES = frozenset(
    {
        "optimize_ddp_split_graph",
        "compiled_autograd_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "aot_inference_graph",
        "aot_joint_graph",
        "inductor_pre_grad_graph",
        "dynamo_cpp_guards_str",
        "dynamo_output_graph",
        "exported_program",
    }
)
_DUMPS = frozenset(
    {"inductor_aot_wrapper_code", "inductor_aot_kernel_code", "inductor_aot_header_code", "inductor_aot_code"}
)
_CHILD = "optimize_ddp_split_child_"
_ID_KEYS = ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")


def named_entry(path: str, source: Source) -> Entry | None:
    """Return the record whose payload a file is; None where its name does not tell."""
    folder, _, name = path.partition("/")
    ids, found = COMPILE_FOLDER.fullmatch(folder), NUMBERED.fullmatch(name)
    if ids is None or found is None:
        return None
    payload = code_of(source) if found[4] == "html" else whole(source)
    envelope = _entry(found[1], found[4], code_stem(path))
    envelope.update(
        {key: int(part) for key, part in zip(_ID_KEYS, ids.groups(), strict=True) if part not in {None, "-"}}
    )
    return Entry(envelope, source, 0, source.size, 1, payload=payload) if payload is not None else None


def _entry(name: str, ending: str, stem: str | None) -> dict[str, Any]:
    if name in _ENTRIES:
        return {name: {}}
    if name in _DUMPS:
        return {"graph_dump": {"name": name, "type": "cpp"}}
    if stem is not None:
        return {"inductor_output_code": {"filename": f"{stem}.py"} if stem else {}}
    if name.startswith(_CHILD):
        return {"optimize_ddp_split_child": {"name": name.removeprefix(_CHILD)}}
    return {"artifact": {"name": name, "encoding": "json" if ending == "json" else "string"}}


def links(directory: Source) -> Iterator[tuple[int, Entry]]:
    """Yield the links of a `compile_directory.json` with their numbers. They are told of, not followed."""
    raw = bytes(directory.data)
    try:
        value = _envelope.decode_json(raw)
    except ValueError:
        return
    for listed in value.values() if isinstance(value, dict) else ():
        files = listed.get("artifacts") if isinstance(listed, dict) else None
        for file in files if isinstance(files, list) else ():
            url, name, number = (
                (file.get(key) for key in ("url", "name", "number"))
                if isinstance(file, dict)
                else (None,) * 3
            )
            if not (isinstance(url, str) and isinstance(name, str) and isinstance(number, int)):
                continue
            if number_of(url) == number and NUMBERED.fullmatch(url.rpartition("/")[2]):
                continue
            at = max(raw.find(json.dumps(url, ensure_ascii=False).encode("utf-8", "replace")), 0)
            line = directory.line_at(at)
            yield number, Entry({"link": {"name": name, "url": url}}, directory, at, at, line)


def named_entries(files: Mapping[str, Source], paths: list[str], directory: Source | None) -> Iterator[Entry]:
    """Yield the records that names tell of, in the order of their numbers.

    Args:
        files: of the report.
        paths: those of them to tell of.
        directory: `compile_directory.json`, for the links that only it has.
    """
    numbered = [
        (number_of(path), entry) for path in paths if (entry := named_entry(path, files[path])) is not None
    ]
    numbered += links(directory) if directory is not None else ()
    yield from (entry for _, entry in sorted(numbered, key=lambda item: item[0]))

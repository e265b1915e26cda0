"""What provenance tracking wrote: Python stacks and graph nodes of each kernel launch, node to node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.parse.facts import KernelOrigin, NodeMapping
from aoti_logs.parse.python.stack_text import frames_of_stack, is_library, user_frame
from aoti_logs.parse.text import json_object

if TYPE_CHECKING:
    from aoti_logs.sources.source import Place, Source

__all__ = ["frames_of_stack", "is_library", "kernel_origins", "node_mapping", "split_key", "user_frame"]

_Names = tuple[tuple[str, tuple[str, ...]], ...]


def kernel_origins(source: Source) -> tuple[KernelOrigin, ...]:
    """Read kernel_information.json or `inductor_provenance_tracking_kernel_stack_traces`.

    The first has an object a kernel (`stack_traces`, `post_grad_nodes`, `pre_grad_nodes`, more in
    later versions), the second a list of stacks. Source: torch/_inductor/debug.py, torch 2.9+.
    """
    origins = []
    finder = _Finder(source)
    for key, value in json_object(source).items():
        kernel, handle = split_key(key)
        told = value if isinstance(value, dict) else {"stack_traces": value}
        origins.append(
            KernelOrigin(
                kernel=kernel,
                handle=handle,
                stacks=_texts(told.get("stack_traces")),
                pre_grad_nodes=_texts(told.get("pre_grad_nodes")),
                post_grad_nodes=_texts(told.get("post_grad_nodes")),
                place=finder.place(key),
                source=source,
            )
        )
    return tuple(origins)


def node_mapping(source: Source) -> NodeMapping | None:
    """Read `inductor_provenance_tracking_node_mappings`, and the split maps of torch before 2.8.

    Those are `inductor_triton_kernel_to_post_grad_nodes` (kernel to names) and
    `inductor_post_to_pre_grad_nodes` (name to a list of objects, each with its own `from_node`).
    """
    table = json_object(source)
    if not table:
        return None
    place = source.place(1)
    if any(key in table for key in ("preToPost", "postToPre", "cppCodeToPost", "postToCppCode")):
        pre = _mapping(table.get("preToPost")) or _turned(_mapping(table.get("postToPre")))
        kernels = _mapping(table.get("cppCodeToPost")) or _turned(_mapping(table.get("postToCppCode")))
        return NodeMapping(pre, kernels, place, source)
    if any(isinstance(v, list) and v and isinstance(v[0], dict) for v in table.values()):
        post = {key: _ancestors(value) for key, value in table.items()}
        return NodeMapping(_turned(tuple(post.items())), (), place, source)
    return NodeMapping((), _mapping(table), place, source)


def split_key(key: str) -> tuple[str, int | None]:
    """Return kernel and debug handle: `at::_ops::sort_stable::call:3` is (`at::_ops::sort_stable::call`, 3)."""
    kernel, colon, handle = key.rpartition(":")
    if (
        colon
        and handle.isascii()
        and handle.isdecimal()
        and len(handle) < 19
        and kernel[-1:] not in {"", ":"}
    ):
        return kernel, int(handle)
    return key, None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _mapping(value: object) -> _Names:
    if not isinstance(value, dict):
        return ()
    return tuple((str(key), _texts(names)) for key, names in value.items())


def _turned(mapping: _Names) -> _Names:
    turned: dict[str, list[str]] = {}
    for key, names in mapping:
        for name in names:
            turned.setdefault(name, []).append(key)
    return tuple((key, tuple(dict.fromkeys(names))) for key, names in turned.items())


def _ancestors(value: Any) -> tuple[str, ...]:
    """Return the names of the oldest nodes that a node came from."""
    oldest: dict[str, None] = {}
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(reversed(node))
        elif isinstance(node, dict):
            older = node.get("from_node")
            if isinstance(older, list) and older:
                todo.extend(reversed(older))
            elif isinstance(node.get("name"), str) and node["name"]:
                oldest[node["name"]] = None
    return tuple(oldest)


class _Finder:
    """Finds the line of each key, walking the file once from top to bottom."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def place(self, key: str) -> Place:
        import json

        found = self._source.data.find(json.dumps(key).encode() + b":", self._at)
        if found < 0:
            return self._source.place(1)
        self._at = found
        return self._source.place(self._source.line_at(found))

"""What the JSON files of a package say. They come from strangers: any field may be of any type, or not there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.code.packages.file import FileRole
from aoti_logs.parse.text import json_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.code.packages.file import PackageFile
    from aoti_logs.sources.source import Source

_DEVICE = "AOTI_DEVICE_KEY"
_TORCHS_OWN = frozenset({_DEVICE, "AOTI_PLATFORM", "AOTI_MACHINE", "AOTI_CPU_ISA", "AOTI_COMPUTE_CAPABILITY"})
_LONGEST = 10_000


@dataclass(frozen=True)
class Metadata:
    """What a model was compiled for (`*_metadata.json`): keys of torch (`AOTI_...`), and what the user added.

    `disagreements` are (key, value in the wrapper's file, value in the kernels' file) where the two files of torch 2.7 and later
    differ; torch writes the same into both and loads either. `read` and `unreadable` name the files.
    """

    values: dict[str, str] = field(default_factory=dict)
    disagreements: tuple[tuple[str, str | None, str | None], ...] = ()
    read: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def device(self) -> str | None:
        """Device type: `cpu`, `cuda`, `xpu`, `mps`."""
        return self.values.get(_DEVICE)

    @property
    def platform(self) -> str | None:
        """Operating system, `linux`; torch 2.10 and later."""
        return self.values.get("AOTI_PLATFORM")

    @property
    def machine(self) -> str | None:
        """Processor family, `x86_64`; torch 2.10 and later."""
        return self.values.get("AOTI_MACHINE")

    @property
    def cpu_isa(self) -> str | None:
        """Vector instructions, `AVX512 AVX512_VNNI`; torch 2.10 and later."""
        return self.values.get("AOTI_CPU_ISA")

    @property
    def compute_capability(self) -> str | None:
        """Compute capability of the GPU, `90`; empty on a CPU; torch 2.10 and later."""
        return self.values.get("AOTI_COMPUTE_CAPABILITY")

    @property
    def user(self) -> dict[str, str]:
        """What the user added (`aot_inductor.metadata`)."""
        return {k: v for k, v in self.values.items() if k not in _TORCHS_OWN}


def is_whole(file: PackageFile) -> bool:
    """Tell whether a JSON file could be read to its end; one that lists nothing is `{}`."""
    if file.source is None:
        return False
    return bool(json_object(file.source)) or file.source.cut(0, 100).split() in (["{}"], ["{", "}"])


def metadata(files: Iterable[PackageFile]) -> Metadata:
    """Return what the metadata files of a model say."""
    told: list[tuple[PackageFile, dict[str, str]]] = []
    unreadable = []
    for file in files:
        values = {} if file.source is None else json_object(file.source)
        if not values:
            unreadable.append(file.name)
            continue
        told.append((file, {k: _text(v) for k, v in values.items()}))
    told.sort(key=lambda t: t[0].base.endswith(".kernel_metadata.json"))
    if not told:
        return Metadata(unreadable=tuple(unreadable))
    first = told[0][1]
    differ: tuple[tuple[str, str | None, str | None], ...] = ()
    if len(told) > 1:
        other = told[-1][1]
        keys = dict.fromkeys([*first, *other])
        differ = tuple((k, first.get(k), other.get(k)) for k in keys if first.get(k) != other.get(k))
    return Metadata(first, differ, tuple(f.name for f, _ in told), tuple(unreadable))


@dataclass(frozen=True)
class ExternNode:
    """An operator that the proxy executor calls: what the wrapper's `aoti_torch_proxy_executor_call_function` names by `index`."""

    index: int
    name: str | None
    target: str | None
    """The operator, `demo::mix`."""


def extern_nodes(source: Source) -> tuple[ExternNode, ...]:
    """Return the operators that a `*.wrapper.json` lists (`torch/_inductor/extern_node_serializer.py`)."""
    listed = json_object(source).get("nodes")
    if not isinstance(listed, list):
        return ()
    found = []
    for index, entry in enumerate(listed):
        entry = entry if isinstance(entry, dict) else {}  # noqa: PLW2901 what is no object says nothing
        node = entry.get("node")
        target = node.get("target") if isinstance(node, dict) else None
        found.append(ExternNode(index, _string(entry.get("name")), _string(target)))
    return tuple(found)


@dataclass(frozen=True)
class StoredTensor:
    """A tensor that is a file of the package, as a config says.

    `file` is its name in `data/weights` or `data/constants` (`folder`). `shape`, `stride` and `offset` (in elements) say which part
    of it the tensor is; None where the config does not. `pickled`: the file is a pickle of torch.save, else raw bytes.
    """

    fqn: str
    folder: str
    file: str | None
    shape: tuple[int, ...] | None
    stride: tuple[int, ...] | None
    offset: int | None
    pickled: bool
    source: Source
    kind: str | None = None
    """`parameter`, `buffer` or `constant`, where an exported program's config tells."""

    @property
    def path(self) -> str | None:
        """Where the file stands in the package."""
        return None if self.file is None else f"{self.folder}{self.file}"


def stored_weights(source: Source) -> tuple[StoredTensor, ...]:
    """Return the weights in a model's `weights_config.json`: `{"emb.weight": ["weight_0", [10, 4], [4, 1], 0]}`."""
    found = []
    for fqn, entry in json_object(source).items():
        parts = entry if isinstance(entry, list) else []
        file, shape, stride, offset = (*parts, None, None, None, None)[:4]
        found.append(
            StoredTensor(
                fqn,
                "data/weights/",
                _string(file),
                _numbers(shape),
                _numbers(stride),
                _number(offset),
                True,
                source,
            )
        )
    return tuple(found)


def stored_payloads(source: Source, role: FileRole) -> tuple[StoredTensor, ...]:
    """Return the tensors in an exported program's config (`PayloadConfig` of `torch/_export/serde/schema.py`)."""
    weights = role is FileRole.WEIGHTS_CONFIG
    listed = json_object(source).get("config")
    found = []
    for fqn, entry in listed.items() if isinstance(listed, dict) else ():
        entry = entry if isinstance(entry, dict) else {}  # noqa: PLW2901 what is no object says nothing
        told = entry.get("tensor_meta")
        told = told if isinstance(told, dict) else {}
        kind = "constant" if not weights else "parameter" if entry.get("is_param") is True else "buffer"
        found.append(
            StoredTensor(
                fqn,
                "data/weights/" if weights else "data/constants/",
                _string(entry.get("path_name")),
                _sizes(told.get("sizes")),
                _sizes(told.get("strides")),
                _size(told.get("storage_offset")),
                entry.get("use_pickle") is True,
                source,
                kind,
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class CustomObject:
    """An object of a C++ class: its name among the constants, and its file in `data/constants`."""

    name: str
    file: str | None
    source: Source


def custom_objects(source: Source) -> tuple[CustomObject, ...]:
    """Return the objects in a model's `custom_objs_config.json`: `{"_torchbind_obj0": "custom_obj_0"}`."""
    return tuple(CustomObject(name, _string(file), source) for name, file in json_object(source).items())


def program_version(source: Source) -> str | None:
    """Return the torch that saved an exported program (`torch_version` in its JSON)."""
    version = _string(json_object(source).get("torch_version"))
    return version if version and version[:1].isdigit() and len(version) < 60 else None


def _string(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) else None


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else str(value))[:_LONGEST]


def _number(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and -(2**63) <= value < 2**63 else None


def _numbers(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    found = [_number(v) for v in value]
    return tuple(n for n in found if n is not None) if None not in found else None


def _size(value: Any) -> int | None:
    return _number(value.get("as_int")) if isinstance(value, dict) else None


def _sizes(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    found = [_size(v) for v in value]
    return tuple(n for n in found if n is not None) if None not in found else None

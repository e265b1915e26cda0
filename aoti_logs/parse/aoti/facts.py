"""What the texts of the AOTInductor runtime, its shims and its package loader say, one type a kind of text.

`parse/aoti/text.py` makes them; rules only read them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputMismatch:
    """A check of an input or output handle that failed.

    `attribute` is `dtype`, `size`, `stride` or `device type`; `dim` the dimension of a size or stride.
    `expected` and `got` are names of dtypes and devices, or numbers; `relation` is `==`, `>=` or `<=`.
    """

    handles: str
    """`input` or `output`."""
    index: int
    attribute: str
    dim: int | None
    relation: str
    expected: int | str
    got: int | str

    @property
    def expected_value(self) -> int | str:
        """What was expected: a name, a number, or a limit as `>= 2`."""
        return self.expected if self.relation == "==" else f"{self.relation} {self.expected}"


@dataclass(frozen=True)
class CountMismatch:
    """The number of tensors that a model was given; `what` is `inputs` or `outputs`."""

    what: str
    expected: int
    got: int


@dataclass(frozen=True)
class DimLayout:
    """One dimension of a layout that does not fit: what the tensor has, what the code was compiled for."""

    dim: int
    size: int
    expected_size: int
    stride: int
    expected_stride: int


@dataclass(frozen=True)
class LayoutMismatch:
    """An `assert_size_stride` that failed: another rank (`ndim`, `expected_ndim`), or other sizes and strides.

    `op` is `input` for an input of the model, else the operator whose result it is.
    """

    ndim: int | None
    expected_ndim: int | None
    dims: tuple[DimLayout, ...]
    op: str | None


@dataclass(frozen=True)
class ScalarAssert:
    """A condition on a size that is known when the model runs; `value` is that of one of its operands."""

    condition: str
    value: str


@dataclass(frozen=True)
class FailedCall:
    """`NAME(ARGUMENTS) API call failed at FILE, line N`, of generated code or of the runner."""

    name: str
    arguments: tuple[str, ...]
    file: str
    line: int

    @property
    def is_runner(self) -> bool:
        """True for an entry point of the model that the runner calls (`run_func_`)."""
        return self.name.endswith("_func_")

    @property
    def phase(self) -> str | None:
        """What the runner was doing: `load`, `run`, `update`, `constant_folding`, `query`, `unload`; None for a shim."""
        if not self.is_runner:
            return None
        for words, phase in _PHASES:
            if words in self.name:
                return phase
        return "query"

    @property
    def operator(self) -> str | None:
        """The operator of a shim call (`aoti_torch_cpu_addmm_out` is `addmm`); None for what is no operator."""
        return operator_of(self.name)


_PHASES = (
    ("create", "load"),
    ("delete", "unload"),
    ("run_const_fold", "constant_folding"),
    ("update", "update"),
    ("swap", "update"),
    ("free_inactive", "update"),
    ("run", "run"),
)
_SHIM = "aoti_torch_"
_DEVICES = ("cpu_", "cuda_", "xpu_", "mps_", "mtia_", "hpu_", "privateuse1_", "aten_", "mkldnn_", "meta_")
_NO_OPERATORS = (
    "get_", "delete_", "empty_strided", "create_", "check", "proxy_executor", "new_", "device_", "dtype_", "item_",
    "print_", "save_", "warn", "set_", "call_", "memory_", "assign_", "is_", "clone_preserve_strides", "grad_mode",
    "alloc", "scalar_to",
)  # fmt: skip


def operator_of(shim: str) -> str | None:
    """Return the ATen operator that a C shim stands for, None for a shim that only handles tensors."""
    if not shim.startswith(_SHIM):
        return None
    name = shim.removeprefix(_SHIM)
    if name.startswith(_NO_OPERATORS):
        return None
    device = next((d for d in _DEVICES if name.startswith(d)), "")
    name = name.removeprefix(device)
    return (name.removesuffix("_out") if len(name) > len("_out") else name) or None


@dataclass(frozen=True)
class ShimException:
    """What a C shim logged when its operator raised, `[E520 19:20:12.156885067 shim_common.cpp:311] ...`.

    `process` is the thread's number, which only glog prints. `cause` is what the exception's text says, taken
    apart.
    """

    level: str
    month: int
    day: int
    time: str
    file: str
    line: int
    process: int | None = None
    cause: object | None = None


@dataclass(frozen=True)
class DlopenError:
    """A shared library that could not be loaded, or has not a symbol that was asked for.

    `library` is the file that the loader names; `needed` the library that it needed and that is at fault;
    `version` a version of a symbol that is missing (`GLIBC_2.38`).
    """

    library: str | None
    reason: str
    undefined_symbol: str | None = None
    needed: str | None = None
    version: str | None = None
    program: str | None = None


@dataclass(frozen=True)
class PackageError:
    """A package that could not be opened.

    `problem`: `zip`, `no_code`, `file`, `metadata`, `several_libraries`, `no_model`, `directory`, `extract`,
    `build`, `no_device`, `version`, `member`, `json`, `usage`, `no_proxy`, `library`.
    """

    problem: str
    reason: str | None = None
    model_name: str | None = None
    available_models: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    """Members of the archive, where the text lists them."""
    file: str | None = None
    """The file that is not there, or that could not be written."""


@dataclass(frozen=True)
class ConstantError:
    """A weight, buffer or folded constant that does not fit the model.

    `problem`: `missing` (of a full update), `unknown` (the model has none of this name), `not_provided` (a
    warning), `device`, `usage`, `blob` (embedded or mapped weights), `state`, `folding`, `symbol`.
    """

    problem: str
    name: str | None = None
    got: str | None = None
    expected: str | None = None


@dataclass(frozen=True)
class DeviceError:
    """A model for one device and tensors, a build or a machine of another.

    `problem`: `constants` (compiled for another device), `no_runner` (this build has none for the package's
    device), `not_built`, `invalid`, `runner`, `host_memory`, `out_tensor`, `operands`.
    """

    problem: str
    device: str | None = None
    """Where the text names one: of the package, or that was expected."""
    got: str | None = None
    constant: str | None = None


@dataclass(frozen=True)
class ImageError:
    """A kernel image that the driver refused or did not find; `platform` is `CUDA`, `HIP` or `XPU`."""

    platform: str
    source: str
    """Who says so: `driver`, `runtime` or `triton`."""
    reason: str


@dataclass(frozen=True)
class ProxyError:
    """An operator that the proxy executor cannot call.

    `problem`: `argument`, `result`, `unsupported`, `object`, `outputs`, `schema`, `consumed`, `other`.
    """

    problem: str
    operator: str | None = None
    argument: int | None = None
    expected: str | None = None
    got: str | None = None


@dataclass(frozen=True)
class VersionMismatch:
    """A name that one library looks for in another and does not find."""

    object: str
    attributes: tuple[str, ...]

    @property
    def of_triton(self) -> bool:
        """True when Triton is where the name was looked for."""
        return self.object.startswith("triton") or self.object.endswith("CompiledKernel")


@dataclass(frozen=True)
class RuntimeFault:
    """Any other text of the runtime; `problem` names what it is about."""

    problem: str


@dataclass(frozen=True)
class UnalignedInput:
    """An input that does not begin at a multiple of `alignment` bytes, as the code expects: it is copied."""

    index: int
    alignment: int


@dataclass(frozen=True)
class DeviceInformation:
    """A package made on another platform, machine or device; torch only warns."""

    key: str
    current: str
    package: str

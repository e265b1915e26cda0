"""The kernels of a C++ wrapper, found by their starts and read one by one, and what a call of one is bound to."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import cpp_kernel_at, cpp_params, quoted, triton_kernel
from aoti_logs.code.model import Backend, Kernel, Launcher
from aoti_logs.code.wrapper.bind import LAUNCHER_PARAMS
from aoti_logs.code.wrapper.fit import disagreement, disorder, misfit
from aoti_logs.code.wrapper.shims import shim
from aoti_logs.code.wrapper_cpp import landmarks
from aoti_logs.code.wrapper_cpp.launcher import launcher
from aoti_logs.code.wrapper_cpp.text import closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.body import Param
    from aoti_logs.sources.source import Source

_TRITON_TEXT = re.compile(rb"async_compile\.triton\((?P<name>'[^'\n]*'|\"[^\"\n]*\"), (?P<quote>'''|\"\"\")")
_UNKNOWN = "its parameters are not known"
_LAUNCHERS_OWN = ("_grid_", "_launcher_", "_tma_tensor_")
"""How parameters begin that Inductor adds to those of a kernel."""
_PASSES_ON = frozenset({"aoti_torch_proxy_executor_call_function", "aoti_torch_call_dispatcher"})
"""Functions that call another one, whose arguments the launch has."""
_OPTIONAL = "cubin_dir_"
"""The last parameter of `call_<kernel>`, which torch.compile leaves out."""


@dataclass(frozen=True)
class Target:
    """What a call of one name is bound to.

    `params` are those of the C++ function that is called; `dtypes` the kernel's own types of them, by name;
    `own` the names that the kernel has, None where only the called function tells them.
    """

    backend: Backend
    params: tuple[Param, ...] = ()
    dtypes: tuple[tuple[str, str], ...] = ()
    own: frozenset[str] | None = None
    unbound: str | None = None
    launcher: Launcher | None = None

    def misfit(self, texts: Sequence[str]) -> str | None:
        """Return why a call with these arguments cannot be bound, None when it can."""
        if self.backend is Backend.EXTERN:
            # A function of another release may have other parameters; then none is named.
            return "its parameters are not known" if self.params and len(texts) != len(self.params) else None
        optional = int(bool(self.params) and self.params[-1].name == _OPTIONAL)
        return self.unbound or misfit(texts, self.params, defaults=optional)

    def is_launchers(self, name: str) -> bool:
        """Tell whether a parameter is for the launcher alone (the stream, a grid)."""
        return name in LAUNCHER_PARAMS or (
            name not in self.own if self.own is not None else name.startswith(_LAUNCHERS_OWN)
        )


class Kernels:
    """The kernels of one wrapper.

    Args:
        source: the wrapper.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._read: dict[str, Kernel | None] = {}
        self._targets: dict[str, Target] = {}

    @cached_property
    def _starts(self) -> list[tuple[int, str, str]]:
        return landmarks.kernel_starts(self.source.data)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Kernel name -> positions in `_starts`."""
        places: dict[str, list[int]] = {}
        for at, (_, name, _) in enumerate(self._starts):
            places.setdefault(name, []).append(at)
        return places

    @cached_property
    def _slots(self) -> frozenset[str]:
        return frozenset(landmarks.kernel_slots(self.source.data))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all kernels that the wrapper defines, declares or keeps a slot for."""
        slots = landmarks.kernel_slots(self.source.data)
        return tuple(dict.fromkeys([name for _, name, _ in self._starts] + list(slots)))

    def kernel(self, name: str) -> Kernel | None:
        """Return a kernel by the name that launches use, or None."""
        if name not in self._read:
            self._read[name] = self._kernel(name)
        return self._read[name]

    def _kernel(self, name: str) -> Kernel | None:
        forms = {self._starts[at][2]: at for at in self._places.get(name, [])}
        if "cpp" in forms:
            # A definition follows its declaration, so that the last one has the body.
            return cpp_kernel_at(self.source, self._starts[forms["cpp"]][0])
        for form in ("lazy", "call"):
            if form in forms:
                kernel = self._triton_in(name, *self._range(forms[form]))
                if kernel is not None:
                    return kernel
        if "call" not in forms:
            return None
        start, end = self._range(forms["call"])
        params = tuple(
            p
            for p in self._call_params(forms["call"])
            if p.name not in LAUNCHER_PARAMS and not p.name.startswith(_LAUNCHERS_OWN)
        )
        first, last = self.source.line_at(start), self.source.line_at(end - 1)
        return Kernel(name, Backend.TRITON, self.source, first, last, params)

    def _range(self, at: int) -> tuple[int, int]:
        start = self._starts[at][0]
        following = self._starts[at + 1][0] if at + 1 < len(self._starts) else len(self.source.data)
        end = self.source.data.find(b"\n}", start, following)
        return start, following if end < 0 or self._starts[at][2] == "lazy" else end + 2

    def _triton_in(self, name: str, start: int, end: int) -> Kernel | None:
        data = self.source.data
        match = _TRITON_TEXT.search(data, start, end)
        if match is None:
            return None
        stop = data.find(match["quote"], match.end(), end)
        text = self.source.cut(match.end(), end if stop < 0 else stop)
        return triton_kernel(self.source, text, self.source.line_at(match.start()), name=name)

    def _call_params(self, at: int) -> tuple[Param, ...]:
        """Return the parameters of a C++ function `call_<name>`, the launcher's own included."""
        data = self.source.data
        start = data.find(b"(", data.find(b"call_", self._starts[at][0]))
        stop = data.find(b"{", start)
        text = self.source.cut(start, len(data) if stop < 0 else stop)
        end = closing(text, 0)
        return cpp_params(text[1:end]) if end > 0 else ()

    @property
    def all(self) -> tuple[Kernel, ...]:
        """All kernels that can be read, in the order of their names in the file."""
        return tuple(k for k in map(self.kernel, self.names) if k is not None)

    def with_check(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in whose body a check prints exactly that message."""
        offsets = [start for start, _, _ in self._starts]
        names: dict[str, None] = {}
        for at in quoted(self.source.data, message):
            place = bisect.bisect_right(offsets, at) - 1
            if place >= 0:
                names[self._starts[place][1]] = None
        found = (self.kernel(name) for name in names)
        return tuple(k for k in found if k is not None and any(m == message for _, m in k.asserts))

    # ------------------------------------------------------------ calls

    def target(self, name: str) -> Target:
        """Return what a call of a name is bound to."""
        if name not in self._targets:
            self._targets[name] = self._target(name)
        return self._targets[name]

    def _target(self, name: str) -> Target:
        if name not in self._places and name not in self._slots:
            function = None if name in _PASSES_ON else shim(name)
            given = () if function is None else function.params
            return Target(Backend.EXTERN, given, tuple((p.name, p.dtype) for p in given))
        kernel = self.kernel(name)
        own = () if kernel is None else kernel.params
        backend = Backend.TRITON if kernel is None else kernel.backend
        dtypes = tuple((p.name, p.dtype) for p in own if p.dtype and not p.dtype.endswith("_type_&"))
        calls = [at for at in self._places.get(name, []) if self._starts[at][2] == "call"]
        if not calls:
            several = [self._cpp_params(at) for at in self._places.get(name, [])]
            unbound = disagreement(several) or disorder(name, own) or (None if own else _UNKNOWN)
            return Target(backend, own, dtypes, None, unbound)
        definitions = [self._call_params(at) for at in calls]
        params = definitions[0]
        unbound = disagreement(definitions) or disorder(name, params) or (None if params else _UNKNOWN)
        names = [p.name for p in own]
        if own and unbound is None:
            known = [p.name for p in params if p.name in names]
            if known != [n for n in names if n in known]:
                unbound = f"`call_{name}` has its parameters in another order"
        return Target(
            backend,
            params,
            dtypes,
            frozenset(names) if own else None,
            unbound,
            self._launcher(name, calls[0]),
        )

    def _cpp_params(self, at: int) -> tuple[Param, ...]:
        kernel = cpp_kernel_at(self.source, self._starts[at][0]) if self._starts[at][2] == "cpp" else None
        return () if kernel is None else kernel.params

    def _launcher(self, name: str, at: int) -> Launcher | None:
        data = self.source.data
        start, end = self._range(at)
        body = data.find(b"{", start, end) + 1
        comment = data.find(b"*/", body, end)
        body = comment + 2 if comment >= 0 else body
        return launcher(name, self.source.cut(body, end - 1), self.source.line_at(body)) if body else None

    @property
    def launchers(self) -> tuple[Launcher, ...]:
        """How each kernel is started, in the order of their names in the file."""
        found = (self.target(name).launcher for name in self.names)
        return tuple(one for one in found if one is not None)

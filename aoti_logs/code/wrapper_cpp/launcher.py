"""How a kernel is started on a device, from the body of `call_<kernel>` in a C++ wrapper.

Written by `DeferredTritonCallWrapper` in `torch/_inductor/codegen/cpp_wrapper_gpu.py` (grids by `GridExpr` in
`runtime/triton_heuristics.py`, scratch by `codegen/*/device_op_overrides.py`) and by `DeferredCpuTritonCallWrapper`
in `codegen/cpp_wrapper_cpu.py`. Kernels that are compiled when they first run know their warps only then.
"""

from __future__ import annotations

import re

from aoti_logs.code.model import Launcher
from aoti_logs.code.wrapper_cpp.text import Statement, as_call, split_arguments, statements, string_value

_GRID = re.compile(r"grid_[012]")
_DECLARED = re.compile(
    r"(?:const )?(?P<type>[A-Za-z_][\w:]*(?: ?\*)?) ?(?P<name>[A-Za-z_]\w*)(?P<array>\[\])? = (?P<value>.*)",
    re.DOTALL,
)
_LOADED = re.compile(r"[\w.]+ = load(?:Kernel|CpuTritonKernel)\(", re.DOTALL)
_POINTER = re.compile(r"reinterpret_cast<[\w ]+\*?>\((\w+)\.data_ptr\(\)\)")
_ITEM = re.compile(r"aoti_torch_item_\w+\((\w+), &(\w+)\)")
_FROM_HALF = re.compile(r"float\((\w+_tmp)\)")
_EMBEDDED = re.compile(r"__(\w+)_(?:start|end)")
_SCRATCH = re.compile(r"(?:global|profile)_scratch")
_WORD = re.compile(r"[A-Za-z_]\w*")


def launcher(name: str, text: str, line: int) -> Launcher:
    """Return what the body of a `call_<kernel>` function (between its braces) says.

    Args:
        name: the kernel's name.
        text: the body.
        line: line of its first character.
    """
    reader = _Reader()
    for statement in statements(text, line):
        reader.read(statement)
    return Launcher(
        name,
        reader.line or line,
        reader.grid(),
        reader.skips_empty,
        reader.num_warps,
        reader.shared,
        reader.binary,
        reader.symbol,
        tuple(reader.workspaces),
        reader.passed(),
    )


class _Reader:
    """Collects the statements of one body."""

    def __init__(self) -> None:
        self.line: int | None = None
        self.skips_empty = False
        self.num_warps: int | None = None
        self.shared: int | None = None
        self.binary: str | None = None
        self.symbol: str | None = None
        self.workspaces: list[str] = []
        self._values: dict[str, str] = {}
        self._several: set[str] = set()
        self._grid: tuple[str, ...] = ()
        self._handed: tuple[str, ...] = ()

    def read(self, statement: Statement) -> None:
        text = statement.text
        if statement.kind == "head":
            self.skips_empty |= text.startswith("if") and "grid_0 == 0" in text
        elif text.startswith("if (grid_0 == 0"):
            self.skips_empty |= text.endswith("return")
        elif text.startswith("launchKernel("):
            self._launch(text, statement.line)
        elif _LOADED.match(text):
            self._load(text)
        elif item := _ITEM.search(text):
            self._values[item[2]] = item[1]
        elif "_launcher_fn(" in text:
            self._launch_on_cpu(text, statement.line)
        elif "std::call_once(" in text:
            for inner in text.split(";"):
                if "loadCpuTritonKernel(" in inner:
                    self._load(inner[inner.find("loadCpuTritonKernel") :])
        elif declared := _DECLARED.fullmatch(text.removeprefix("alignas(64) ")):
            self._declare(declared["name"], declared["value"].strip())
        elif assigned := re.fullmatch(r"(?:case \d+:|default:)?\s*(grid_[012]) = (.*)", text):
            # A switch over tuned configurations: which of them it is, only the run knows.
            self._several.add(assigned[1])

    def _declare(self, name: str, value: str) -> None:
        if name in {"kernel_args_", "args_arr"}:
            self._handed = tuple(part.removeprefix("&") for part in split_arguments(value.strip("{} ")))
            return
        if _SCRATCH.match(name) and name.endswith("_size"):
            self.workspaces.append(value.strip("{} "))
        elif _SCRATCH.match(name) and name.endswith("_numel"):
            self.workspaces.append(value)
        self._values[name] = value

    def _load(self, text: str) -> None:
        call = as_call(text.partition(" = ")[2] or text)
        if call is None or not call[1]:
            return
        first, *rest = call[1]
        embedded = _EMBEDDED.fullmatch(first)
        self.binary = string_value(first) or (embedded and embedded[1])
        strings = [s for s in map(string_value, rest) if s is not None]
        self.symbol = strings[0] if strings else None

    def _launch(self, text: str, line: int) -> None:
        call = as_call(text)
        if call is None or len(call[1]) < 6:
            return
        self.line = line
        self._grid, numbers = call[1][1:4], call[1][4:6]
        self.num_warps, self.shared = (int(n) if re.fullmatch(r"\d{1,9}", n) else None for n in numbers)

    def _launch_on_cpu(self, text: str, line: int) -> None:
        call = as_call(text)
        if call is not None and len(call[1]) == 6:
            self.line = line
            self._grid = tuple(re.sub(r"static_cast<uint32_t>\((.*)\)", r"\1", a) for a in call[1][:3])

    def grid(self) -> tuple[str, ...]:
        """Return the blocks along each axis, temporaries of the launcher put in."""
        if len(self._grid) != 3 or self._several:
            return ()
        return tuple(self._written(part, 0) for part in self._grid)

    def _written(self, text: str, depth: int) -> str:
        if depth > 4 or len(text) > 2000:
            return text

        def value(match: re.Match[str]) -> str:
            known = self._values.get(match[0])
            if known is None or not (_GRID.fullmatch(match[0]) or match[0].startswith("y_grid_")):
                return match[0]
            inner = self._written(known, depth + 1)
            return inner if _GRID.fullmatch(match[0]) or _WORD.fullmatch(inner) else f"({inner})"

        return _WORD.sub(value, text)

    def passed(self) -> tuple[str, ...]:
        """Return the parameters that reach the device; scratch of the launcher is not one."""
        found = []
        for handed in self._handed:
            name = handed.partition(".")[0]
            if _SCRATCH.match(name) or name == "nullptr":
                continue
            value = self._values.get(name, name)
            if half := _FROM_HALF.fullmatch(value):
                value = self._values.get(half[1], value)
            pointer = _POINTER.fullmatch(value)
            found.append(pointer[1] if pointer else value)
        return tuple(dict.fromkeys(found))

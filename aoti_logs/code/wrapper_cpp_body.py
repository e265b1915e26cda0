"""The entry function of a C++ wrapper, statement by statement: launches, sizes, buffers, checks, outputs.

The text is written by `torch/_inductor/codegen/cpp_wrapper_cpu.py` (all devices), `cpp_wrapper_gpu.py`,
`cpp_wrapper_mps.py` and `cpp_wrapper_cpu_array_ref.py`; torch 2.4 without `abi_compatible` wrote `at::Tensor`
and `at::..._out` calls instead of handles and shims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, CheckKind, InputCheck, Size
from aoti_logs.code.wrapper_bind import SYMBOL, Names, behind, cpp_value
from aoti_logs.code.wrapper_calls import CHECKED, is_launch, names_of_outputs
from aoti_logs.code.wrapper_text import Statement, as_call, split_arguments, statements, string_value

if TYPE_CHECKING:
    from collections.abc import Callable

_DECLARATION = re.compile(
    r"(?:\[\[maybe_unused\]\] |alignas\(\d+\) |static |thread_local |const |constexpr |unsigned )*"
    r"(?P<type>decltype\(auto\)|[A-Za-z_][\w:]*(?:<[^;()]{0,400}>)?)(?:\s+const)?\s*(?P<ref>[&*]*)\s+(?P<ref2>[&*]*)"
    r"(?P<name>[A-Za-z_]\w*)(?P<array>\[[^\]]{0,40}\])?\s*(?P<rest>$|=(?!=)|\(|\{)"
)
_NOT_TYPES = frozenset({"return", "throw", "delete", "new", "else", "goto", "case", "using", "typedef"})
_ASSIGNMENT = re.compile(r"(?P<target>[A-Za-z_][\w.\->\[\]]*)\s*=(?!=)\s*(?P<value>.*)", re.DOTALL)
_SIZE_OF = re.compile(r"(?P<tensor>\w+?)_(?P<what>size|stride)\[(?P<dim>\d+)\]")
_SIZE_CALL = re.compile(r"(?P<tensor>\w+)\.(?P<what>size|stride|sizes\(\)\.at|sym_size)\((?P<dim>\d+)\)")
_INPUT = re.compile(r"(?:std::move\()?inputs\[(\d+)\]\)?|std::get<(\d+)>\(inputs\)|.*\(c_inputs\[(\d+)\]\)")
_CONSTANT = re.compile(r"\*?(?:tensor_handle_to_tensor_pointer\()?constants_->at\((\d+)\)\)?")
_INTEGER_TYPES = frozenset(
    {"int64_t", "int32_t", "long", "int", "double", "float", "bool", "auto", "uint32_t", "size_t"}
)
_HANDLES = re.compile(r"// \[Provenance debug handles\] (?P<kernel>.*):(?P<handle>\d+)\s*$")
_NODES = re.compile(r"// (?:Topologically Sorted |Unsorted )?Source Nodes: \[(?P<nodes>[^\]]*)\]")
_ASSERT = re.compile(r"throw std::runtime_error\(\"(?P<message>(?:[^\"\\]|\\.)*)\"")
_OUTPUT = re.compile(r"output_handles\[(\d+)\]")
_GATE = "_check_aoti_runtime_check_inputs_env"
_WRAPPERS = frozenset({"wrap_with_raii_handle_if_needed", "RAIIAtenTensorHandle", "std::move"})
_NO_MEANING = frozenset(
    {"RECORD_FUNCTION", "AOTI_TORCH_WARN", "printf", "fflush", "py", "KernelContextGuard"}
)


@dataclass
class RawLaunch:
    """A call as found: bound to parameters only when somebody asks."""

    kernel: str
    line: int
    text: str
    arguments: tuple[str, ...]
    checked: bool = True
    handle: int | None = None
    source_nodes: tuple[str, ...] = ()
    stack: str | None = None
    outputs: tuple[str, ...] = ()


@dataclass
class EntryBody:
    """What the statements of an entry function say."""

    names: Names = field(default_factory=Names)
    launches: list[RawLaunch] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    checks: list[InputCheck] = field(default_factory=list)
    outputs: dict[int, str] = field(default_factory=dict)
    input_lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name of an input -> (index in the caller's list, line that unpacks it)."""
    constant_lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    unread: list[tuple[int, str]] = field(default_factory=list)


class EntryReader:
    """Reads one function body into an `EntryBody`.

    Args:
        kernels: names that are kernels of this wrapper.
        inputs: names of the model's inputs with their index, where the wrapper lists them.
        line_text: gives the text of a line, for quotes.
    """

    def __init__(self, kernels: frozenset[str], inputs: dict[str, int]) -> None:
        self.body = EntryBody()
        self.body.names.inputs.update(inputs)
        self._kernels = kernels
        self._inputs = dict(inputs)
        self._arrays: dict[str, tuple[str, ...]] = {}
        self._handles: dict[str, Buffer] = {}
        self._heads: list[str] = []
        self._handle: int | None = None
        self._nodes: tuple[str, ...] = ()
        self._stacks: list[str | None] = [None]
        self._python_calls: dict[str, list[str]] = {}

    def read(self, text: str, first_line: int) -> EntryBody:
        """Read a function body (the text between its braces) whose first line is `first_line`."""
        for statement in statements(text, first_line):
            match statement.kind:
                case "comment":
                    self._comment(statement.text)
                case "head":
                    self._open(statement)
                case "close":
                    if self._heads:
                        self._heads.pop()
                        self._stacks.pop()
                case _:
                    if not self._statement(statement.text, statement.line):
                        self.body.unread.append((statement.line, statement.text[:400]))
        return self.body

    def _comment(self, text: str) -> None:
        if match := _HANDLES.match(text):
            self._handle = int(match["handle"])
        elif match := _NODES.match(text):
            self._nodes = tuple(n.strip() for n in match["nodes"].split(",") if n.strip())

    def _open(self, statement: Statement) -> None:
        head = statement.text
        self._heads.append(head)
        self._stacks.append(self._stacks[-1])
        if head.startswith("auto ") and "[&]" in head:
            return
        if head and not re.match(r"(?:\}?\s*else\b|if\b|while\b|for\b|do\b|switch\b|try\b|catch\b)", head):
            self.body.unread.append((statement.line, head[:400]))

    def _statement(self, text: str, line: int) -> bool:
        checked = text.startswith(CHECKED)
        if checked:
            call = as_call(text)
            inner = call[1][0] if call is not None and call[1] else ""
            return bool(inner) and (self._call(inner, line, text, checked=True) or self._passes(inner))
        if text.startswith(("break", "continue", "return", "using ", "typedef ", "static_assert", "delete ")):
            return True
        if text.startswith("throw "):
            return self._throw(text, line)
        declared = _DECLARATION.match(text)
        if declared is not None and declared["type"] not in _NOT_TYPES:
            return self._declaration(declared, text, line)
        if assigned := _ASSIGNMENT.match(text):
            return self._assignment(assigned["target"], assigned["value"].strip(), text, line)
        return self._call(text, line, text, checked=False) or self._passes(text)

    def _passes(self, text: str) -> bool:
        """Tell whether a call is known to have no meaning for the model (frees, guards, printing)."""
        callee = text.partition("(")[0].strip()
        last = re.split(r"::|\.|->", callee)[-1]
        return bool(
            last in {"reset", "clear", "set_index", "reserve", "push_back", "emplace_back", "item", "lock"}
            or callee in _NO_MEANING
            or callee.startswith(("aoti_torch_", "Py", "torch::", "check_input_", "AOTI_"))
            or last.startswith(("init", "assert_", "__check", "check_"))
            or callee in {"wrap_with_raii_handle_if_needed", "drop", "convert_handle_to_arrayref_tensor"}
            or last in {"copy_data_from", "synchronize", "item_async", "update_constants_array"}
            or not callee
        )

    def _call(self, text: str, line: int, quoted: str, *, checked: bool, target: str | None = None) -> bool:
        call = as_call(text)
        if call is None:
            return False
        callee, arguments, _ = call
        if callee.startswith("aoti_torch_item_") and len(arguments) == 2:
            return self._item(arguments[0], arguments[1].lstrip("&"), quoted, line)
        if callee == "aoti_torch_get_sizes" or callee == "aoti_torch_get_strides":
            return True
        if callee.startswith(("aoti_torch_empty_strided", "aoti_torch__alloc_from_pool")):
            return self._allocate(callee, arguments, line)
        if (
            callee in {"aoti_torch_new_tensor_handle", "aoti_torch_assign_tensors_out"}
            and len(arguments) == 2
        ):
            self.body.names.stands_for[arguments[1].lstrip("&")] = arguments[0]
            self._handles[arguments[1].lstrip("&")] = Buffer(
                "", line, alias_of=self._core(arguments[0]), view=True
            )
            return True
        if callee.endswith("_view_dtype") and len(arguments) == 3:
            self.body.names.stands_for[arguments[2].lstrip("&")] = arguments[0]
            return True
        if callee == "aoti_torch_as_strided" and len(arguments) == 4:
            handle = arguments[3].lstrip("&")
            self._handles[handle] = replace(
                self._handles.get(arguments[0], Buffer("", line)),
                shape=self._array(arguments[1]),
                stride=self._array(arguments[2]),
            )
            return True
        if callee == "aoti_torch_clone" and len(arguments) == 2 and (out := _OUTPUT.search(arguments[1])):
            self.body.outputs.setdefault(int(out[1]), self._core(arguments[0]))
            return True
        if callee == "assert_size_stride":
            return self._size_stride(arguments, quoted, line)
        if callee in {"AOTI_TORCH_CHECK", "TORCH_CHECK"} and arguments:
            self._runtime_assert(arguments[0], string_value(arguments[-1]) or arguments[0], quoted, line)
            return True
        if is_launch(callee, self._kernels):
            self._launch(callee, arguments, line, quoted, checked=checked, target=target)
            return True
        return False

    def _launch(
        self,
        callee: str,
        arguments: tuple[str, ...],
        line: int,
        text: str,
        *,
        checked: bool,
        target: str | None,
    ) -> None:
        outputs = names_of_outputs(callee, arguments, lambda t: self._core(t))
        for handle in (a.strip()[1:] for a in arguments if a.strip().startswith("&")):
            if handle.endswith("_handle"):
                self._handles.setdefault(handle, Buffer("", line))
        if target is not None and target not in outputs:
            outputs = (*outputs, target)
        kernel, arguments = self._target(callee, arguments)
        self.body.launches.append(
            RawLaunch(
                kernel, line, text, arguments, checked, self._handle, self._nodes, self._stacks[-1], outputs
            )
        )
        self._handle, self._nodes = None, ()

    def _target(self, callee: str, arguments: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Return the name of what runs and what is passed to it, behind launchers of all versions."""
        name = callee.removeprefix("kernels.")
        if callee == "launchKernel" and arguments:
            # torch 2.4 to 2.6 on GPU: `void* kernel_args_var_0[] = {&var_0, ...}; launchKernel(kernels.X, ...)`
            passed = next(
                (self._arrays[a] for a in arguments if "kernel_args" in a and a in self._arrays), ()
            )
            return arguments[0].removeprefix("kernels."), tuple(a.removeprefix("&") for a in passed)
        if callee == "aoti_torch_call_dispatcher" and len(arguments) > 2:
            operator = f"{string_value(arguments[0])}.{string_value(arguments[1])}".rstrip(".")
            passed = self._arrays.get(arguments[2].partition(".")[0], ())
            return operator, tuple(self._core(a) for a in passed)
        if name.startswith("call_") and name[5:] in self._kernels:
            return name[5:], arguments
        return name, arguments

    def _item(self, tensor: str, target: str, text: str, line: int) -> bool:
        if match := _INPUT.fullmatch(tensor):
            index = int(next(g for g in match.groups() if g is not None))
            self._add_input(target, index, line)
            self.body.names.scalars.add(target)
        else:
            self._size(Size(target, line, text, tensor=self._core(tensor), unbacked=True))
        return True

    def _add_input(self, name: str, index: int, line: int) -> None:
        self.body.names.inputs.add(name)
        self._inputs.setdefault(name, index)
        self.body.input_lines.setdefault(name, (index, line))

    def _allocate(self, callee: str, arguments: tuple[str, ...], line: int) -> bool:
        handle = arguments[-1].lstrip("&")
        if callee == "aoti_torch__alloc_from_pool" and len(arguments) == 7:
            shape, stride, dtype = arguments[4], arguments[5], arguments[2]
            pool: str | None = arguments[0]
            device = None
        elif len(arguments) >= 6:
            shape, stride, dtype, device, pool = arguments[1], arguments[2], arguments[3], arguments[4], None
        else:
            return False
        self._handles[handle] = Buffer(
            "",
            line,
            self._array(shape),
            self._array(stride),
            dtype.removeprefix("cached_torch_dtype_"),
            None if device is None else device.removeprefix("cached_torch_device_type_"),
            pool,
            pool is not None,
        )
        return True

    def _array(self, text: str) -> tuple[str, ...] | None:
        if text.startswith("{"):
            return split_arguments(text[1:-1])
        return self._arrays.get(text)

    def _core(self, text: str) -> str:
        return behind(text, self.body.names.stands_for)

    def _declaration(self, match: re.Match[str], text: str, line: int) -> bool:
        kind, name, rest = match["type"], match["name"], match["rest"]
        if not rest:
            return True
        if rest != "=":
            return self._constructed(kind, name, text[match.end() - 1 :], text, line)
        value = text[match.end() :].strip()
        if match["array"] is not None or value.startswith("{"):
            inner = value.strip()[1:-1] if value.startswith("{") else ""
            self._arrays[name] = split_arguments(inner)
            return True
        if kind == "int64_t" and match["ref"] + match["ref2"] == "*":
            self._arrays[name] = ()
            return True
        return self._defined(kind, name, value, text, line)

    def _constructed(self, kind: str, name: str, rest: str, text: str, line: int) -> bool:
        inner = rest[1:-1].strip() if rest.endswith((")", "}")) else rest[1:]
        if kind == "KernelContextGuard":
            parts = split_arguments(inner)
            self._stacks[-1] = string_value(parts[1]) if len(parts) > 1 else None
            return True
        if kind == "RAIIAtenTensorHandle":
            self._own(name, inner, line)
        elif kind.startswith("ArrayRefTensor"):
            parts = split_arguments(inner)
            shape, stride = (self._array(p) for p in parts[1:3]) if len(parts) > 2 else (None, None)
            dtype = kind.partition("<")[2].rstrip("> ")
            self._buffer(Buffer(name, line, shape, stride, dtype or None, "cpu"))
        elif kind.startswith(("std::array", "std::optional", "std::vector")):
            self.body.names.stands_for[name] = inner
            self._arrays[name] = split_arguments(inner)
        return True

    def _own(self, name: str, handle: str, line: int) -> None:
        """Take `RAIIAtenTensorHandle buf0(buf0_handle);`: the handle's tensor gets its name."""
        known = self._handles.get(handle)
        if known is not None:
            self._buffer(replace(known, name=name))
        elif handle in self.body.names.stands_for or not handle.endswith("_handle"):
            self.body.names.stands_for[name] = handle
        else:
            self._buffer(Buffer(name, line))

    def _buffer(self, buffer: Buffer) -> None:
        self.body.buffers.append(buffer)
        self.body.names.stands_for.pop(buffer.name, None)

    def _defined(self, kind: str, name: str, value: str, text: str, line: int) -> bool:
        """Take `type name = value`."""
        if match := _INPUT.fullmatch(value):
            self._add_input(name, int(next(g for g in match.groups() if g is not None)), line)
            return True
        if match := _CONSTANT.fullmatch(value):
            self.body.names.constants.add(name)
            self.body.constant_lines[name] = (int(match[1]), line)
            return True
        if name in {"inputs", "kernels", "output_arrayref_tensors"} or "::sizes" in value:
            return True
        if re.fullmatch(r"\w+\.(?:sizes|strides|sym_sizes)\(\)", value):
            return True
        if kind in _INTEGER_TYPES and self._is_size(kind, name, value):
            return self._size_from(name, value, text, line)
        if kind in {"at::Tensor", "auto", "decltype(auto)", "RAIIAtenTensorHandle", "AtenTensorHandle"}:
            return self._tensor(name, value, text, line)
        self.body.names.stands_for[name] = value
        return True

    def _is_size(self, kind: str, name: str, value: str) -> bool:
        if re.match(r"var_\d+$|tmp_var_", name):
            return False
        if kind != "auto":
            return not value.startswith(("reinterpret_cast", "torch::", "py_"))
        return bool(
            SYMBOL.match(name)
            or _SIZE_OF.fullmatch(value)
            or _SIZE_CALL.fullmatch(value)
            or value in self.body.names.sizes
        )

    def _size_from(self, name: str, value: str, text: str, line: int) -> bool:
        known = self.body.names
        match = _SIZE_OF.fullmatch(value) or _SIZE_CALL.fullmatch(value)
        if match:
            stride = match["what"] == "stride"
            self._size(Size(name, line, text, match["tensor"], int(match["dim"]), stride))
        elif re.fullmatch(r"[A-Za-z_]\w*", value) and value not in {"true", "false"}:
            unbacked = any(s.symbol == value and s.unbacked for s in self.body.sizes[-8:])
            self._size(Size(name, line, text, alias_of=value, unbacked=unbacked))
        else:
            unbacked = name.startswith("u") and SYMBOL.fullmatch(name) is not None
            self._size(Size(name, line, text, value=cpp_value(value), unbacked=unbacked))
        known.sizes.add(name)
        return True

    def _size(self, size: Size) -> None:
        self.body.sizes.append(size)
        self.body.names.sizes.add(size.symbol)

    def _tensor(self, name: str, value: str, text: str, line: int) -> bool:
        """Take `auto name = ...` that gives a tensor: an allocation, a reuse, a view or a call."""
        value = value.split(";", maxsplit=1)[0].strip()
        call = as_call(value)
        if call is None:
            if re.fullmatch(r"[A-Za-z_]\w*", value):
                self._rename(name, value, line)
            else:
                self.body.names.stands_for[name] = value
            return True
        callee, arguments, tail = call
        if callee in {"at::detail::empty_strided_cpu", "at::detail::empty_strided_cuda", "at::empty_strided"}:
            device = callee.rpartition("_")[2]
            dtype = arguments[2].removeprefix("at::k").lower() if len(arguments) > 2 else None
            self._buffer(
                Buffer(name, line, self._array(arguments[0]), self._array(arguments[1]), dtype, device)
            )
            return True
        if callee == "std::move" and arguments:
            self._rename(name, arguments[0], line)
            return True
        if callee == "RAIIAtenTensorHandle" and arguments:
            self._own(name, arguments[0], line)
            return True
        if callee == "std::get" or tail.startswith("["):
            self._buffer(
                Buffer(name, line, alias_of=self._core(arguments[0]) if arguments else None, view=True)
            )
            return True
        view = self._view(name, value, line)
        if view is not None:
            if name.startswith(("tmp_", "var_")) or name.endswith("_as_strided"):
                self.body.names.stands_for[name] = value
            else:
                self._buffer(view)
            return True
        if self._call(value, line, text, checked=False, target=name):
            self._buffer(Buffer(name, line))
            return True
        self.body.names.stands_for[name] = value
        return True

    def _view(self, name: str, value: str, line: int) -> Buffer | None:
        call = as_call(value)
        for _ in range(8):
            if call is None or call[0] not in _WRAPPERS or not call[1]:
                break
            value = self.body.names.stands_for.get(call[1][0], call[1][0])
            call = as_call(value)
        if call is None:
            return None
        callee, arguments, _ = call
        if callee == "reinterpret_tensor_wrapper" and len(arguments) == 5:
            shape, stride = self._array(arguments[2]), self._array(arguments[3])
        elif callee == "reinterpret_tensor" and len(arguments) >= 3:
            shape, stride = self._array(arguments[1]), self._array(arguments[2])
        elif callee in {"get_data_ptr_wrapper", "alloc_from_pool"} and arguments:
            shape = stride = None
        else:
            return None
        return Buffer(name, line, shape, stride, alias_of=self._core(arguments[0]), view=True)

    def _rename(self, name: str, old: str, line: int) -> None:
        source = self._core(old)
        if (name.startswith("var_") or "cached_output" in name) and source != name:
            self.body.names.stands_for[name] = old
            return
        view = self._view(name, self.body.names.stands_for.get(old.removesuffix("_raii"), old), line)
        self._buffer(view or Buffer(name, line, alias_of=source))

    def _assignment(self, target: str, value: str, text: str, line: int) -> bool:
        if match := _OUTPUT.match(target):
            if other := _OUTPUT.fullmatch(value):
                self.body.outputs[int(match[1])] = self.body.outputs.get(int(other[1]), "")
            else:
                made = re.search(r"new at::Tensor\((\w+)\)", value)
                self.body.outputs[int(match[1])] = made[1] if made else self._core(value)
            return True
        if not re.fullmatch(r"[A-Za-z_]\w*", target):
            return True
        if target in self.body.names.inputs:
            return True
        if target.endswith("numel") or target in self.body.names.sizes:
            return self._size_from(target, value, text, line)
        if "dispatch_vars[" in value or "PyCapsule_GetPointer" in value:
            self._result(target, line)
            return True
        moved = re.fullmatch(r"std::move\((\w+)\)|(\w+)", value)
        if moved:
            self._rename(target, moved[1] or moved[2], line)
            return True
        return self._tensor(target, value, text, line)

    def _result(self, name: str, line: int) -> None:
        """Take a result that is fetched after the call that made it."""
        if self.body.launches:
            last = self.body.launches[-1]
            last.outputs = (*last.outputs, name)
        self._buffer(Buffer(name, line))

    def _size_stride(self, arguments: tuple[str, ...], text: str, line: int) -> bool:
        if len(arguments) < 3:
            return False
        gated = any(_GATE in head for head in self._heads)
        tensor = self._core(arguments[0])
        expected = f"{arguments[1]}, {arguments[2]}"
        self.body.checks.append(
            InputCheck(
                CheckKind.SIZE_STRIDE, tensor, self._inputs.get(tensor), None, expected, line, gated, text
            )
        )
        return True

    def _throw(self, text: str, line: int) -> bool:
        head = self._heads[-1] if self._heads else ""
        match = _ASSERT.match(text)
        if match is None or not head.startswith("if"):
            return match is not None
        condition = head[2:].strip()[1:-1]
        self._runtime_assert(condition, match["message"], f"{head} {{ {text}; }}", line)
        return True

    def _runtime_assert(self, condition: str, message: str, text: str, line: int) -> None:
        stated = re.match(r"Expected (.*) but received", message)
        expected = stated[1] if stated else condition.removeprefix("!").strip()
        gated = any(_GATE in head for head in self._heads)
        self.body.checks.append(
            InputCheck(CheckKind.RUNTIME_ASSERT, "", None, None, expected, line, gated, text)
        )


def reader_of(kernels: frozenset[str], inputs: dict[str, int]) -> Callable[[str, int], EntryBody]:
    """Return a function that reads an entry body of a wrapper with these kernels and inputs."""
    return lambda text, line: EntryReader(kernels, inputs).read(text, line)

"""The entry function of a C++ wrapper, statement by statement: launches, sizes, buffers, checks, outputs.

The text is written by `torch/_inductor/codegen/cpp_wrapper_cpu.py` (all devices), `cpp_wrapper_gpu.py`,
`cpp_wrapper_mps.py` and `cpp_wrapper_cpu_array_ref.py`; torch 2.4 without `abi_compatible` wrote `at::Tensor`
and `at::..._out` calls instead of handles and shims.
"""

from __future__ import annotations

import re
from functools import lru_cache

from aoti_logs.code.model import Buffer, CheckKind, InputCheck, Release, Size
from aoti_logs.code.wrapper_cpp.calls import CHECKED, is_launch, means_nothing, names_of_outputs
from aoti_logs.code.wrapper_cpp.custom import RESULT, CustomCalls
from aoti_logs.code.wrapper_cpp.inline import InlineLaunches
from aoti_logs.code.wrapper_cpp.passing import holds, is_field, passes
from aoti_logs.code.wrapper_cpp.read import EntryBody, RawLaunch
from aoti_logs.code.wrapper_cpp.sizes import Sizes
from aoti_logs.code.wrapper_cpp.tensors import Tensors
from aoti_logs.code.wrapper_cpp.text import Statement, as_call, split_arguments, statements, string_value

_DECLARATION = re.compile(
    r"(?:\[\[maybe_unused\]\] |alignas\(\d+\) |static |thread_local |const |constexpr |unsigned )*"
    r"(?P<type>decltype\(auto\)|[A-Za-z_][\w:]*(?:<[^;()]{0,400}>)?)(?:\s+const)?\s*(?P<ref>[&*]*)\s+(?P<ref2>[&*]*)"
    r"(?P<name>[A-Za-z_]\w*)(?P<array>\[[^\]]{0,40}\])?\s*(?P<rest>$|=(?!=)|\(|\{)"
)
_NOT_TYPES = frozenset({"return", "throw", "delete", "new", "else", "goto", "case", "using", "typedef"})
_ASSIGNMENT = re.compile(r"(?P<target>[A-Za-z_][\w.\->\[\]]*)\s*=(?!=)\s*(?P<value>.*)", re.DOTALL)
_INPUT = re.compile(
    r"(?:std::move\()?inputs\[(\d{1,9})\]\)?|std::get<(\d{1,9})>\(inputs\)|.*\(c_inputs\[(\d{1,9})\]\)"
)
_VALUE = re.compile(r"(?P<tensor>inputs\[\d{1,9}\]|[A-Za-z_]\w*)\.item(?:<[\w:]+>\(\)|\(\)\.to\w+\(\))")
"""A tensor's number in torch 2.4 without handles: `inputs[1].item<int64_t>()`, `buf0.item().toLong()`."""
_CONSTANT = re.compile(r"\*?(?:tensor_handle_to_tensor_pointer\()?constants_->at\((\d{1,9})\)\)?")
_HANDLES = re.compile(r"// \[Provenance debug handles\] (?P<kernel>.*):(?P<handle>\d{1,18})\s*$")
_NODES = re.compile(r"// (?:Topologically Sorted |Unsorted )?Source Nodes: \[(?P<nodes>[^\]]*)\]")
_ASSERT = re.compile(r"throw std::runtime_error\(\"(?P<message>(?:[^\"\\]|\\.)*)\"")
_OUTPUT = re.compile(r"output_handles\[(\d{1,9})\]")
_RETURNED = re.compile(
    r"std::get<(?P<index>\d{1,9})>\(output_arrayref_tensors\) = (?P<name>\w+)\."
    r"|convert_handle_to_arrayref_tensor\((?P<name2>\w+), std::get<(?P<index2>\d{1,9})>\(output_arrayref_tensors\)\)"
)
_RELEASE = re.compile(r"([A-Za-z_]\w*)\.reset\(\)$")
_SHORT_IF = re.compile(r"if \(.{1,400}\)\s*(?:break|continue|return)$", re.DOTALL)
_JUMPS = ("break", "continue", "return", "using ", "typedef ", "static_assert", "delete ", "thread_local ")
FOLDING = "_const_run_impl"
"""What stands for the name of the graph that folds constants: a function of its own, whose buffers are its own, too."""
_LONGEST_KEPT = 1 << 17
"""What was read of longer text is not kept for other copies of it."""


class EntryReader:
    """Reads one function body into an `EntryBody`.

    Args:
        kernels: names that are kernels of this wrapper.
        inputs: names of the model's inputs with their index, where the wrapper lists them.
    """

    def __init__(self, kernels: frozenset[str], inputs: dict[str, int]) -> None:
        self.body = EntryBody()
        self.body.names.inputs.update(inputs)
        self._kernels = kernels
        self._inputs = dict(inputs)
        self._tensors = Tensors(self.body)
        self._custom = CustomCalls(self._tensors)
        self._sizes = Sizes(self.body)
        self._inline = InlineLaunches(self.body)
        self._flow = self.body.flow
        self._handle: int | None = None
        self._nodes: tuple[str, ...] = ()

    def read(self, text: str, first_line: int) -> EntryBody:
        """Read a function body (the text between its braces) whose first line is `first_line`."""
        for statement in statements(text, first_line):
            match statement.kind:
                case "comment":
                    self._comment(statement.text, statement.line)
                case "head":
                    self._open(statement)
                case "close":
                    if not self._flow.close():
                        self.body.unread.append((statement.line, statement.text))
                case "broken":
                    self._broken(statement)
                case _:
                    if not self._statement(statement.text, statement.line):
                        self.body.unread.append((statement.line, statement.text[:400]))
        if self._flow.depth:
            self.body.unread.append((first_line + text.count("\n"), f"{self._flow.head} is not closed"[:400]))
        return self.body

    def _broken(self, statement: Statement) -> None:
        """Take a statement without its end; a call of a kernel keeps its place among the calls."""
        name = statement.text.partition("(")[0].removeprefix("call_")
        if name in self._kernels:
            self._add(RawLaunch(name, statement.line, statement.text, None))
        self.body.unread.append((statement.line, statement.text[:400]))

    def _comment(self, text: str, line: int) -> None:
        if text.startswith("// reuse"):
            self._tensors.reused(line)
        elif match := _HANDLES.match(text):
            self._handle = int(match["handle"])
        elif self._flow.comment(text):
            pass
        elif match := _NODES.match(text):
            self._nodes = tuple(n.strip() for n in match["nodes"].split(",") if n.strip())

    def _open(self, statement: Statement) -> None:
        head = statement.text
        if not self._flow.open(head) and not self._custom.head(head):
            self.body.unread.append((statement.line, head[:400]))

    def _statement(self, text: str, line: int) -> bool:
        name = text.partition("(")[0]
        name = name.removeprefix("call_")
        if name in self._kernels:
            # The commonest statement of a large model; its arguments can wait.
            self._add(RawLaunch(name, line, text, None))
            return True
        if text.startswith(CHECKED):
            call = as_call(text)
            inner = call[1][0] if call is not None and call[1] else ""
            return bool(inner) and (self._call(inner, line, text, checked=True) or means_nothing(inner))
        if released := _RELEASE.match(text):
            self.body.releases.append(
                Release(released[1], line, len(self.body.launches), self._flow.branch, self._flow.within)
            )
            return True
        if text.startswith(_JUMPS) or _SHORT_IF.match(text):
            return True
        if text.startswith("throw "):
            return self._throw(text, line)
        declared = _DECLARATION.match(text)
        if declared is not None and declared["type"] not in _NOT_TYPES:
            return self._declaration(declared, text, line)
        if assigned := _ASSIGNMENT.match(text):
            return self._assignment(assigned["target"], assigned["value"].strip(), text, line)
        if returned := _RETURNED.match(text):
            index = int(returned["index"] or returned["index2"])
            self.body.outputs.setdefault(index, self._tensors.core(returned["name"] or returned["name2"]))
            return True
        if self._custom.collect(text) or self._tensors.applied(text):
            return True
        return self._call(text, line, text, checked=False) or means_nothing(text)

    def _call(self, text: str, line: int, quoted: str, *, checked: bool, target: str | None = None) -> bool:
        call = as_call(text)
        if call is None:
            return False
        callee, arguments, _ = call
        if callee.startswith("aoti_torch_item_") and len(arguments) == 2:
            return self._item(arguments[0], arguments[1].lstrip("&"), quoted, line)
        if self._tensors.take(callee, arguments, line):
            return True
        if callee == "aoti_torch_clone" and len(arguments) == 2 and (out := _OUTPUT.search(arguments[1])):
            self.body.outputs.setdefault(int(out[1]), self._tensors.core(arguments[0]))
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
        outputs = names_of_outputs(callee, arguments, self._tensors.core)
        for handle in (a.strip()[1:] for a in arguments if a.strip().startswith("&")):
            if handle.endswith("_handle"):
                self._tensors.handles.setdefault(handle, Buffer("", line))
        if target is not None and target not in outputs:
            outputs = (*outputs, target)
        kernel, passed = self._custom.target(callee, arguments, self._kernels)
        if kernel == "aoti_torch_proxy_executor_call_function":
            outputs = tuple(n for n in self._tensors.uninitialized if n in passed)
            self._tensors.uninitialized.clear()
        checked = checked or not callee.startswith("aoti_torch_")
        launch = RawLaunch(kernel, line, text, passed, checked, outputs=outputs)
        if callee == "launchKernel":
            launch.grid, launch.stream = self._inline.started(kernel, arguments, passed, line)
        self._add(launch)

    def _add(self, launch: RawLaunch) -> None:
        launch.handle, launch.source_nodes, launch.stack = self._handle, self._nodes, self._flow.stack
        launch.branch, launch.subgraph = self._flow.branch, self._flow.subgraph
        launch.within = self._flow.within
        self.body.launches.append(launch)
        self._handle, self._nodes = None, ()

    def _item(self, tensor: str, target: str, text: str, line: int) -> bool:
        if match := _INPUT.fullmatch(tensor):
            index = int(next(g for g in match.groups() if g is not None))
            self._add_input(target, index, line)
            self.body.names.scalars.add(target)
        else:
            self._sizes.add(Size(target, line, text, tensor=self._tensors.core(tensor), unbacked=True))
        return True

    def _add_input(self, name: str, index: int, line: int) -> None:
        self.body.names.inputs.add(name)
        self._inputs.setdefault(name, index)
        self.body.input_lines.setdefault(name, (index, line))

    def _declaration(self, match: re.Match[str], text: str, line: int) -> bool:
        kind, name, rest = match["type"], match["name"], match["rest"]
        if not rest:
            return holds(kind)
        if rest != "=":
            return self._constructed(kind, name, text[match.end() - 1 :], text, line)
        value = text[match.end() :].strip()
        if match["array"] is not None or value.startswith("{"):
            inner = value.strip()[1:-1] if value.startswith("{") else ""
            self._tensors.arrays[name] = split_arguments(inner)
            return True
        if kind == "int64_t" and match["ref"] + match["ref2"] == "*":
            self._tensors.arrays[name] = ()
            return True
        return self._defined(kind, name, value, text, line)

    def _constructed(self, kind: str, name: str, rest: str, text: str, line: int) -> bool:
        inner = rest[1:-1].strip() if rest.endswith((")", "}")) else rest[1:]
        if kind == "KernelContextGuard":
            parts = split_arguments(inner)
            self._flow.guard(string_value(parts[1]) if len(parts) > 1 else None)
            return True
        if kind == "RAIIAtenTensorHandle":
            self._tensors.own(name, inner, line)
        elif kind.startswith("ArrayRefTensor"):
            self._tensors.array_ref(kind, name, inner, line)
        elif kind == "RAIIPyObject" and "custom_op_wrapper" in inner:
            self._call(inner, line, text, checked=False)
        elif kind.startswith(("std::array", "std::optional", "std::vector")):
            self.body.names.stands_for[name] = inner
            self._tensors.arrays[name] = split_arguments(inner)
        return holds(kind)

    def _defined(self, kind: str, name: str, value: str, text: str, line: int) -> bool:
        """Take `type name = value`."""
        if match := _VALUE.fullmatch(value):
            return self._item(match["tensor"], name, text, line)
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
        if self._sizes.is_one(kind, name, value):
            return self._sizes.take(name, value, text, line)
        if kind in {"at::Tensor", "auto", "decltype(auto)", "RAIIAtenTensorHandle", "AtenTensorHandle"}:
            return self._tensor(name, value, text, line)
        self.body.names.stands_for[name] = value
        return passes(value)

    def _tensor(self, name: str, value: str, text: str, line: int) -> bool:
        """Take `auto name = ...`: an allocation, a reuse, a view, or a call whose result it is."""
        value = value.split(";", maxsplit=1)[0].strip()
        if self._custom.schema(value) or self._tensors.define(name, value, line):
            return True
        if self._call(value, line, text, checked=False, target=name):
            self._tensors.add(Buffer(name, line))
            return True
        self.body.names.stands_for[name] = value
        return passes(value)

    def _assignment(self, target: str, value: str, text: str, line: int) -> bool:
        if match := _OUTPUT.match(target):
            if other := _OUTPUT.fullmatch(value):
                self.body.outputs[int(match[1])] = self.body.outputs.get(int(other[1]), "")
            else:
                made = re.search(r"new at::Tensor\((\w+)\)", value)
                self.body.outputs[int(match[1])] = made[1] if made else self._tensors.core(value)
            return True
        if not re.fullmatch(r"[A-Za-z_]\w*", target):
            return self._inline.loaded(target, value, line) or is_field(target)
        if target in self.body.names.inputs:
            return True
        if target.endswith("numel") or target in self.body.names.sizes:
            return self._sizes.take(target, value, text, line)
        if RESULT.search(value):
            self._result(target, line)
            return True
        moved = re.fullmatch(r"std::move\((\w+)\)|(\w+)", value)
        if moved:
            self._tensors.rename(target, moved[1] or moved[2], line)
            return True
        return self._tensor(target, value, text, line)

    def _result(self, name: str, line: int) -> None:
        """Take a result that is fetched after the call that made it."""
        if self.body.launches:
            last = self.body.launches[-1]
            last.outputs = (*last.outputs, name)
        self._tensors.add(Buffer(name, line))

    def _size_stride(self, arguments: tuple[str, ...], text: str, line: int) -> bool:
        if len(arguments) < 3:
            return False
        tensor = self._tensors.core(arguments[0])
        expected = f"{arguments[1]}, {arguments[2]}"
        self._check(CheckKind.SIZE_STRIDE, tensor, expected, text, line)
        return True

    def _throw(self, text: str, line: int) -> bool:
        head = self._flow.head
        match = _ASSERT.match(text)
        if match is None or not head.startswith("if") or not match["message"].startswith("Expected "):
            return match is not None
        condition = head[2:].strip()[1:-1]
        self._runtime_assert(condition, match["message"], f"{head} {{ {text}; }}", line)
        return True

    def _runtime_assert(self, condition: str, message: str, text: str, line: int) -> None:
        stated = re.match(r"Expected (.*?)(?: to be True)? but received", message)
        expected = stated[1] if stated else condition.removeprefix("!").strip()
        self._check(CheckKind.RUNTIME_ASSERT, "", expected, text, line)

    def _check(self, kind: CheckKind, tensor: str, expected: str, text: str, line: int) -> None:
        gated = self._flow.gated
        index, at = self._inputs.get(tensor), len(self.body.launches)
        self.body.checks.append(InputCheck(kind, tensor, index, None, expected, line, gated, text, at))


_Text = tuple[str, int]
"""A function's body and the line where it begins."""


def body_of(
    kernels: frozenset[str],
    inputs: tuple[tuple[str, int], ...],
    constants: tuple[str, ...],
    const: _Text | None,
    entry: _Text | None,
) -> EntryBody:
    """Return what the entry function says, and before it the one that folds constants.

    The same text in another copy or rank is read once. Arguments are those of `EntryReader`, and the
    names of constants.
    """
    kept = sum(len(text) for text, _ in filter(None, (const, entry))) <= _LONGEST_KEPT
    read = _read_functions if kept else _read_functions.__wrapped__
    return read(kernels, inputs, constants, const, entry)


@lru_cache(maxsize=32)
def _read_functions(
    kernels: frozenset[str],
    inputs: tuple[tuple[str, int], ...],
    constants: tuple[str, ...],
    const: _Text | None,
    entry: _Text | None,
) -> EntryBody:
    reader = EntryReader(kernels, dict(inputs))
    reader.body.names.constants.update(constants)
    if const is not None:
        folded = EntryReader(kernels, {}).read(*const)
        for launch in folded.launches:
            launch.body, launch.subgraph = folded, launch.subgraph or FOLDING
        reader.body.launches.extend(folded.launches)
        reader.body.unread.extend(folded.unread)
    return reader.body if entry is None else reader.read(*entry)

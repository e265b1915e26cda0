"""Tensors in a C++ wrapper: allocations, pools, reuse, views, handles that get an owner.

Forms of `make_buffer_allocation`, `codegen_alloc_from_pool`, `codegen_reinterpret_view` and
`codegen_exact_buffer_reuse` in `torch/_inductor/codegen/cpp_wrapper_cpu.py` and its array-ref sister; torch 2.4
wrote `at::Tensor` values.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer
from aoti_logs.code.wrapper.bind import behind
from aoti_logs.code.wrapper_cpp.info import aten_dtype
from aoti_logs.code.wrapper_cpp.text import as_call, split_arguments

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_cpp.read import EntryBody

_WRAPPERS = frozenset({"wrap_with_raii_handle_if_needed", "RAIIAtenTensorHandle", "std::move"})
_NAME = re.compile(r"[A-Za-z_]\w*")


class Tensors:
    """Follows handles, arrays and views of one entry function and writes its buffers."""

    def __init__(self, body: EntryBody) -> None:
        self.body = body
        self.arrays = body.arrays
        self.handles: dict[str, Buffer] = {}
        """`buf0_handle` -> what is known of the tensor, still without its name."""
        self.uninitialized: list[str] = []
        """Tensors made for a custom op to write into, since the last call."""
        self._of_lambda: list[str] = []
        """Handles that the lambda before assigned its parameter to."""

    def core(self, text: str) -> str:
        """Return what is behind casts, views and passing variables."""
        return behind(text, self.body.names.stands_for)

    def array(self, text: str) -> tuple[str, ...] | None:
        """Return the elements of an initialiser list or of an array variable."""
        if text.startswith("{"):
            return split_arguments(text[1:-1])
        return self.arrays.get(text)

    def add(self, buffer: Buffer) -> None:
        """Write a buffer down; its name no longer stands for something else."""
        flow = self.body.flow
        born = replace(buffer, at=len(self.body.launches), branch=flow.branch, within=flow.within)
        self.body.buffers.append(born)
        self.body.names.stands_for.pop(buffer.name, None)

    def take(self, callee: str, arguments: tuple[str, ...], line: int) -> bool:
        """Take a shim call that only makes or passes on a handle; False for any other call."""
        if callee.startswith(("aoti_torch_empty_strided", "aoti_torch__alloc_from_pool")):
            return self._allocate(callee, arguments, line)
        last = arguments[-1].lstrip("&") if arguments else ""
        if (
            callee in {"aoti_torch_new_tensor_handle", "aoti_torch_assign_tensors_out"}
            and len(arguments) == 2
        ):
            self._same(last, self.core(arguments[0]), line, whole=_NAME.fullmatch(arguments[0]) is not None)
            if self.core(arguments[0]) == "_t":
                self._of_lambda.append(last)
            return True
        if callee == "aoti_torch_new_uninitialized_tensor":
            self.handles[last] = Buffer("", line)
            self.uninitialized.append(last.removesuffix("_handle"))
            return True
        if callee.endswith("_view_dtype") and len(arguments) == 3:
            self.body.names.stands_for[last] = arguments[0]
            return True
        if callee == "aoti_torch_as_strided" and len(arguments) == 4:
            known = self.handles.get(arguments[0], Buffer("", line))
            self.handles[last] = replace(
                known, shape=self.array(arguments[1]), stride=self.array(arguments[2])
            )
            return True
        return False

    def _same(self, handle: str, tensor: str, line: int, *, whole: bool = True) -> None:
        self.body.names.stands_for[handle] = tensor
        offset = None if whole else "?"
        self.handles[handle] = Buffer("", line, alias_of=tensor, view=True, offset=offset)

    def applied(self, text: str) -> bool:
        """Take `(buf1)`, what a lambda for tensors of either kind is called with; False for any other statement."""
        if not self._of_lambda or not (text.startswith("(") and text.endswith(")")):
            return False
        for handle in self._of_lambda:
            self._same(handle, self.core(text), self.handles[handle].line)
        self._of_lambda.clear()
        return True

    def _allocate(self, callee: str, arguments: tuple[str, ...], line: int) -> bool:
        if callee == "aoti_torch__alloc_from_pool" and len(arguments) == 7:
            shape, stride, dtype, device = arguments[4], arguments[5], arguments[2], None
            pool: str | None = arguments[0]
        elif len(arguments) >= 6:
            shape, stride, dtype, device = arguments[1:5]
            pool = None
        else:
            return False
        self.handles[arguments[-1].lstrip("&")] = Buffer(
            "",
            line,
            self.array(shape),
            self.array(stride),
            dtype.removeprefix("cached_torch_dtype_"),
            None if device is None else device.removeprefix("cached_torch_device_type_"),
            pool,
            pool is not None,
        )
        return True

    def own(self, name: str, handle: str, line: int) -> None:
        """Take `RAIIAtenTensorHandle buf0(buf0_handle);`: the handle's tensor gets its name."""
        known = self.handles.get(handle)
        if known is not None:
            self.add(replace(known, name=name))
            self.body.names.stands_for[handle] = name
        elif handle in self.body.names.stands_for or not handle.endswith("_handle"):
            self.body.names.stands_for[name] = handle
        else:
            self.add(Buffer(name, line))
            self.body.names.stands_for[handle] = name

    def reused(self, line: int) -> None:
        """Take the comment `// reuse` behind a rename."""
        if self.body.buffers and self.body.buffers[-1].line == line:
            self.body.buffers[-1] = replace(self.body.buffers[-1], reuse=True)

    def array_ref(self, kind: str, name: str, inner: str, line: int) -> None:
        """Take `ArrayRefTensor<float> buf0(buf0_storage, int_array_0, ...)`: memory on the stack."""
        parts = split_arguments(inner)
        shape, stride = (self.array(p) for p in parts[1:3]) if len(parts) > 2 else (None, None)
        self.add(Buffer(name, line, shape, stride, kind.partition("<")[2].rstrip("> ") or None, "cpu"))

    def view(self, name: str, value: str, line: int) -> Buffer | None:
        """Return the buffer that a view of another makes, or None when the value is no view."""
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
            shape, stride = self.array(arguments[2]), self.array(arguments[3])
            offset: str | None = arguments[4]
        elif callee == "reinterpret_tensor" and len(arguments) >= 3:
            shape, stride = self.array(arguments[1]), self.array(arguments[2])
            offset = arguments[3] if len(arguments) > 3 else None
        elif callee in {"get_data_ptr_wrapper", "alloc_from_pool"} and arguments:
            shape = stride = offset = None
        else:
            return None
        old = self.core(arguments[0])
        return Buffer(name, line, shape, stride, alias_of=old, view=True, offset=offset)

    def rename(self, name: str, old: str, line: int) -> None:
        """Take `auto buf2 = std::move(buf0);  // reuse` and its older and aliasing forms."""
        source = self.core(old)
        if name.startswith("var_") or "cached_output" in name:
            self.body.names.stands_for[name] = old
            return
        view = self.view(name, self.body.names.stands_for.get(old.removesuffix("_raii"), old), line)
        self.add(view or Buffer(name, line, alias_of=source))

    def define(self, name: str, value: str, line: int) -> bool:
        """Take the value of `auto name = value` when it gives a tensor without computing anything."""
        stands_for = self.body.names.stands_for
        call = as_call(value)
        if call is None:
            if _NAME.fullmatch(value):
                self.rename(name, value, line)
                return True
            return False
        callee, arguments, tail = call
        if callee in {"at::detail::empty_strided_cpu", "at::detail::empty_strided_cuda", "at::empty_strided"}:
            device = callee.rpartition("_")[2] if "detail" in callee else None
            shape, stride, dtype = (*arguments, "", "", "")[:3]
            self.add(
                Buffer(name, line, self.array(shape), self.array(stride), aten_dtype(dtype) or None, device)
            )
            return True
        if callee == "std::move" and arguments:
            self.rename(name, arguments[0], line)
            return True
        if callee == "RAIIAtenTensorHandle" and arguments:
            self.own(name, arguments[0], line)
            return True
        if callee == "std::get" or tail.startswith("["):
            old = self.core(arguments[0]) if arguments else None
            item = re.search(r"<(\d{1,9})>|\[(\d{1,9})\]$", value)
            which = "?" if item is None else item[1] or item[2]
            self.add(Buffer(name, line, alias_of=old, view=True, item=which))
            return True
        view = self.view(name, value, line)
        if view is None:
            return False
        if name.startswith(("tmp_", "var_")) or name.endswith("_as_strided"):
            stands_for[name] = value
        else:
            self.add(view)
        return True

"""Records of the intermediate value printer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.dtype import torch_dtype
from aoti_logs.parse.printer.launches import bare_name
from aoti_logs.parse.printer.scalar import scalar_value
from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Dumps(dy.Schema):
    """One row a printed argument of a launch (AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER)."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    rank = dy.Int64(nullable=True, description="Rank, where the lines have its prefix.")
    worker = _sender.worker()
    process = _sender.process()
    time = _sender.time()
    format = dy.String(
        nullable=False,
        description="`cpp_v2`, `cpp_v1_no_mean` (torch 2.5), `cpp_scalar`, `python`, `kernel_names_only` (mode 3), `save` (mode 1).",
    )
    phase = dy.String(
        nullable=False,
        description="`aoti_model_inputs`, `before_launch`, `after_launch`; empty where a program printed by itself.",
    )
    kernel = dy.String(nullable=True, description="Kernel or call, as the generated code names it.")
    launch = dy.Int64(
        nullable=True,
        description="Which launch of this kernel it was in this log and rank, from 1, told by order.",
    )
    argument = dy.String(nullable=True, description="Argument as the generated code writes it.")
    tensor = dy.String(
        nullable=True, description="Its bare name: `buf0` of `copy_arrayref_tensor_to_tensor(buf0)`."
    )
    dtype = dy.String(nullable=True, description="Dtype by torch's name, without `torch.`.")
    dtype_printed = dy.String(nullable=True, description="Dtype as printed (`long int` is int64).")
    device = dy.String(nullable=True, description="Device.")
    shape = dy.List(dy.Int64(), nullable=True, description="Size.")
    stride = dy.List(dy.Int64(), nullable=True, description="Stride, in elements.")
    layout = dy.String(nullable=True, description="Layout, `Strided` for nearly all.")
    contiguous = dy.Bool(nullable=True, description="Whether it is contiguous.")
    requires_grad = dy.Bool(nullable=True, description="Whether it requires a gradient.")
    numel = dy.Int64(nullable=True, description="Number of elements.")
    mean = dy.Float64(nullable=True, description="Mean, printed with six digits.")
    min = dy.Float64(nullable=True, description="Minimum, six digits; integers went through float32.")
    max = dy.Float64(nullable=True, description="Maximum, six digits.")
    std = dy.Float64(nullable=True, description="Standard deviation, of the Python printer only.")
    n_values = dy.Int64(nullable=True, description="How many printed elements could be read.")
    values = dy.List(
        dy.Float64(),
        nullable=True,
        description="Elements of a small tensor, as exact as printed; null where some are lost, or digits of an integer.",
    )
    scalar = dy.Int64(
        nullable=True,
        description="Value of a scalar; null for a literal with a point, which is printed as if it were an integer.",
    )
    value = dy.String(
        nullable=True, description="Scalar, printed elements, or path of the saved tensor, as text."
    )
    has_nan = dy.Bool(
        nullable=True, description="A NaN is among its elements; null where the record does not tell."
    )
    has_inf = dy.Bool(
        nullable=True, description="An infinity is among its elements; null where the record does not tell."
    )
    uninitialised = dy.Bool(
        nullable=True,
        description="Of a tensor before a launch: it holds whatever stood in memory that this launch then writes; null where that cannot be told.",
    )
    complete = dy.Bool(
        nullable=False, description="False when the block ends early or is mixed with another."
    )


SCHEMA = Dumps


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for d in events.dumps:
            yield (
                source.name, d.span.line, d.rank, *_sender.sent(d.sender), d.format, d.phase, d.kernel, d.launch, d.argument,
                bare_name(d.argument) or None, torch_dtype(d.dtype), d.dtype, d.device, _list(d.shape), _list(d.stride),
                d.layout, d.contiguous, d.requires_grad, d.numel, d.mean, d.min, d.max, d.std,
                len(d.values) if d.values is not None else None, _list(d.values), scalar_value(d), d.value, d.has_nan,
                d.has_inf, d.uninitialised, d.complete,
            )  # fmt: skip


def _list(values: tuple[Any, ...] | None) -> list[Any] | None:
    return list(values) if values is not None else None

"""What the device asserts of ATen mean: the operators that print each, and what was wrong with what they were given.

Sources: aten/src/ATen/native/cuda/*.cu, and THC and THCUNN in releases before 1.8. One condition stands in several kernels, so
a row is told by its condition and, where that is not enough, by its file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.parse.events import Assertion


@dataclass(frozen=True)
class AtenAssert:
    """An assert of ATen. `index` when an index was out of range; `look` says what to print."""

    operators: str
    wrong: str
    look: str
    condition: re.Pattern[str]
    file: re.Pattern[str] = re.compile("")
    index: bool = True

    @property
    def title(self) -> str:
        """Say it in a sentence."""
        return f"{self.wrong}, given to {self.operators}" if self.operators else self.wrong


def _row(
    operators: str, wrong: str, look: str, condition: str, file: str = "", *, index: bool = True
) -> AtenAssert:
    return AtenAssert(operators, wrong, look, re.compile(condition), re.compile(file), index)


_RANGE = "the smallest and largest index, and the size of the dimension that is indexed"
_CLASSES = "the smallest and largest target, and the number of classes (ignore_index is allowed, other negatives are not)"
_PROBABILITIES = (
    "whether the tensor of probabilities holds NaN, infinities or negative values, and where they come from"
)
ASSERTS: tuple[AtenAssert, ...] = (
    _row(
        "advanced indexing (`x[index]`) or `index_put_`",
        "an index is outside of [-size, size)",
        _RANGE,
        r"index >= -sizes\[i\] && index < sizes\[i\]|-sizes\[i\] <= index && index < sizes\[i\]",
    ),
    _row(
        "`take` or `put_`",
        "an index is outside of the flattened tensor",
        _RANGE,
        r"cuda_take_put_kernel|idx < numel && idx >= -numel",
    ),
    _row(
        "`index_copy_`",
        "an index is out of range",
        _RANGE,
        r"index_copy_\(\)|idx >= 0 && idx < self_dim_size",
    ),
    _row(
        "`index_fill_`", "an index is out of range", _RANGE, r"idx >= -self_dim_size && idx < self_dim_size"
    ),
    _row(
        "`masked_scatter_`",
        "the mask has more true elements than the source has elements",
        "mask.sum() and source.numel()",
        r"totalElements <= srcSize",
        index=False,
    ),
    _row(
        "`gather`, `scatter` or an operator that is made of them (`one_hot`, `take_along_dim`)",
        "an index is out of range of the dimension",
        _RANGE,
        r"idx_dim >= 0 && idx_dim < index_size|indexValue >= 0 && indexValue < |scatter gather kernel index",
    ),
    _row(
        "`embedding` or `index_select`",
        "an index is negative or not less than the number of rows",
        "the smallest and largest id, and the rows of the table",
        r"srcIndex < srcSelectDimSize",
    ),
    _row("`index_add_`", "an index is out of range", _RANGE, r"(?:dst|src)Index < (?:dst|src)AddDimSize"),
    _row("`index_fill_`", "an index is out of range", _RANGE, r"dstIndex < dstFillDimSize"),
    _row("`index_copy_`", "an index is out of range", _RANGE, r"(?:dst|src)Index < (?:dst|src)CopyDimSize"),
    _row("advanced indexing", "an index is out of range", _RANGE, r"indexAtDim < data\.baseSizes\[dim\]"),
    _row(
        "`nll_loss` or `cross_entropy`",
        "a target is no class: it is negative or not less than the number of classes",
        _CLASSES,
        r"\bt >= 0 && t < n_classes|cur_target >= 0 && cur_target < n_classes|\btarget\w* >= 0 && target\w* < n_classes",
    ),
    _row(
        "`multi_margin_loss`",
        "a target is no class",
        _CLASSES,
        r"target_k >= 0 && target_k < dim",
    ),
    _row(
        "`multilabel_margin_loss`",
        "a target is no class",
        _CLASSES,
        r"target_idx >= 0 && target_idx < dim|target_k <= dim",
        r"MultiLabelMargin",
    ),
    _row(
        "`embedding_bag`",
        "an id is negative or not less than the number of rows",
        "the smallest and largest id, and the rows of the table",
        r"EmbeddingBag|has_invalid_index|input_idx < numRows",
    ),
    _row(
        "`max_unpool`",
        "an index is outside of the output",
        "the indices, and output_size",
        r"maxind >= 0 && maxind <",
    ),
    _row(
        "`binary_cross_entropy`",
        "an input is outside of [0, 1], or NaN",
        "the smallest and largest input, before the loss; `binary_cross_entropy_with_logits` takes any input",
        r"input_val >= zero && input_val <= one|\*input >= 0\. && \*input <= 1\.",
        index=False,
    ),
    _row(
        "`bernoulli`",
        "a probability is outside of [0, 1], or NaN",
        _PROBABILITIES,
        r"0 <= p\d && p\d <= 1",
        index=False,
    ),
    _row(
        "`multinomial`",
        "a probability is NaN, infinite or negative",
        _PROBABILITIES,
        r"probability tensor contains either|val >= zero|!_isinf\(val\)|!_isnan\(val\)|!at::_is(?:nan|inf)\(val\)",
        index=False,
    ),
    _row(
        "`multinomial`",
        "no probability is positive",
        _PROBABILITIES,
        r"invalid multinomial distribution|sum > accZero|cumdist\[size - 1\] > ",
        index=False,
    ),
    _row(
        "`repeat_interleave`",
        "`output_size` is not the sum of the repeats",
        "repeats.sum() and output_size",
        r"result_size == cumsum_ptr\[size - 1\]",
        index=False,
    ),
    _row(
        "",
        "a condition that `torch._assert_async` tests is false",
        "the condition",
        r"",
        r"TensorCompare\.cu",
        index=False,
    ),
)

_ATEN = re.compile(r"(?:^|[\\/])(?:aten|ATen|THC|THCUNN)[\\/]")
_CUDA_FILE = re.compile(r"\.cuh?$")


def is_aten(assertion: Assertion) -> bool:
    """Tell whether an assert stands in a kernel of PyTorch itself."""
    return _ATEN.search(assertion.file or "") is not None


def is_cuda_source(assertion: Assertion) -> bool:
    """Tell whether an assert stands in a CUDA source, which no generated kernel is."""
    return _CUDA_FILE.search(assertion.file or "") is not None


def aten_assert(assertion: Assertion) -> AtenAssert | None:
    """Return what an assert of ATen means, None for one that the table does not have."""
    if not is_aten(assertion):
        return None
    condition = " ".join(assertion.message.split())
    file = assertion.file or ""
    return next((a for a in ASSERTS if a.condition.search(condition) and a.file.search(file)), None)

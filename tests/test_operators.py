"""Whose operator it is."""

import pytest

from aoti_logs.rules.operators import is_custom


@pytest.mark.parametrize("operator", ["my.op.default", "torch.ops.my.op.default", "torch.ops.my.op", "torchvision.nms.default"])  # fmt: skip
def test_an_operator_of_another_namespace_is_not_pytorchs(operator: str):
    assert is_custom(operator)


@pytest.mark.parametrize("operator", ["aten.mm.default", "torch.ops._c10d_functional.all_reduce.default", "torch.ops.quantized_decomposed.quantize_per_tensor.default", "torch.ops.higher_order.cond", "linear", "torch.mm", None])  # fmt: skip
def test_an_operator_of_pytorch_or_a_plain_function_is_not_custom(operator: str | None):
    assert not is_custom(operator)

"""Which call of a line refused its arguments: the marked one, or the only thing that the line does."""

import pytest

from aoti_logs.rules.al618_operator import _called


@pytest.mark.parametrize(
    ("code", "marked", "op"),
    [
        ("y = torch.mm(a, b)", None, "torch.mm"),
        ("return torch.cat([torch.mm(a, b), c])", "torch.mm(a, b)", "torch.mm"),
        ("a @ torch.randn(5, 2)", "a @ torch.randn(5, 2)", None),
        ("torch.ones(3)[7]", None, None),
        ("torch.ones(3)[7]", "torch.ones(3)[7]", None),
        ("y = torch.mm(x[0], b)", None, None),
        ("x += torch.ones(3)", None, None),
    ],
)
def test_what_only_computes_an_operand_of_what_failed_is_not_blamed(
    code: str, marked: str | None, op: str | None
):
    assert _called(code, marked) == op

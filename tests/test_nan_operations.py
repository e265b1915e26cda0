"""Which lines of a generated kernel can make NaN of finite numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.rules.nan_operations import _what

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tmp9 = (tmp7 / tmp8)", "divides"),
        ("tmp9 = (tmp7 / tmp5)", None),  # tmp5 is 10.0
        ("tmp3 = tl_math.log(tmp2)", "log"),
        ("tmp3 = libdevice.log1p(tmp2)", "log"),
        ("tmp7 = libdevice.rsqrt(tmp6)", "sqrt"),
        ("tmp4 = tl.sqrt_rn(tmp3)", "sqrt"),
        ("auto tmp2 = tmp1.log();", "log"),
        ("auto tmp2 = std::log(tmp1);", "log"),
        ("tmp10 = libdevice.tanh(tmp9)", None),
        ("tmp3 = libdevice.acos(tmp2)", "other"),
        ("tmp3 = tl_math.exp(tmp2)", None),
        ("tmp3 = tmp0 * tmp2", None),
    ],
)
def test_divisions_logarithms_and_roots_can_make_nan_and_products_cannot(line: str, what: str | None):
    assert _what(line, {"tmp5": 10.0}) == what


@pytest.mark.parametrize(
    ("fixture", "operation"),
    [
        ("gpu_ten_nan_division_next", "tmp9 = (tmp7 / tmp8)"),
        ("gpu_ten_nan_division_values", "tmp9 = (tmp7 / tmp8)"),
        ("gpu_nan_printed", "tmp16 = tl_math.log(tmp15)"),
        ("gpu_compile_nan_assert", "tmp3 = tl_math.log(tmp2)"),
    ],
)
def test_the_operation_that_made_the_nan_is_quoted(fixture: str, operation: str):
    findings = aoti_logs.load(FIXTURES / fixture).explain().findings
    quoted = [link.text for f in findings if f.rule in {"AL401", "AL402"} for link in f.chain]
    assert operation in quoted

"""The value printer of the installed torch: what it prints of random tensors is read back."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aoti_logs.parse.dtype import torch_dtype
from tests.log_text import assert_partition, read
from tests.printed_tensors import print_cpp, print_python

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

FLOATS = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
SHAPES = st.lists(st.integers(0, 7), max_size=4).map(tuple) | st.sampled_from(
    [(1, 64), (64,), (2, 31), (65,), (2, 2, 15), (3, 1, 20)]
)
ODD = st.sampled_from([None, None, None, math.nan, math.inf, -math.inf])
SCALES = st.sampled_from([1.0, 1.0, 1e-6, 1e6, 1e-3, 100.0, 1e10, 0.0])


@st.composite
def tensors(draw: st.DrawFn, dtypes: tuple[str, ...] = FLOATS + INTEGERS):
    import torch

    name, shape = draw(st.sampled_from(dtypes)), draw(SHAPES)
    dtype = getattr(torch, name)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    if name in INTEGERS:
        most = draw(st.sampled_from([2, 100, 30_000, 200_000, 2**40]))
        value = torch.randint(-most, most, shape, generator=generator)
        return value.abs().to(dtype) if name.startswith("u") else value.to(dtype)
    value = torch.randn(shape, generator=generator, dtype=torch.float64) * draw(SCALES)
    odd = draw(ODD)
    if odd is not None and value.numel():
        value.view(-1)[draw(st.integers(0, value.numel() - 1))] = odd
    value = value.to(dtype)
    if value.dim() == 2 and draw(st.booleans()) and "float8" not in name:
        value = value.t()
    return value


SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(tensors())
def test_every_tensor_is_read_back(tensor):
    text = print_cpp([(tensor, "after_launch - cpp_fused_0 - buf0")])
    events = read(text)
    assert_partition(events, len(text.encode()))
    assert not events.unparsed
    (dump,) = events.dumps
    assert dump.complete
    assert (dump.shape, dump.stride) == (tuple(tensor.shape), tensor.stride())
    assert torch_dtype(dump.dtype) == str(tensor.dtype).removeprefix("torch.")
    assert dump.contiguous == tensor.is_contiguous()
    numbers = tensor.double().reshape(-1).tolist()
    if dump.has_nan is not None:
        assert dump.has_nan == any(math.isnan(v) for v in numbers)
    if dump.has_inf is not None:
        assert dump.has_inf == any(math.isinf(v) for v in numbers)
    if dump.values is not None:
        assert len(dump.values) == len(numbers)
        most = max((abs(v) for v in numbers if math.isfinite(v)), default=0.0)
        for printed, real in zip(dump.values, numbers, strict=True):
            assert math.isnan(printed) == math.isnan(real)
            if math.isfinite(real):
                assert abs(printed - real) <= 1e-4 * max(most, 1e-12) + 1e-4 * min(most, 1.0)
            elif not math.isnan(real):
                assert printed == real


@SETTINGS
@given(tensors(FLOATS))
def test_small_floating_tensors_have_all_their_elements(tensor):
    (dump,) = read(print_cpp([(tensor, "after_launch - k - buf0")])).dumps
    assert (dump.values is not None) == (tensor.numel() <= 64)
    assert dump.has_nan is not None


@SETTINGS
@given(tensors(INTEGERS))
def test_integers_are_exact_or_missing(tensor):
    (dump,) = read(print_cpp([(tensor, "after_launch - k - buf0")])).dumps
    if dump.values is not None:
        assert list(dump.values) == [float(v) for v in tensor.reshape(-1).tolist()]


@SETTINGS
@given(tensors(COMPLEX))
def test_complex_tensors_end_at_their_end(tensor):
    text = print_cpp([(tensor, "after_launch - k - buf0")] * 2)
    events = read(text)
    assert len(events.dumps) == 2
    assert all(d.complete for d in events.dumps)
    assert not events.unparsed


@SETTINGS
@given(tensors(("float32", "float16", "int64", "bool", "bfloat16")))
def test_the_python_printer_is_read_back(tensor):
    if tensor.numel() == 0:
        return  # the printer itself fails: aminmax of nothing
    text = print_python(
        [(tensor, "before_launch - extern_kernels.mm - buf0"), (7, "before_launch - triton_ - s3")]
    )
    events = read(text)
    assert not events.unparsed
    dump, scalar = events.dumps
    assert (dump.shape, dump.numel, dump.complete) == (tuple(tensor.shape), tensor.numel(), True)
    assert (scalar.value, scalar.complete) == ("7", True)
    assert dump.has_nan == bool(tensor.isnan().any())
    if tensor.numel() <= 64:
        assert dump.values is not None
        assert len(dump.values) == tensor.numel()


@SETTINGS
@given(st.lists(tensors(), min_size=1, max_size=4), st.data())
def test_damage_loses_no_byte_and_never_raises(some, data):
    text = print_cpp([(t, f"after_launch - k - buf{n}") for n, t in enumerate(some)]).encode()
    start = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    put = data.draw(
        st.sampled_from(
            [b"", b"\n", b"\xff\x00", b"loss 0.25\n", b"[  before_launch - k - buf9  ]:\n", b"1 2 3\n"]
        )
    )
    damaged = text[:start] + put + text[start + length :]
    assert_partition(read(damaged), len(damaged))


def test_a_wide_matrix_with_a_scale_is_put_together():
    """`Columns 1 to 101e-06 *`: the scale stands directly behind the number of the last column."""
    import torch

    tensor = torch.arange(60.0).reshape(2, 30) * 1e-6
    text = print_cpp([(tensor, "after_launch - k - buf0")])
    assert "Columns 1 to 101e-06 *" in text or "e-0" in text
    (dump,) = read(text).dumps
    assert dump.values is not None
    assert dump.values[35] == pytest.approx(35e-6)


def test_a_header_without_message_is_read():
    import torch

    (dump,) = read(print_cpp([(torch.tensor(5), None)])).dumps
    assert (dump.phase, dump.kernel, dump.argument, dump.values) == ("", None, None, (5.0,))


def test_a_complex_mean_decides_that_all_is_finite():
    import torch

    fine, odd = torch.ones(300, dtype=torch.complex64), torch.ones(300, dtype=torch.complex64)
    odd[7] = complex(1, math.nan)
    first, second = read(print_cpp([(fine, "k - a"), (odd, "k - b")])).dumps
    assert (first.has_nan, first.has_inf) == (False, False)
    assert (second.has_nan, second.has_inf) == (None, None)


def test_a_large_float64_is_not_taken_for_infinite():
    """Statistics are those of a float32 copy, which is infinite from 3.4e38 on."""
    import torch

    small, large = torch.full((3,), 1e300, dtype=torch.float64), torch.full((99,), 1e300, dtype=torch.float64)
    first, second = read(print_cpp([(small, "k - a"), (large, "k - b")])).dumps
    assert (first.max, first.has_inf) == (math.inf, False)
    assert (second.max, second.has_inf) == (math.inf, None)

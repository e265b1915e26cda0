"""What stands above a Triton kernel: heuristics, hints, device, counts, in the forms of all releases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.triton.meta import Device, KernelMeta, meta_of
from aoti_logs.code.triton.printed_value import Text, printed
from tests.recorded_kernels import NAMES, recorded, text_of

KINDS = {
    "bmm": "template", "combo": "combo", "combo_reduction": "combo", "cooperative": "cooperative_reduction",
    "cumulative": "reduction", "cumulative_split": "split_scan", "flex_attention": "template", "foreach": "foreach",
    "mm": "template", "mm_descriptor": "template", "pool": "pointwise", "sort": "persistent_reduction",
    "user": "pointwise", "user_2": "user", "user_autotuned": "user", "welford": "reduction",
}  # fmt: skip
HEAD = """
import triton
@triton_heuristics.{call}
@triton.jit
def triton_(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
"""


def meta(name: str) -> KernelMeta:
    found = recorded(name).meta
    assert found is not None
    return found


def of_call(call: str) -> KernelMeta:
    found = meta_of(HEAD.format(call=call))
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_decorator_of_every_recorded_kernel_is_read(name):
    assert meta(name).unread is None
    assert meta(name).device == Device("cuda", 0, "90", 32, 132)


@pytest.mark.parametrize(("name", "kind"), sorted(KINDS.items()))
def test_the_kind_of_a_kernel_is_told(name, kind):
    assert meta(name).kind == kind


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_names_the_parameters(name):
    inside = recorded(name)
    names = [p.name for p in inside.kernel.params]
    signature = meta(name).signature
    assert [n for n, _ in signature] == [n for n in names if n in dict(signature)]
    # A number of 1 is `constexpr` to Triton, and is passed like any other.
    assert all(p.dtype or dict(signature)[p.name] == "constexpr" for p in inside.kernel.params)


def test_size_hints_and_hints_of_a_reduction():
    found = meta("welford")
    assert (found.size_hints, found.reduction_hint) == ((("x", 32), ("r0_", 8192)), "INNER")


def test_warps_and_stages_of_a_template():
    found = meta("mm")
    assert (found.heuristic, found.num_stages, found.num_warps) == ("template", 5, 4)


# torch 2.3, `codegen/triton.py`: positions for names, no device properties.
OLD = """pointwise(size_hints=[64, 128], tile_hint=TileHint.SQUARE,filename=__file__,
    triton_meta={'signature': {0: '*fp32', 1: '*fp32', 2: 'i32'}, 'device': 0, 'device_type': 'cuda', 'constants': {}, 'configs': [instance_descriptor(divisible_by_16=(0, 1, 2), equal_to_1=(), ids_of_folded_args=(), divisible_by_8=(2,))]},
    inductor_meta={'autotune_hints': set(), 'kernel_name': 'triton_poi_fused_0', 'mutated_arg_names': ['in_out_ptr0'], 'no_x_dim': False},
    min_elem_per_thread=0
)"""
# torch 2.0, the same file: everything in `meta`, mutated names beside it.
OLDEST = """pointwise(size_hints=[1024], filename=__file__, meta={'signature': {0: '*fp32', 1: '*fp32', 2: 'i32'}, 'device': 0, 'constants': {}, 'mutated_arg_names': [], 'configs': [instance_descriptor(divisible_by_16=(0, 1, 2), equal_to_1=())]})"""
# torch 2.6 for ROCm, the same file.
HIP = """template(
    num_stages=2,
    num_warps=8,
    triton_meta={'signature': {'arg_X': '*bf16'}, 'device': DeviceProperties(type='hip', index=0, multi_processor_count=304, cc='gfx942', major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=64), 'constants': {}, 'configs': [AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0, 1, 2), 'tt.equal_to': ()}, 'cls': 'AttrsDescriptor'})]},
    inductor_meta={'kernel_name': 'triton_tem_fused_convolution_0'},
)"""


def test_releases_that_wrote_positions_for_names_are_read():
    found = of_call(OLD)
    assert found.size_hints == (("0", 64), ("1", 128))
    assert found.signature == (("0", "*fp32"), ("1", "*fp32"), ("2", "i32"))
    assert (found.tile_hint, found.mutated, found.device) == ("SQUARE", ("in_out_ptr0",), Device("cuda", 0))


def test_the_oldest_form_has_everything_in_meta():
    found = of_call(OLDEST)
    assert found.signature[0] == ("0", "*fp32")
    assert found.device == Device(None, 0)


def test_a_capability_that_is_no_number_is_kept_as_written():
    assert of_call(HIP).device == Device("hip", 0, "gfx942", 64, 304)


def test_what_a_release_does_not_tell_is_none_and_never_a_guess():
    found = of_call("pointwise(size_hints=[64])")
    assert (found.mutated, found.num_load, found.num_store, found.grid_type, found.checks_indices) == (
        None,
    ) * 5


def test_a_decorator_that_is_no_python_is_kept_as_text():
    found = of_call("pointwise(size_hints=[64")
    assert found.unread is not None and found.kind is None


def test_a_call_without_meaning_here_is_kept_by_name():
    import ast

    value = printed(ast.parse("{'a': [1, ReductionHint.INNER, -2.5], 'b': {(0,): set()}}", mode="eval").body)
    assert value == {"a": (1, Text("ReductionHint.INNER"), -2.5), "b": {(0,): frozenset()}}


@given(st.integers(0, 3000), st.integers(0, 60), st.sampled_from(("combo", "foreach", "user_2", "mm")))
def test_damage_never_raises(start, length, name):
    text = text_of(name)
    found = meta_of(text[:start] + text[start + length :])
    assert found is None or found.unread is not None or found.heuristic is not None

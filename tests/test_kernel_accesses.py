"""What a kernel reads and writes agrees with what Inductor itself counted and declared."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.expr import names
from aoti_logs.code.kernel.inside import Inside
from tests.recorded_kernels import NAMES, inside_of, recorded, text_of

_TMP = re.compile(r"^tmp\d+$")
HAND_WRITTEN = {"cooperative"}
"""Its workspace is read and written by lines that Inductor does not count (`codegen_cooperative_reduction_...`)."""


def lines_of(inside: Inside, *kinds: str) -> set[tuple[int, str]]:
    return {(a.line, str(a.index)) for a in inside.accesses if a.kind in kinds}


def written(inside: Inside) -> set[str | None]:
    return {a.pointer for a in inside.accesses if a.kind in {"store", "atomic", "call"}}


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_of_a_recorded_kernel_is_read(name):
    assert recorded(name).unread == ()


@pytest.mark.parametrize("name", sorted(set(NAMES) - HAND_WRITTEN))
def test_direct_loads_are_as_many_as_inductor_counted(name):
    """`CSEProxy.load` of codegen/common.py counts no load whose index has a `tmp`; seeds it does not see."""
    inside = recorded(name)
    if inside.meta is None or inside.meta.num_load is None:
        return
    direct = [
        a
        for a in inside.accesses
        if a.kind == "load" and not any(map(_TMP.match, names(a.index))) and "seed" not in str(a.index)
    ]
    if name == "bucketize":  # the helper's own search of the edges
        direct = [a for a in direct if "(...)" not in str(a.index)]
    assert len(direct) == inside.meta.num_load


@pytest.mark.parametrize("name", sorted(set(NAMES) - HAND_WRITTEN))
def test_stores_are_as_many_as_inductor_counted(name):
    inside = recorded(name)
    if inside.meta is not None and inside.meta.num_store is not None:
        assert len(lines_of(inside, "store", "atomic")) == inside.meta.num_store


@pytest.mark.parametrize("name", NAMES)
def test_what_inductor_says_is_changed_is_written(name):
    inside = recorded(name)
    mutated = {p.name for p in inside.params if p.mutated}
    assert mutated <= written(inside)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_parameters_tell_what_the_body_does(name):
    inside = recorded(name)
    stored = written(inside)
    for p in inside.params:
        if p.role == "in_ptr":
            assert p.name not in stored
        elif p.role in {"out_ptr", "in_out_ptr"}:
            assert p.name in stored
        assert p.role != "pointer" or name.startswith(("flex", "mm_descriptor"))


def test_kernels_of_users_are_told_by_their_body():
    roles = {p.name: p.role for p in recorded("user_2").params}
    assert roles == {
        "table_ptr": "in_ptr", "index_ptr": "in_ptr", "out_ptr": "out_ptr", "rows": "scalar", "n": "scalar",
        "WIDTH": "constexpr", "BLOCK": "constexpr",
    }  # fmt: skip


def test_what_a_kernel_was_compiled_for_is_its_constant():
    constants = {p.name: p.constant for p in recorded("user_2").params}
    assert (constants["WIDTH"], constants["BLOCK"], constants["n"]) == ("8", "128", None)


def test_a_number_with_the_name_of_a_pointer_is_a_number(fixtures_dir):
    """A tensor of one number on the CPU is passed by value to a kernel on the GPU."""
    (inside,) = aoti_logs.load(fixtures_dir / "python_wrappers" / "cuda" / "scalar_tensor.py").insides()
    assert {p.name: p.role for p in inside.params}["in_ptr1"] == "scalar"
    assert {a.pointer for a in inside.accesses} == {"in_ptr0", "out_ptr0"}


def test_atomics_are_no_plain_stores():
    (access,) = [a for a in recorded("scatter").accesses if a.kind == "atomic"]
    assert (access.operation, access.pointer) == ("tl.atomic_add", "out_ptr0")


def test_an_indirect_read_tells_through_what():
    (access,) = [a for a in recorded("gather_reduced").accesses if a.pointer == "in_ptr1"]
    assert access.through == ("in_ptr0",)


def test_a_pointer_that_a_function_gets_may_be_written():
    calls = {a.operation: a.pointer for a in recorded("cumulative_split").accesses if a.kind == "call"}
    assert calls == {"triton_helpers.exclusive_scan_decoupled_lookback": "ws_ptr"}


def test_reads_of_functions_that_a_template_calls_are_its_own():
    """`load_checked_2d` of the flex attention template reads for the kernel; keys and values are one tensor here."""
    read = {a.pointer for a in recorded("flex_attention_2").accesses if a.kind == "load"}
    assert {"arg_Q", "arg_V", "arg_KV_IDX"} <= read


def test_tensor_descriptors_and_block_pointers_lead_to_their_parameters():
    for name in ("descriptors", "block_pointers"):
        found = {(a.kind, a.pointer) for a in recorded(name).accesses}
        assert {("load", "in_ptr0"), ("store", "out_ptr0")} <= found


def test_a_pointer_that_a_loop_moves_is_not_claimed_to_have_one_index():
    moved = [a for a in recorded("bmm").accesses if a.kind == "load" and not a.exact]
    assert {a.pointer for a in moved} == {"arg_A", "arg_B"}


def test_branches_around_an_access_are_told():
    conditions = {a.pointer: a.conditions for a in recorded("combo").accesses if a.kind == "store"}
    assert [str(c) for c in conditions["out_ptr0"]] == ["pid < num_xblocks_0"]
    assert [str(c) for c in conditions["out_ptr1"]] == ["not (pid < num_xblocks_0)", "pid < num_xblocks_1"]


@given(
    st.sampled_from(("combo", "user_2", "flex_attention_2", "scatter", "cooperative")),
    st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from(("cut", "double", "swap", "comment"))), max_size=4
    ),
)
def test_damaged_kernels_never_raise_and_never_name_a_parameter_that_is_not_there(name, damages):
    lines = text_of(name).split("\n")
    for place, how in damages:
        at = place % len(lines)
        match how:
            case "cut":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                lines[at] = lines[at][::-1]
            case "comment":
                lines[at] = "# " + lines[at]
    text = "\n".join(lines)
    if not re.search(r"^def \w+\(", text, re.MULTILINE):
        return
    inside = inside_of(text)
    known = {p.name for p in inside.body.params}
    for access in inside.accesses:
        assert access.pointer is None or access.pointer in known
        assert set(access.through) <= known
    for check in inside.checks:
        assert set(check.indexed) <= known
        assert set(check.origins) <= known

"""Slices of values: inputs, statements in between, and what is said when a way is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.kernel.inside import Inside
from aoti_logs.code.kernel.launch_sizes import sizes_at
from aoti_logs.code.kernel.value_slice import ValueSlice
from aoti_logs.code.model import Argument, ArgumentKind, Backend, Launch
from aoti_logs.code.triton.expr import parse_python
from tests.recorded_kernels import NAMES, inside_of, recorded, text_of
from tests.test_breaking import cpp


def sliced(inside: Inside, name: str, line: int | None = None) -> ValueSlice:
    found = inside.slice(name, line)
    assert found is not None
    return found


def line_of(inside: Inside, text: str) -> int:
    lines = inside.kernel.source.lines
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_a_value_leads_to_what_is_read_and_to_the_sizes():
    found = sliced(recorded("index_masked"), "tmp9")
    assert found.named("load", via="value") == ("in_ptr0",)
    assert found.named("size", via="value") == ("ks1",)
    assert "ks0" in found.named("size", via="condition")
    assert found.complete


def test_the_statements_in_between_are_quoted_in_order():
    inside = recorded("gather_reduced")
    quoted = [text for _, text in inside.quoted(sliced(inside, "tmp4"))]
    assert quoted[-4:] == [
        "tmp1 = tl.full([1, 1], 50, tl.int32)",
        "tmp2 = tmp0 + tmp1",
        "tmp3 = tmp0 < 0",
        "tmp4 = tl.where(tmp3, tmp2, tmp0)",
    ]


def test_the_address_of_a_read_on_the_way_is_an_address():
    found = sliced(recorded("gather_reduced"), "tmp6")
    assert ("load", "in_ptr1", "value") in {(i.kind, i.name, i.via) for i in found.inputs}
    assert ("load", "in_ptr0", "address") in {(i.kind, i.name, i.via) for i in found.inputs}


def test_a_name_that_is_used_again_means_the_value_up_to_the_line():
    inside = recorded("combo")
    first = sliced(inside, "xmask", line_of(inside, "tmp0 = tl.load"))
    assert "xmask = xindex < xnumel_0" in [text for _, text in inside.quoted(first)]
    assert first.conditions == ("pid < num_xblocks_0",)


def test_a_line_gives_what_stands_on_it():
    inside = recorded("combo")
    (store,) = inside.slice_line(line_of(inside, "tl.store(out_ptr2"))
    assert store.named("load", via="value") == ("in_ptr0",)
    assert "in_ptr2" in store.named("load", via="address")
    (check,) = inside.slice_line(line_of(inside, "tl.device_assert"))
    assert check.named("load", via="value") == ("in_ptr2",)


def test_a_cpp_value_leads_through_lambdas_to_memory_and_loops():
    found = sliced(cpp("index_two"), "tmp4")
    assert found.named("load") == ("in_ptr0",)
    assert set(found.named("loop")) == {"x0", "x1"}


def test_values_of_functions_that_are_called_are_found_by_their_own_names():
    found = sliced(recorded("flex_attention_2"), "m_ij")
    assert found.target.startswith("m_ij@forward_block_mn#")
    assert "arg_Q" in found.named("load")


def test_a_name_that_nothing_assigns_has_no_slice():
    assert recorded("combo").slice("tmp99") is None
    assert recorded("combo").slice("tmp14", 1) is None


def test_a_statement_that_cannot_be_read_makes_the_slice_incomplete():
    text = text_of("gather_reduced").replace("tmp2 = tmp0 + tmp1", "del tmp1")
    found = sliced(inside_of(text), "tmp4")
    assert not found.complete
    assert (35 < found.gaps[0][0] < 45) and "del tmp1" in [t for _, t in found.gaps]
    assert ("unknown", "tmp2") in {(i.kind, i.name) for i in found.inputs}


def test_sizes_of_a_launch_are_those_of_its_arguments():
    def argument(
        position: int, param: str | None, text: str, kind: ArgumentKind, name: str | None = None
    ) -> Argument:
        return Argument(position, param, text, kind, name, parse_python(text))

    launch = Launch(
        0, "k", Backend.TRITON, 1, "",
        (
            argument(0, "in_ptr0", "arg0_1", ArgumentKind.INPUT, "arg0_1"),
            argument(1, "ks0", "s70", ArgumentKind.SIZE, "s70"),
            argument(2, "xnumel", "16*s70 + 4", ArgumentKind.EXPRESSION),
            argument(3, "ks1", "s99", ArgumentKind.SIZE, "s99"),
            argument(4, None, "stream", ArgumentKind.OTHER, "stream"),
        ),
    )  # fmt: skip
    assert sizes_at(launch, {"s70": 5}) == {"ks0": 5, "xnumel": 84}


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_recorded_kernel_has_a_slice_of_known_names(name):
    inside = recorded(name)
    known = {p.name for p in inside.kernel.params}
    targets = dict.fromkeys(re.findall(r"^    (tmp\d+) = ", text_of(name), re.MULTILINE))
    for target in list(targets)[:12]:
        found = inside.slice(target)
        assert found is not None
        assert set(found.named("load") + found.named("size") + found.named("constant")) <= known
        assert found.complete, (target, found.gaps)


@given(
    st.sampled_from(("combo", "gather_reduced", "index_masked", "user_2", "complex_sizes")),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 40), st.integers(0, 20)), max_size=3),
)
def test_damage_never_raises_and_never_names_a_parameter_that_is_not_there(name, cuts):
    lines = text_of(name).split("\n")
    for place, start, length in cuts:
        at = place % len(lines)
        lines[at] = lines[at][:start] + lines[at][start + length :]
    text = "\n".join(lines)
    if not re.search(r"^def \w+\(", text, re.MULTILINE):
        return
    inside = inside_of(text)
    known = {p.name for p in inside.body.params}
    for line in range(1, len(lines) + 1, 7):
        for found in inside.slice_line(line):
            assert set(found.named("size") + found.named("constant")) <= known
            loads = set(found.named("load"))
            assert loads <= known or not found.complete
    for check in inside.checks:
        broken = check.breaking({"ks0": 3, "ks1": 2, "xnumel": 9, "r0_numel": 4})
        assert broken.known or broken.why

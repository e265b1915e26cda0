"""Damaged wrappers: nothing raises, and no symbol is bound to what the damaged text does not say."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aoti_logs.code.codebase import Code
from aoti_logs.code.expr import Call, Name, Num, Op
from aoti_logs.code.names.call_spec import call_spec
from aoti_logs.code.sizes import answers as size_answers
from aoti_logs.code.sizes.definition import canonical, measured_extent, plain, symbols_of
from aoti_logs.code.sizes.example_inputs import example_inputs
from aoti_logs.code.sizes.input_dims import asserted
from aoti_logs.code.view import ModelView
from aoti_logs.sources.source import Kind, Source

SIZES = Path(__file__).resolve().parent.parent / "fixtures" / "sizes"
TEXTS = {
    "aoti": (SIZES / "data" / "model.wrapper.cpp", Kind.WRAPPER_CPP),
    "nested": (SIZES / "nested" / "model.wrapper.cpp", Kind.WRAPPER_CPP),
    "derived": (SIZES / "derived" / "model.wrapper.cpp", Kind.WRAPPER_CPP),
    "jit": (SIZES / "data" / "output_code.py", Kind.OUTPUT_CODE),
}


def body(name: str) -> str:
    """The model's own part of a wrapper: what stands before is the same in all."""
    path, kind = TEXTS[name]
    text = path.read_text()
    return text[text.index("class AOTInductorModelKernels") :] if kind is Kind.WRAPPER_CPP else text


BODIES = {name: body(name) for name in TEXTS}


def view_of(text: str, kind: Kind) -> ModelView:
    source = Source("w", kind, lambda: text.encode("utf-8", "replace"))
    wrapper = Code(source, ("w",)).wrapper
    assert wrapper is not None

    class NoFiles:
        kernel_files = ()

    return ModelView(wrapper, NoFiles(), {})  # type: ignore[arg-type]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, Kind]:
    """Cut, doubled, moved or renamed lines of a real wrapper."""
    name = draw(st.sampled_from(sorted(TEXTS)))
    lines = BODIES[name].split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(lines) - 1)))
        length = draw(st.integers(1, 60))
        match draw(st.sampled_from(["cut", "double", "move", "rename", "noise", "end"])):
            case "cut":
                del lines[at : at + length]
            case "double":
                lines[at:at] = lines[at : at + length]
            case "move":
                piece = lines[at : at + length]
                del lines[at : at + length]
                to = draw(st.integers(0, len(lines)))
                lines[to:to] = piece
            case "rename":
                one, other = (
                    draw(st.sampled_from(["s31", "arg2_1", "u0", "buf8"])),
                    draw(st.sampled_from(["s9", "x", "("])),
                )
                lines[at:] = [line.replace(one, other) for line in lines[at:]]
            case "noise":
                lines[at : at + 1] = [draw(st.text(max_size=40))]
            case "end":
                lines = lines[: at + 1]
    return "\n".join(lines), TEXTS[name][1]


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_damage_never_raises_and_every_definition_stands_in_the_text(made):
    text, kind = made
    view = view_of(text, kind)
    for name in view.symbols.names:
        facts = view.symbol(name)
        if facts.defined is not None and facts.measured is facts.defined and facts.defined.dim is not None:
            tensor, dim = facts.defined.tensor, facts.defined.dim
            what = "stride" if facts.defined.stride else "size"
            said = rf"\b{name} = (?:{tensor}_{what}\[{dim}\]|{tensor}\.(?:{what}|sizes\(\)\.at|sym_size)\({dim}\))"
            assert re.search(said, text), name
        assert len(facts.aliases) == len(set(facts.aliases))
        assert name not in facts.aliases
    for one in view.input_dims:
        assert one.extent is None or one.told_by is not None
        assert one.lower is None or str(one.lower) in text
    assert isinstance(view.missing_checks, tuple)
    json.dumps(size_answers.size_facts(view))


@settings(max_examples=60)
@given(st.integers(0, len(BODIES["nested"])), st.integers(0, 400), st.text(max_size=30))
def test_a_damaged_call_specification_gives_the_same_leaves_or_none(at, length, noise):
    text = BODIES["nested"]
    start = text.index("in_spec_ = ")
    at = start + at % 900
    hurt = text[:at] + noise + text[at + length :]
    whole = call_spec(Source("w", Kind.WRAPPER_CPP, text.encode))
    found = call_spec(Source("w", Kind.WRAPPER_CPP, lambda: hurt.encode("utf-8", "replace")))
    assert whole is not None and len(whole.leaves) == 5
    assert found is None or isinstance(found.leaves, tuple)


@given(st.text(alphabet="s0123456789+-*/(), uL{}[]a.", max_size=60))
def test_any_extent_and_any_assertion_is_read_without_raising(text):
    assert isinstance(canonical(text), str)
    assert isinstance(symbols_of(plain(text)), tuple)
    found = asserted(text)
    assert found is None or len(found[0]) == len(found[1])


@given(st.text(max_size=200))
def test_any_text_carries_examples_or_none(text):
    made = f"def get_args():\n    arg0_1 = 5\n{text}\n"
    source = Source("w", Kind.OUTPUT_CODE, lambda: made.encode("utf-8", "replace"))
    assert "arg0_1" in example_inputs(source)


@pytest.mark.parametrize(
    ("value", "extent"),
    [
        (Call("c10::div_floor_integer", (Name("arg0_1_size_0"), Num(2))), "2*s7"),
        (Op("*", (Op("/", (Num(1.0), Num(2.0))), Name("arg0_1_size_0"))), "2*s7"),
        (Op("+", (Op("-", (Num(1),)), Name("arg0_1_size_0"))), "s7 + 1"),
        (Op("-", (Name("arg0_1_size_0"), Num(3))), "s7 + 3"),
        (Call("c10::div_floor_integer", (Op("+", (Num(-1), Name("n"))), Num(4))), "4*s7 + 1"),
        (Op("*", (Num(3), Name("n"))), None),
        (Op("*", (Name("n"), Name("n"))), None),
        (Op("+", (Name("n"), Name("m"))), None),
        (Call("std::sqrt", (Name("n"),)), None),
        (Num(4), None),
    ],
    ids=str,
)
def test_a_measured_size_is_told_in_terms_of_the_symbol_only_where_the_way_back_is_plain(value, extent):
    assert measured_extent(value, "s7") == extent


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 + s44", "s44 + 1"), ("2L*s44", "2*s44"), ("s0*s1 + 3", "3 + s1*s0"), ("(s0)", "s0")],
)
def test_an_extent_is_the_same_in_any_order_of_its_parts(one, other):
    assert canonical(one) == canonical(other)


def test_differences_and_quotients_keep_their_order():
    assert canonical("s0 - s1") != canonical("s1 - s0")
    assert canonical("(s0//s1)") != canonical("(s1//s0)")

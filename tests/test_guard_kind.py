"""What a guard tests, told from its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.guards.guard_kind import GuardKind, guard_kind

# Guards as torch 2.4 to 2.13 print them (torch/_dynamo/guards.py), taken from recorded trees and recompile reasons.
GUARDS = {
    "L['n'] == 1": GuardKind("int_equality", "L['n']", "1"),
    "self.k == -3": GuardKind("int_equality", "self.k", "-3"),
    "d['a'] == 1.0": GuardKind("float_equality", "d['a']", "1.0"),
    "L['self'].training == True": GuardKind("bool_equality", "L['self'].training", "True"),
    "len(L['d']) == 1": GuardKind("length", "L['d']", "1"),
    "not L['kwargs']": GuardKind("length", "L['kwargs']", "0"),
    "___check_obj_id(L['self'], 140613385940624)": GuardKind("identity", "L['self']"),
    "___check_type_id(L['d'], 140616522895008)": GuardKind("type", "L['d']"),
    "___check_global_state()": GuardKind("global_state"),
    "hasattr(L['x'], '_dynamo_dynamic_indices') == False": GuardKind(
        "dimension_marking", "L['x']", "_dynamo_dynamic_indices"
    ),
    "not ___dict_contains('forward', L['m'].__dict__)": GuardKind("key", "L['m'].__dict__", "'forward'"),
    "(x.size()[0] % 2) == 0": GuardKind("size", "x", None, 0),
    "2 <= L['x'].size()[1]": GuardKind("size", "L['x']", None, 1),
    "L['x'].size()[0] == L['y'].size()[0]": GuardKind("sizes"),
    "L['m'].max_norm is None": GuardKind("none", "L['m'].max_norm", "None"),
    "utils_device.CURRENT_DEVICE == None": GuardKind("default_device", None, "None"),
}


@pytest.mark.parametrize(("text", "kind"), GUARDS.items())
def test_a_guard_says_what_it_tests(text, kind):
    assert guard_kind(text) == kind


def test_words_are_no_guard():
    assert guard_kind("GLOBAL_STATE changed: grad_mode ") is None


@given(st.text(max_size=60))
def test_no_text_raises(text):
    guard_kind(text)


@given(st.integers(1, 3000), st.sampled_from(["not ", "-", "(", "[", "a.", "not -"]))
def test_no_depth_raises(depth, part):
    guard_kind(part * depth + "x")

"""Names in C++ symbols: what libiberty, gdb, LLVM and Windows write of the same function."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.stacks.demangle import demangled, is_mangled
from aoti_logs.parse.stacks.native_name import native_name, parsed_name


@pytest.mark.parametrize(
    ("symbol", "qualified"),
    [
        ("main", "main"),
        ("c10::Error::Error(c10::SourceLocation, std::string)", "c10::Error::Error"),
        ("std::function<float (long)>::operator()(long) const", "std::function::operator()"),
        ("std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()", "std::_Sp_counted_base::_M_release"),
        ("void at::native::(anonymous namespace)::fill<int, (c10::ScalarType)3>(at::Tensor&)", "at::native::(anonymous namespace)::fill"),
        ("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<"),
        ("operator new(unsigned long)", "operator new"),
        ("c10::IValue::operator bool() const", "c10::IValue::operator bool"),
        ("unsigned long foo()", "foo"),
        ("decltype (auto) at::count<int>(int)", "at::count"),
        ("run(std::function<void (int)>&, void*)", "run"),
        ("guard variable for c10d::ProcessGroup::broadcast(std::vector<at::Tensor>&)::op", "c10d::ProcessGroup::broadcast::op"),
        ("core::panicking::panic_fmt::h0123456789abcdef", "core::panicking::panic_fmt"),
        ("triton_poi_fused_add_0<<<(4,1,1),(128,1,1)>>>", "triton_poi_fused_add_0"),
        ("`anonymous namespace'::fill", "(anonymous namespace)::fill"),
        ("std::vector<int>::at(unsigned long)@@GLIBCXX_3.4", "std::vector::at"),
    ],
)  # fmt: skip
def test_name_without_type_and_arguments(symbol, qualified):
    name = native_name(symbol)
    assert name is not None
    assert (name.qualified, name.whole) == (qualified, True)


@pytest.mark.parametrize(
    "symbol",
    [
        "foo(int)::{lambda(long)#1}::operator()(long) const",
        "foo(int)::<lambda(long)>::operator()(long) const",
        "foo(int)::'lambda'(long)::operator()(long) const",
        "foo(int)::$_0::operator()(long) const",
    ],
)
def test_a_lambda_is_one_however_it_is_written(symbol):
    name = native_name(symbol)
    assert name is not None
    assert name.qualified.replace("#1", "") == "foo::{lambda}::operator()"


@pytest.mark.parametrize(
    ("symbol", "clone"),
    [
        ("cpp_fused_add_0._omp_fn.0", "._omp_fn.0"),
        ("A::f(int) [clone .isra.0] [clone .cold]", ".isra.0.cold"),
    ],
)
def test_a_clone_is_kept_apart(symbol, clone):
    name = native_name(symbol)
    assert name is not None
    assert (name.clone, "." in name.qualified) == (clone, False)


def test_scope_and_function_are_the_parts_of_the_name():
    name = native_name("torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**)")
    assert name is not None
    assert (name.scope, name.function) == ("torch::aot_inductor::AOTInductorModel", "run_impl")


def test_a_symbol_that_a_web_page_damaged_keeps_its_name_and_says_so():
    """R055 of public reports: closing angle brackets are gone."""
    name = native_name(
        "c10::detail::torchCheckFail(char const*, std::basic_string<char, std::allocator<charconst&)"
    )
    assert name is not None
    assert (name.qualified, name.whole) == ("c10::detail::torchCheckFail", False)


@pytest.mark.parametrize("text", ["", "   ", "(", ">>>", "<", "a" * 30_000, "1", ")", "\x00"])
def test_what_is_no_symbol_has_no_name(text):
    assert native_name(text) is None


SEGMENTS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


@given(st.lists(SEGMENTS, min_size=1, max_size=5))
def test_the_short_way_and_the_grammar_say_the_same(segments):
    text = "::".join(segments)
    assert native_name(text) == parsed_name(text)


@given(st.lists(SEGMENTS, min_size=1, max_size=4), st.text("<>(){}[]:,&*' abc.#@\\`0", max_size=40))
def test_damage_never_raises(segments, tail):
    native_name("::".join(segments) + tail)


def test_mangled_names_are_told():
    assert is_mangled("_ZN3c105ErrorC1Ev")
    assert is_mangled("_ZN3fooEv.cold")
    assert not is_mangled("main")
    assert not is_mangled("c10::Error")


def test_mangled_names_are_taken_apart_where_the_extra_is_installed():
    pytest.importorskip("cxxfilt")
    assert demangled("_ZN3c107WarningC1Ev") == "c10::Warning::Warning()"
    assert demangled("_ZN3fooEv.cold") == "foo() [clone .cold]"
    assert demangled("_ZGVcN4v_Sleef_acosd1_u10") is None


def test_without_the_extra_a_mangled_name_stays(monkeypatch):
    monkeypatch.setattr("aoti_logs.parse.stacks.demangle._demangler", lambda: None)
    demangled.cache_clear()
    assert demangled("_ZN3c105ErrorC1Ev") is None
    demangled.cache_clear()

"""The output of C++ compilers: errors out of warnings, and whom they name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.compiles.compiler_error import compiler_run, diagnostic, diagnostics, is_serious
from aoti_logs.parse.compiles.failure import Diagnostic

GCC = """\
/srv/c/k.kernel.cpp: In function ‘void cpp_fused_add_relu_0(const float*, float*)’:
/srv/c/k.kernel.cpp:16:33: error: ‘compile’ was not declared in this scope
   16 |                     auto tmp1 = compile error!;
      |                                 ^~~~~~~
/srv/c/k.kernel.cpp:10:3: note: suggested alternative: ‘complex’
In file included from /opt/torch/vec.h:19,
                 from /srv/c/k.kernel.cpp:1:
/opt/torch/vec256_qint.h:243:7: warning: overflow in conversion from ‘int’ to ‘char’ [-Woverflow]
  243 |       0xff, 0xff, 0xff, 0xff,
/opt/torch/vec256_qint.h:244:7: note: of a warning
"""


def test_errors_and_their_notes_are_kept_and_warnings_counted():
    found, warnings = diagnostics(GCC)
    assert [(d.severity, d.line, d.column) for d in found] == [("error", 16, 33), ("note", 10, 3)]
    assert warnings == 1


def test_rows_name_the_line_of_the_text():
    (error, _), _ = diagnostics(GCC)
    assert GCC.split("\n")[error.row].endswith("was not declared in this scope")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fake.cpp:12:3: error: no", Diagnostic("error", "no", "fake.cpp", 12, 3)),
        ("C:\\c\\c.cpp:3:1: fatal error: 'omp.h' file not found", Diagnostic("fatal error", "'omp.h' file not found", "C:\\c\\c.cpp", 3, 1)),
        ("c:\\c\\c.cpp(12): error C2065: 'x': undeclared", Diagnostic("error", "C2065: 'x': undeclared", "c:\\c\\c.cpp", 12)),
        ("<command-line>: fatal error: a.h: No such file or directory", Diagnostic("fatal error", "a.h: No such file or directory", program="<command-line>")),
        ("/usr/bin/ld: cannot find -lfoo", Diagnostic("error", "cannot find -lfoo", program="/usr/bin/ld")),
        ("/usr/bin/ld: warning: x.o: missing .note.GNU-stack section", Diagnostic("warning", "x.o: missing .note.GNU-stack section", program="/usr/bin/ld")),
        ("/usr/bin/ld: x.o: in function `f':", Diagnostic("note", "x.o: in function `f':", program="/usr/bin/ld")),
        ("compilation terminated.", None),
        ("   16 |   auto tmp1 = compile error!;", None),
        ("an error: in a sentence of words", None),
    ],
)  # fmt: skip
def test_one_line(line, expected):
    assert diagnostic(line) == expected


def test_a_command_tells_what_was_compiled_how():
    run = compiler_run(
        "C++ compile error\n\nCommand:\n/usr/bin/g++ -I/a -D X /tmp/k.cpp -std=c++17 -include p.h -o /tmp/k.so\n\nOutput:\nNone"
    )
    assert (run.compiler, run.source_file, run.output_file) == ("/usr/bin/g++", "/tmp/k.cpp", "/tmp/k.so")
    assert (run.standard, run.recorded, run.diagnostics) == ("c++17", False, ())


def test_a_text_that_ends_with_the_command_has_no_output():
    run = compiler_run("C++ compile error\n\nCommand:\ng++ a.cpp -o a.so")
    assert (run.source_file, run.recorded) == ("a.cpp", False)


FILES = st.from_regex(r"/[a-z]{1,8}/[a-z0-9_]{1,12}\.(cpp|h|cu)", fullmatch=True)
WORDS = st.from_regex(r"[A-Za-z‘][A-Za-z0-9 ‘’(),.*&<>]{0,40}[a-z]", fullmatch=True)


@given(
    FILES, st.integers(1, 10**7), st.integers(1, 999), st.sampled_from(["error", "warning", "note"]), WORDS
)
def test_what_gcc_prints_is_read_back(file, line, column, severity, words):
    assert diagnostic(f"{file}:{line}:{column}: {severity}: {words}") == Diagnostic(
        severity, words, file, line, column
    )


@given(st.text(max_size=200))
def test_no_line_raises(text):
    found = diagnostic(text)
    assert found is None or found.severity
    compiler_run(text)


@given(st.lists(st.sampled_from(GCC.split("\n")), max_size=30))
def test_lines_in_any_order_lose_no_error(lines):
    text = "\n".join(lines)
    found, _ = diagnostics(text)
    assert sum(map(is_serious, found)) == sum(": error: " in line for line in lines)


def test_the_recorded_compiler_names_the_generated_kernel(fixtures_dir: Path):
    text = (fixtures_dir / "cpu_trace_cxx_error" / "run.log").read_text()
    run = compiler_run(text[text.index("C++ compile error") :])
    errors = [d for d in run.diagnostics if is_serious(d)]
    assert run.source_file is not None
    assert {d.file for d in errors} == {run.source_file}
    assert run.n_warnings == 0

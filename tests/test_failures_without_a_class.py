"""Failures whose text alone says what failed; the lines are those that torch, Triton, gcc and Python print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.failure import FailureKind
from aoti_logs.parse.compiles.unconverted import read_unconverted
from aoti_logs.parse.python.exception_name import NEEDS, WORDS, is_exception
from aoti_logs.rules.missing_files import brings, missing_file

NO_TRITON = "Cannot find a working triton installation. Either the package is not installed or it is too old."
TOO_OLD = (
    "Found Tesla P100-PCIE-16GB which is too old to be supported by the triton GPU compiler, which is used as the "
    "backend. Triton only supports devices of CUDA Capability >= 7.0, but your device is of CUDA capability 6.0"
)
NO_CC = "Failed to find C compiler. Please specify via CC environment variable"
DIED = "A compilation subprocess exited unexpectedly. This is likely due to a crash."
DOUBLE = "torch.compile with aot_autograd does not currently support double backward"
MIXED = (
    "aten.mm.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling "
    "distributed operators!"
)
SPAWN = (
    "RuntimeError: \n        An attempt has been made to start a new process before the\n        current process has "
    "finished its bootstrapping phase.\n"
)


def told(tmp_path, text):
    path = tmp_path / "run.log"
    path.write_text(text)
    return list(aoti_logs.load(path).explain().findings)


def cause(tmp_path, text):
    [found] = [f for f in told(tmp_path, text) if f.role == "cause"]
    return found


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("torch._inductor.exc.TritonMissing", NO_TRITON, FailureKind.NO_TRITON),
        ("RuntimeError", NO_TRITON, FailureKind.NO_TRITON),  # torch before 2.6
        ("InductorError", f"RuntimeError: {NO_TRITON}", FailureKind.NO_TRITON),
        ("torch._inductor.exc.GPUTooOldForTriton", TOO_OLD, FailureKind.GPU_TOO_OLD),
        ("InternalTorchDynamoError", "RuntimeError: Compiler: cl is not found.", FailureKind.INVALID_CXX),
        ("InductorError", f"RuntimeError: {NO_CC}", FailureKind.INVALID_CXX),
        ("RuntimeError", DIED, FailureKind.SUBPROCESS),
        ("torch._subclasses.fake_tensor.DataDependentOutputException", "aten.equal.default", FailureKind.DATA_DEPENDENT),
        ("InductorError", "AttributeError: type object 'CompiledKernel' has no attribute 'launch_enter_hook'", FailureKind.VERSIONS),
        ("AssertionError", "Mutating module attribute a during export.", FailureKind.DYNAMO_UNSUPPORTED),
        ("RuntimeError", "Cannot find a working directory", FailureKind.OTHER),
        ("AssertionError", "aten.equal.default", FailureKind.OTHER),
    ],
)  # fmt: skip
def test_the_text_says_what_failed_whatever_raised_it(kind, text, expected):
    assert read_failure(kind, text).kind is expected


def test_an_exception_of_a_worker_that_has_no_text_is_named():
    text = 'An exception occurred in a subprocess:\n\nTraceback (most recent call last):\n  File "/a.py", line 1, in f\nAssertionError\n'
    assert read_failure("SubprocException", text).inner == ("AssertionError",)


@pytest.mark.parametrize(
    "line",
    [
        (
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression "
            "Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)"
        ),
        f"torch._inductor.exc.TritonMissing: {NO_TRITON}",
        "torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with fullgraph=True.",
        "my.package.Broken: no name of an exception ends so",
    ],
)
def test_an_exception_below_frames_without_a_header_is_found_whatever_its_class_is_called(tmp_path, line):
    text = f'have error is \n  File "/x/torch/y.py", line 7574, in _evaluate_expr\n    raise self.made(\n{line}\n'
    assert cause(tmp_path, text).facts["exception_type"] == line.partition(":")[0]


def test_unsupported_with_its_module_is_an_exception_and_alone_a_word_of_any_program(tmp_path):
    said = "setattr(UserDefinedObjectVariable) <slot wrapper '__setattr__' of 'object' objects>"
    assert cause(tmp_path, f"Error:\ntorch._dynamo.exc.Unsupported: {said}\n").rule == "AL602"
    assert told(tmp_path, "Unsupported: codec h265 in stream 2\n") == []


def test_an_error_at_the_limit_is_not_told_as_code_that_goes_on_uncompiled(tmp_path):
    log = "W0110 12:27:06.332000 158 torch/_dynamo/convert_frame.py:1551] [2/8] "
    text = (
        f"{log}torch._dynamo hit config.recompile_limit (8)\n{log}   function: 'post' (/x/dion2.py:621)\n"
        f"{log}   last reason: 2/7: tensor 'X[0]' size mismatch at index 1. expected 640, actual 8. Guard failed on a "
        "parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on "
        "parameters.\n\ntorch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with fullgraph=True.\n"
    )
    found = cause(tmp_path, text)
    assert found.title == "`post` reached the limit of 8 compiles, and that is an error here"
    [fix] = found.verdicts[0].fixes
    assert "torch._dynamo.config.force_parameter_static_shapes = False" in fix


@pytest.mark.parametrize(
    ("text", "rule", "kind"),
    [
        (f"RuntimeError: {NO_TRITON}\n", "AL621", "triton_missing"),
        (f"backend='inductor' raised:\nRuntimeError: {NO_TRITON}\n", "AL621", "triton_missing"),
        (f"torch._inductor.exc.GPUTooOldForTriton: {TOO_OLD}\n", "AL621", "gpu_too_old_for_triton"),
        ("19:37:45 [ERROR  ] ui.worker: Unexpected error: RuntimeError: Compiler: cl is not found.\n", "AL606", "invalid_cxx_compiler"),
        (f"torch._inductor.exc.InductorError: RuntimeError: {NO_CC}\n", "AL606", "invalid_cxx_compiler"),
        (f"RuntimeError: {DIED}\n", "AL615", "subprocess_exception"),
        (f"RuntimeError: {DOUBLE}\n", "AL622", "double_backward"),
        (SPAWN, "AL623", "missing_main_guard"),
        (f"RuntimeError: {MIXED}\n", "AL624", "mixed_dtensor"),
    ],
)  # fmt: skip
def test_a_line_without_a_traceback_has_its_rule(tmp_path, text, rule, kind):
    found = cause(tmp_path, text)
    assert (found.rule, found.kind) == (rule, kind)
    assert found.verdicts[0].fixes or found.missing


@pytest.mark.parametrize(
    "text",
    [
        "a second derivative (double backward) is computed\n",
        "RuntimeError: DTensor does not support mixed inputs\n",
        "RuntimeError: a new process could not be started\n",
        "INFO triton installation found\n",
        "Compiler: gcc is not found in the cache\n",
    ],
)
def test_words_about_the_same_things_are_no_such_failure(tmp_path, text):
    assert not {"AL606", "AL621", "AL622", "AL623", "AL624"} & {f.rule for f in told(tmp_path, text)}


def test_the_gpu_that_is_too_old_is_named_with_what_is_needed(tmp_path):
    found = cause(tmp_path, f"torch._inductor.exc.GPUTooOldForTriton: {TOO_OLD}\n")
    assert (found.facts["gpu"], found.facts["capability"], found.facts["capability_needed"]) == (
        "Tesla P100-PCIE-16GB",
        "6.0",
        "7.0",
    )


def test_a_message_of_dynamo_without_its_class_is_found_by_its_explanation(tmp_path):
    text = (
        "[05:45:15.150] [ERROR] Error in Phase 1 (Encoding): Data-dependent branching\n"
        "  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).\n"
        "  Hint: Use `torch.cond` to express dynamic control flow.\n\n"
        "  Developer debug context: attempted to jump with TensorVariable()\n"
    )
    found = cause(tmp_path, text)
    assert (found.rule, found.facts["explanation"]) == (
        "AL602",
        "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).",
    )


def test_a_logged_graph_break_without_its_prefix_is_no_failure(tmp_path):
    text = "Graph Break Reason: Unsupported method call\n  Explanation: Dynamo does not know how.\n  Hint: Avoid it.\n"
    assert [f for f in told(tmp_path, text) if f.role == "cause"] == []


def test_an_explanation_of_another_program_is_no_failure(tmp_path):
    assert told(tmp_path, "\n  Explanation: nothing stands above it\n") == []


def test_violations_whose_marks_lost_their_blanks_are_one_failure(tmp_path):
    size = "L['query'].size()[2]"
    text = (
        f"torch.fx.experimental.symbolic_shapes.ConstraintViolationError: Constraints violated ({size})! For more "
        f'information, run with TORCH_LOGS="+dynamic".\n- Not all values of RelaxedUnspecConstraint({size}) are valid '
        f"because {size} was inferred to be a constant (22).\n"
    )
    assert (
        cause(tmp_path, text).title
        == "dimension 2 of `query` was declared dynamic, and this code makes it 22"
    )


def test_what_is_no_refusal_of_an_input_is_not_told_as_one(tmp_path):
    text = (
        "torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function <Wrapped method "
        "<original div>>(*(FakeTensor(..., size=()), 3.1), **{}): got AttributeError(\"'ndarray' object has no attribute 'div'\")\n"
    )
    found = cause(tmp_path, text)
    assert "refused" not in found.title
    assert "AttributeError" in found.title


def test_a_function_that_torch_left_uncompiled_is_a_warning_with_the_exception(tmp_path):
    log = "W1130 02:33:19.119000 2457 torch/_dynamo/convert_frame.py:2415] "
    lines = [
        "WON'T CONVERT f /srv/demo/supp.py line 4 ", "due to: ", "Traceback (most recent call last):",
        '  File "/x/torch/_dynamo/output_graph.py", line 1, in call', "    raise Failed(",
        "torch._dynamo.exc.BackendCompilerFailed: backend='bad' raised:", "RuntimeError: backend exploded", "",
    ]  # fmt: skip
    [found] = told(tmp_path, "".join(f"{log}{line}\n" for line in lines))
    assert (found.rule, found.role, found.severity) == ("AL603", "note", "warning")
    assert (found.facts["function"], found.facts["line"]) == ("f", 4)
    assert found.title == "backend `bad` failed on `f`: RuntimeError: backend exploded"


def test_recompiles_of_which_only_the_last_is_told_are_not_counted_as_all(tmp_path):
    log = "V0721 23:40:59.397000 2159156 torch/_dynamo/guards.py:3006] [1/37] [__recompiles] "
    text = (
        f"{log}Recompiling function forward in /x/flux.py:381\n{log}    triggered by the following guard failure(s):\n"
        f"{log}    - 1/36: ___check_obj_id(self._modules['attn'].processor, 140462015041104)\n"
    )
    [found] = told(tmp_path, text)
    assert "once as far as is told here, the last time as compile 1/37" in found.title
    assert found.title.endswith("which object `self._modules['attn'].processor` is")


@pytest.mark.parametrize(
    ("message", "name", "word"),
    [
        ("Python.h: No such file or directory", "Python.h", "python3-dev"),
        ("'omp.h' file not found", "omp.h", "OpenMP"),
        ("cannot find -lcuda: No such file or directory", "cuda", "libcuda.so"),
        ("cuda.h: No such file or directory", "cuda.h", "CUDA toolkit"),
        ("Cannot open include file: 'algorithm': No such file or directory", "algorithm", "standard library"),
        ("algorithm: No such file or directory", "algorithm", "standard library"),
        ("cannot open input file 'python312.lib'", "python312.lib", "this Python"),
        ("not_here.h: No such file or directory", "not_here.h", None),
    ],
)
def test_what_brings_a_missing_file_is_said_where_it_is_known(message, name, word):
    assert missing_file(message) == name
    said = brings(name)
    assert said is None if word is None else said is not None and word in said


def test_a_library_that_the_linker_misses_leads_and_not_that_the_linker_failed(tmp_path):
    text = "/usr/bin/ld: cannot find -lcuda\ncollect2: error: ld returned 1 exit status\n"
    found = cause(tmp_path, text)
    assert (found.rule, found.title) == ("AL607", "the C++ compiler failed: ld: cannot find -lcuda")


def test_a_guard_that_failed_is_read_where_its_first_lines_are_cut_off(tmp_path):
    log = "E1118 11:34:26.548000 1260768 torch/_guards.py:300] [0/0] "
    text = (
        f"{log}    raise ConstraintViolationError(\n{log}torch.fx.experimental.symbolic_shapes.ConstraintViolationError: "
        f'Constraints violated (n)! For more information, run with TORCH_LOGS="+dynamic".\n{log}  - Not all values of '
        "n = L['ids'].size()[1] in the specified range n <= 128 are valid because n was inferred to be a constant (6).\n"
    )
    [found] = told(tmp_path, text)
    assert (found.rule, found.confidence) == ("AL505", "likely")


def test_an_error_about_code_names_no_missing_file():
    assert missing_file("'foo' was not declared in this scope") is None


@given(st.text(max_size=200))
def test_no_text_is_too_ugly_to_ask_what_it_names(text):
    for told_text in (
        text,
        f"WON'T CONVERT {text}",
        f"torch.x.{text}: y",
        f"{text}: No such file or directory",
    ):
        is_exception(told_text, below_frames=True)
        read_unconverted(told_text)
        missing_file(told_text)
        read_failure("RuntimeError", told_text)


@given(
    st.from_regex(r"[A-Za-z_<][\w<>]{0,20}", fullmatch=True),
    st.from_regex(r"/[a-z ./]{1,30}\.py", fullmatch=True),
    st.integers(1, 10**6),
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), max_size=30),
)
def test_what_torch_writes_of_a_function_that_it_leaves_is_read_back(name, file, line, said):
    found = read_unconverted(
        f"WON'T CONVERT {name} {file} line {line} \ndue to: \nTraceback (most recent call last):\n"
        f'  File "/x.py", line 1, in f\n    g()\nValueError: {said}\n'
    )
    assert found is not None
    assert (found.function, found.file, found.line) == (name, file, line)
    assert (found.exception_type, found.text) == ("ValueError", said.strip())


def test_each_name_of_an_exception_has_a_text_that_lets_its_reader_be_asked():
    names = [
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode", "torch._inductor.exc.TritonMissing",
        "torch._inductor.exc.GPUTooOldForTriton", "torch._dynamo.exc.FailOnRecompileLimitHit", "torch._dynamo.exc.Unsupported",
        "torch._dynamo.exc.InvalidBackend", "torch._dynamo.exc.ResetRequired", "torch._inductor.exc.InvalidCxxCompiler",
        "torch._inductor.exc.MissingOperatorWithoutDecomp", "torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound",
    ]  # fmt: skip
    for name in names:
        line = f"{name}: Pending"
        assert is_exception(line), name
        assert any(need in line.lower() for need in NEEDS), name
        assert any(word.decode() in line for word in WORDS), name

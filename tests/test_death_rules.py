"""What is said of a death: where, never why; with less evidence less; and nothing of what only looks like one."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Explanation, Finding

PACKAGE = "/opt/venv/lib/python3.11/site-packages/torch/export/pt2_archive/_package.py"
DUMP = (
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f22671bcb80 (most recent call first):\n"
    '  File "{file}", line 743 in {function}\n  File "/srv/demo/serve.py", line 20 in <module>\n'
)
KERNEL = "c6qf23hrglc6rcnv7twxz6xmdmpe4ocswwb2ae4m3re5orr73fa5.kernel.cpp"
THROW = (
    "#0  0x00007fffe04a90a1 in __cxa_throw () from /lib/x86_64-linux-gnu/libstdc++.so.6\n"
    "#1  0x00007fffe64bc874 in aoti_torch_check () from /opt/libtorch_cpu.so\n"
    f"#2  0x00007fffd89059d3 in cpp_fused_add_0 () at /srv/demo/cache/{KERNEL}:2\n"
)


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str, **context: str) -> Explanation:
        (tmp_path / "run.log").write_text(text)
        for name, content in context.items():
            (tmp_path / name.replace("__", ".")).write_text(content)
        return aoti_logs.load(tmp_path / "run.log", context=tmp_path).explain()

    return run


def only(answer: Explanation) -> Finding:
    (finding,) = answer.findings
    return finding


def test_a_death_in_a_models_call_lists_what_is_possible_and_picks_nothing(explain):
    finding = only(explain(DUMP.format(file=PACKAGE, function="__call__")))
    assert (finding.rule, finding.kind, finding.confidence) == ("AL310", "segfault", "unknown")
    assert all(b.startswith("possible: ") for b in finding.verdicts[0].because)
    assert finding.fixes == ()


def test_code_of_torch_compile_is_a_models_call_too(explain):
    file = "/tmp/torchinductor_me/7c/c7c3y4zsxfoctwksbqzxtp3mvtt6nfiyqapgzeyxd4sjzg2iq54k.py"
    assert only(explain(DUMP.format(file=file, function="call"))).rule == "AL310"


def test_loading_a_package_is_no_call_of_a_model(explain):
    file = "/opt/venv/lib/python3.11/site-packages/torch/_inductor/package/package.py"
    finding = only(explain(DUMP.format(file=file, function="load_package")))
    assert (finding.rule, finding.facts["current_top"]["function"]) == ("AL311", "load_package")


def test_an_abort_in_a_models_call_is_not_said_to_be_without_text(explain):
    text = DUMP.format(file=PACKAGE, function="__call__").replace("Segmentation fault", "Aborted")
    assert only(explain(text)).rule == "AL311"


def test_an_exception_before_the_signal_stays_the_cause(explain):
    text = (
        "terminate called after throwing an instance of 'c10::Error'\n  what():  no data\n"
        "run.sh: line 1: 71 Aborted                 ./serve\n"
    )
    finding = only(explain(text))
    assert (finding.rule, finding.facts["message"], finding.facts["pid"]) == ("AL315", "no data", 71)


def test_a_shells_word_alone_names_no_cause(explain):
    finding = only(explain("run.sh: line 1: 71 Segmentation fault      python serve.py\n"))
    assert (finding.rule, finding.kind, finding.confidence) == ("AL317", "segfault", "unknown")
    assert [e.command for e in finding.experiments][1].endswith("--args python serve.py")


def test_the_kernels_word_for_used_up_memory_is_proof(explain):
    finding = only(explain("[ 12.3] Out of memory: Killed process 71 (python) total-vm:98213440kB\n"))
    assert (finding.kind, finding.confidence) == ("out_of_memory_killed", "proven")
    assert "71 (`python`)" in finding.title


def test_killed_alone_may_be_anybody(explain):
    finding = only(explain("Killed\n"))
    assert (finding.kind, finding.confidence) == ("killed", "unknown")
    assert "memory used up, a time limit" in str(finding.verdicts[0].because)


def test_a_stack_alone_is_a_note(explain):
    finding = only(explain(THROW))
    assert (finding.rule, finding.kind, finding.role) == ("AL316", "gdb_backtrace", "note")
    assert "assertion" not in finding.facts


def test_with_the_source_at_hand_the_check_of_the_models_line_is_named(explain):
    source = '#include <torch/csrc/inductor/cpp_prefix.h>\nAOTI_TORCH_CHECK((0 <= tmp2) & (tmp2 < 10L), "index out of bounds: 0 <= tmp2 < 10L")\n'
    finding = only(explain(THROW, **{KERNEL.replace(".", "__"): source}))
    assert finding.facts["assertion"] == "0 <= tmp2 < 10L"
    assert [k.step for k in finding.chain][-1] == "code"


def test_one_frame_is_no_stack_worth_a_word(explain):
    assert not explain("#0  0x00007fffe04a90a1 in main () at a.c:3\n").findings


def test_a_null_argument_is_named_where_gdb_shows_it(explain):
    text = 'Thread 1 "python" received signal SIGSEGV, Segmentation fault.\n#0  0x00007fffe04a90a1 in f (ptr=0x0, n=3) at a.c:3\n#1  main () at a.c:9\n'
    finding = only(explain(text))
    assert (finding.rule, finding.facts["null_pointer_like"]) == ("AL312", True)
    assert "`ptr` is a null pointer in frame 0" in finding.verdicts[0].because


def test_frames_of_tritons_compiler_are_told_from_other_llvm(explain):
    text = "[a:1:0:1] Caught signal 11 (Segmentation fault: address not mapped to object at address 0xc)\n"
    text += " 0 0x00000000015db7ea mlir::LLVM::InsertElementOp::build()  ???:0\n 1 0x000000000101252b f()  {}/MMAv2.cpp:418\n"
    assert only(explain(text.replace("{}", "/opt/triton"))).facts["component"] == "triton compiler (MLIR)"
    assert only(explain(text.replace("{}", "/opt/other"))).facts["component"] == "MLIR/LLVM"


def test_glibcs_finding_is_a_victim(explain):
    finding = only(explain("free(): invalid pointer\nrun.sh: line 1: 71 Aborted                 ./serve\n"))
    assert (finding.rule, finding.kind, finding.confidence) == ("AL318", "heap_corruption", "unknown")


def test_a_native_assertion_is_quoted_with_its_place(explain):
    finding = only(
        explain("python: /src/mlir/Op.cpp:12: mlir::Value mlir::get(): Assertion `value' failed.\n")
    )
    assert (finding.rule, finding.kind, finding.facts["line"]) == ("AL318", "native_assert", 12)
    assert finding.facts["phase"] == "compile"


def test_a_sanitizers_report_is_proof_and_a_part_of_one_is_not(explain, fixtures_dir):
    whole = (fixtures_dir / "cpu_death_asan/run.log").read_text()
    part = "0x6020 is located 0 bytes after 16-byte region [0x6010,0x6020)\nallocated by thread T0 here:\n    #0 0x55fc5bc1375e in f /a.c:8\n"
    assert only(explain(whole)).confidence == "proven"
    assert only(explain(part)).confidence == "unknown"


def test_undefined_behaviour_beside_a_failure_is_a_note(explain):
    text = "a.cpp:23:36: runtime error: shift exponent 33 is too large for 32-bit type 'int'\nKilled\n"
    assert sorted((f.rule, f.role) for f in explain(text)) == [("AL313", "note"), ("AL317", "cause")]


def test_tables_have_a_row_a_stack_and_a_row_a_frame(tmp_path: Path):
    (tmp_path / "run.log").write_text(THROW)
    run = aoti_logs.load(tmp_path / "run.log")
    stacks, frames = run.tables["stacks"], run.tables["frames"]
    assert stacks.select("format", "n_frames", "model_frame").rows() == [("gdb", 3, "cpp_fused_add_0")]
    assert frames.select("function", "model", "skipped").rows() == [
        ("__cxa_throw", False, "error"),
        ("aoti_torch_check", False, "error"),
        ("cpp_fused_add_0", True, None),
    ]


def test_tables_without_stacks_are_empty(tmp_path: Path):
    (tmp_path / "run.log").write_text("nothing\n")
    run = aoti_logs.load(tmp_path / "run.log")
    assert (run.tables["stacks"].height, run.tables["frames"].height) == (0, 0)


def test_a_program_that_a_person_stopped_in_gdb_did_not_die(explain):
    frames = "#0  0x00007ffff7e2 in poll () from /lib/libc.so.6\n#1  0x0000555555 in main () at main.c:3\n"
    for signal in ("SIGINT, Interrupt", "SIGUSR1, User defined signal 1"):
        found = list(explain(f'Thread 1 "python" received signal {signal}.\n{frames}'))
        assert [(f.rule, f.role) for f in found] == [("AL316", "note")]


def test_two_ends_with_texts_are_not_said_to_be_threads(explain):
    text = "".join(
        f"terminate called after throwing an instance of '{name}'\n  what():  {said}\n"
        for name, said in (("std::bad_alloc", "std::bad_alloc"), ("c10::Error", "index out of range"))
    )
    finding = next(f for f in explain(text) if f.rule == "AL315")
    assert finding.title == "std::bad_alloc" and "or by several processes" in finding.verdicts[0].because[-1]


def test_an_assertion_of_malloc_is_about_damaged_memory(explain):
    text = "python: malloc.c:2617: sysmalloc: Assertion `(old_top == initial_top (av))' failed.\n"
    assert "damaged" in only(explain(text)).verdicts[0].because[0]

"""Signatures: the same way to the same place has the same one, whoever prints it and wherever it was built."""

import pytest

from aoti_logs.parse.stacks.frame_name import frame_name, is_model, meaningful, signature, skipped
from aoti_logs.parse.stacks.machinery import MACHINERY
from tests.log_text import read

WRAPPER = "/tmp/aotinductor_V04xJk/data/aotinductor/model/cqdemg57m4dmpgp4i6nu74slfilfn53ovdpar7ktis642guccabr.wrapper.so"
TORCH = "/opt/venv/lib/torch/lib/libtorch_cpu.so"
C10 = (
    "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7f8ad3f03b8d in /opt/venv/lib/torch/lib/libc10.so)\n"
    f"frame #3: cpp_fused_add_0 + 0xe73 (0x7ff39192f9d3 in {WRAPPER})\n"
    f"frame #4: torch::aot_inductor::AOTInductorModel::run_impl(AtenTensorOpaque**, void*) + 0x7c6 (0x7ff39190d2ae in {WRAPPER})\n"
    f"frame #5: torch::aot_inductor::AOTInductorModelContainer::run(AtenTensorOpaque**) + 0xf4 (0x7ff39191d2ee in {WRAPPER})\n"
    f"frame #8: torch::inductor::AOTIModelContainerRunner::run(std::vector<at::Tensor> const&, void*) + 0x34 (0x7ff3 in {TORCH})\n"
    "frame #12: __libc_start_main + 0x85 (0x7ff391a45305 in /lib/x86_64-linux-gnu/libc.so.6)\n"
)
GDB = (
    "#0  0x00007fffe04a90a1 in __cxa_throw () from /lib/x86_64-linux-gnu/libstdc++.so.6\n"
    "#1  0x00007ffff6c784ce in c10::detail::torchCheckFail(char const*, unsigned int) () from /build/libc10.so\n"
    "#3  0x00007fffd89059d3 in cpp_fused_add_0 () at /other/cache/c6qf23hrglc6rcnv7twxz6xmdmpe4ocswwb2ae4m3re5orr73fa5.kernel.cpp:93\n"
    "#4  0x00007fffd88e32ae in torch::aot_inductor::AOTInductorModel::run_impl () at /other/a.wrapper.cpp:972\n"
    "#5  0x00007fffd88f32ee in torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>::run () at model_base.h:581\n"
    "#6  torch::aot_inductor::AOTInductorModelContainer::run () at model_container.h:203\n"
    "#14 0x00007ffff7ba7332 in cfunction_vectorcall_FASTCALL (func=0x7fffd8fa8040) at Objects/methodobject.c:443\n"
)


def test_gdb_and_c10_agree_on_the_same_failure():
    one, other = read(C10).stacks[0], read(GDB).stacks[0]
    assert signature(one) == signature(other) is not None
    assert [frame_name(f) for f in meaningful(one.frames)] == [
        "cpp_fused_add_0",
        "torch::aot_inductor::AOTInductorModel::run_impl",
    ]


def test_addresses_offsets_and_paths_do_not_change_a_signature():
    other = (
        C10.replace("0x7ff39", "0x7fa12").replace("+ 0xe73", "+ 0x173").replace("/opt/venv", "/home/me/env")
    )
    assert signature(read(other).stacks[0]) == signature(read(C10).stacks[0])


def test_another_kernel_changes_it():
    other = C10.replace("cpp_fused_add_0", "cpp_fused_mul_1")
    assert signature(read(other).stacks[0]) != signature(read(C10).stacks[0])


def test_soft_machinery_counts_where_there_is_nothing_else():
    text = (
        "#0  0x0000ef67c4019c54 in std::_Sp_counted_base<2>::_M_release() () from /tmp/a.so\n"
        "#1  0x0000ef67c4017744 in AOTInductorModelContainerCreateWithDevice () from /tmp/a.so\n"
    )
    stack = read(text).stacks[0]
    assert [skipped(f) for f in stack.frames] == ["stdlib", "aoti_runtime"]
    assert len(meaningful(stack.frames)) == 2


def test_frames_without_names_have_no_signature():
    assert signature(read("frame #0: <unknown function> + 0x1f (0x7f1234 in /lib/a.so)\n").stacks[0]) is None


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        ("c10::detail::torchCheckFail(char const*)", "error"),
        ("__pthread_kill_implementation", "signal"),
        ("operator new(unsigned long)", "allocator"),
        ("c10::impl::BoxedKernelWrapper<void>::call()", "dispatcher"),
        ("std::_Function_handler<void ()>::_M_invoke(std::_Any_data const&)", "function"),
        ("_PyEval_EvalFrameDefault", "python"),
        ("pybind11::cpp_function::dispatcher(_object*)", "pybind11"),
        ("GOMP_parallel", "openmp"),
        ("__libc_start_main", "libc"),
        ("std::vector<int>::at(unsigned long)", "stdlib"),
        ("at::native::add(at::Tensor const&)", None),
        ("PyramidNetwork::forward(at::Tensor)", None),
    ],
)
def test_why_a_frame_is_left_out(symbol, kind):
    frame = read(f"frame #0: {symbol} + 0x1f (0x7f1234 in /lib/a.so)\n").stacks[0].frames[0]
    assert skipped(frame) == kind


def test_every_row_of_machinery_has_its_reason():
    assert all(row.why and (row.starts or row.names or row.libraries) for row in MACHINERY)
    assert len({row.kind for row in MACHINERY}) == len(MACHINERY)


@pytest.mark.parametrize(
    ("line", "model"),
    [
        (f"frame #3: cpp_fused_add_0 + 0xe73 (0x7ff39192f9d3 in {WRAPPER})", True),
        (f"frame #3: <unknown function> + 0xe73 (0x7ff39192f9d3 in {WRAPPER})", True),
        (f"frame #4: torch::aot_inductor::AOTInductorModel::run_impl(void*) + 0x7 (0x7ff3 in {WRAPPER})", True),
        (f"frame #5: torch::aot_inductor::AOTInductorModelContainer::run(void*) + 0x7 (0x7ff3 in {WRAPPER})", False),
        (f"frame #6: AOTInductorModelContainerRun + 0x7 (0x7ff3 in {WRAPPER})", False),
        (f"frame #7: std::vector<int>::at(unsigned long) + 0x7 (0x7ff3 in {WRAPPER})", False),
        ("#8 kernel from /tmp/torchinductor_me/7c/c7c3y4zsxfoctwksbqzxtp3mvtt6nfiyqapgzeyxd4sjzg2iq54k.main.cpp:34", True),
        (f"frame #9: at::native::add(at::Tensor const&) + 0x7 (0x7ff3 in {TORCH})", False),
    ],
)  # fmt: skip
def test_which_frames_are_the_models_own(line, model):
    assert is_model(read(f"{line}\n").stacks[0].frames[0]) is model

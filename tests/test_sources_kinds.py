"""Telling kinds by content. Samples are first lines of real files, most of torch 2.4 to 2.13."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.sources.kinds import is_binary, layer, tell
from aoti_logs.sources.source import Kind

RECORD = b'V1129 12:10:21.164000 4741 torch/_logging/structured.py:28] {"str": ["a.py", 0]}\n'
TORCH_LOGS = (
    b"V1129 12:26:30.819000 20962 torch/_dynamo/output_graph.py:2835] [0/0] [__graph_code] TRACED GRAPH\n"
)
PROGRAM = b"ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, x):\n            return (x,)\n\nGraph signature: \n    # inputs\n    x: USER_INPUT\n\nRange constraints: {s23: VR[0, 4096]}\n\n"

SAMPLES = {
    "wrapper of torch 2.13": (
        "x.wrapper.cpp",
        b"\n#include <torch/csrc/inductor/aoti_include/cpu.h>\n// Definition of AOTI runtime interface functions\n",
        Kind.WRAPPER_CPP,
    ),
    "one record of docker's json-file driver": (
        "1f3-json.log",
        b'{"log":"RuntimeError: \\"x\\"\\n","stream":"stderr","time":"2024-11-29T12:00:00Z"}\n',
        Kind.LOG,
    ),
    "wrapper of torch 2.4, kernels inside": (
        "c.cpp",
        b"\n#include <torch/csrc/inductor/aoti_runtime/interface.h>\n#include <torch/csrc/inductor/aoti_runtime/model_container.h>\n",
        Kind.WRAPPER_CPP,
    ),
    "cpp_wrapper of torch.compile": (
        "c.main.cpp",
        b'#include <torch/csrc/inductor/cpp_wrapper/cpu.h>\nextern "C"  void  cpp_fused_0(float* in_out_ptr0)\n',
        Kind.WRAPPER_CPP,
    ),
    "kernels of a CPU model": (
        "x.kernel.cpp",
        b'// Triton kernels are embedded as comments in /c/x.wrapper.cpp\n\n#include <torch/csrc/inductor/aoti_runtime/utils.h>\n#include <torch/csrc/inductor/cpp_prefix.h>\nextern "C"  void  cpp_fused_relu_0(float* p)\n',
        Kind.KERNEL_CPP,
    ),
    "kernels of a GPU model: only comments": (
        "x.kernel.cpp",
        b"// Triton kernels are embedded as comments in /c/x.wrapper.cpp\n\n// Compile cmd\n// /usr/bin/g++ x\n",
        Kind.KERNEL_CPP,
    ),
    "kernel of torch.compile 2.4": (
        "c.cpp",
        b'\n#include "/c/sk/cskh.h"\nextern "C" void kernel(const int64_t* in_ptr0,\n',
        Kind.KERNEL_CPP,
    ),
    "what torch compiles to learn about the CPU": (
        "c.cpp",
        b'\n#include <cstdint>\nextern "C" __m512i __avx512_vnni_chk_kernel_1(__m512i s) { }\nextern "C" void __avx512_vnni_chk_kernel() { }\n',
        Kind.TEXT,
    ),
    "cpp_prefix.h of the cache": (
        "c.h",
        b'#pragma once\n#include <atomic>\nextern "C" void kernel(int)\n',
        Kind.TEXT,
    ),
    "wrapper of torch.compile": (
        "c.py",
        b"# AOT ID: ['0_inference']\nfrom ctypes import c_void_p, c_long, c_int\nimport torch\n",
        Kind.OUTPUT_CODE,
    ),
    "wrapper of torch 2.2, without its id": (
        "c.py",
        b"\nfrom ctypes import c_void_p, c_long\nimport torch\nasync_compile = AsyncCompile()\n",
        Kind.OUTPUT_CODE,
    ),
    "C++ inside Python": (
        "output_code.py",
        b'\n\nimport torch\nfrom torch._inductor.codecache import CppWrapperCodeCache\n\ncpp_wrapper_src = (\nr"""\n#include <x>\n',
        Kind.OUTPUT_CODE,
    ),
    "a Triton kernel": (
        "c.py",
        b"\nimport triton\nimport triton.language as tl\n\n@triton_heuristics.pointwise(\n)\n@triton.jit\ndef triton_poi_0(in_ptr0, xnumel):\n",
        Kind.TRITON_KERNEL,
    ),
    "fx_graph_readable": (
        "fx_graph_readable.py",
        b'class <lambda>(torch.nn.Module):\n    def forward(self):\n        arg1_1: "i64[s23]"; \n',
        Kind.GRAPH,
    ),
    "a graph of tlparse": (
        "aot_inference_graph_5.txt",
        b"class <lambda>(torch.nn.Module):\n    def forward(self):\n",
        Kind.GRAPH,
    ),
    "fx_graph_runnable": (
        "fx_graph_runnable.py",
        b"\ns23 = 5\n\nimport os\nos.environ['X'] = '1'\n",
        Kind.TEXT,
    ),
    "an exported program": ("exported_program.txt", PROGRAM, Kind.GRAPH),
    "a run that prints its program and goes on": (
        "out.txt",
        PROGRAM + b"package: /srv/gather.pt2\n",
        Kind.LOG,
    ),
    "a run whose error begins with a graph": (
        "err.txt",
        b'\n\n\ndef forward(self, arg0_1: "f32[8, 3]"):\n    return arg0_1\n\nTraceback (most recent call last):\n',
        Kind.LOG,
    ),
    "kernel_information": (
        "kernel_information.json",
        b'{"cpp_fused_0:1": {"stack_traces": ["x"], "post_grad_nodes": []',
        Kind.KERNEL_INFORMATION,
    ),
    "stacks of kernels, of a trace": (
        "x_3.json",
        b'{\n  "cpp_fused_0:2": [\n    "File \\"/a.py\\", line 3, in forward',
        Kind.KERNEL_INFORMATION,
    ),
    "node mappings": ("m.json", b'{"preToPost": {"relu": ["relu"]}, "postToPre": {', Kind.PROVENANCE),
    "other JSON": ("x.json", b'{"AOTI_DEVICE_KEY": "cpu"}', Kind.JSON),
    "JSON without its suffix": ("config.txt", b'{\n  "a": [1, 2]\n}\n', Kind.JSON),
    "a log of JSON lines": (
        "out.log",
        b'{"level": "info", "msg": "x"}\n{"level": "error", "msg": "y"}\n',
        Kind.LOG,
    ),
    "a log that begins with a bracket": (
        "out.log",
        b"[rank0]: Traceback (most recent call last):\n",
        Kind.LOG,
    ),
    "scheduler nodes": (
        "ir_post_fusion.txt",
        b"op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)\n",
        Kind.TEXT,
    ),
    "a page": ("index.html", b"<!DOCTYPE html>\n<html>", Kind.TEXT),
    "a program": ("serve.py", b"import torch\nimport aoti\n", Kind.TEXT),
    "the format of a package": ("archive_format", b"pt2", Kind.TEXT),
    "stderr": ("stderr.txt", b"Traceback (most recent call last):\n", Kind.LOG),
    "a file without suffix": ("stderr", b"Aborted (core dumped)\n", Kind.LOG),
    "an empty file": ("stderr.txt", b"", Kind.LOG),
    "TORCH_LOGS lines": ("debug.log", TORCH_LOGS * 3, Kind.LOG),
    "a trace": ("dedicated_log_torch_trace_x.log", RECORD, Kind.TORCH_TRACE),
    "a trace under another name": ("x.txt", RECORD, Kind.TORCH_TRACE),
    "a trace after garbage": ("x.log", b"banner\n" * 200 + RECORD, Kind.TORCH_TRACE),
    "a trace with a rank before it": ("x.log", b"[rank0]:" + RECORD, Kind.TORCH_TRACE),
    "a trace cut in its first record": ("x.log", RECORD[:-6], Kind.TORCH_TRACE),
    "a log with one record in it": ("x.log", TORCH_LOGS + RECORD + TORCH_LOGS * 5, Kind.LOG),
    "a log with NULs": (
        "all.log",
        TORCH_LOGS * 40 + b"autograd_config: \x80\x02}q\x00(X\x00\x00\n",
        Kind.LOG,
    ),
    "a log that begins like C++": (
        "x.log",
        b"using device cuda:0\nclass weights loaded\nframe #1: torch::aot_inductor::AOTInductorModel::run_impl(\n",
        Kind.LOG,
    ),
    "a log in Latin-1": ("x.log", "Überlauf in Knoten für Größe\n".encode("latin-1") * 20, Kind.LOG),
    "a log with colours": ("x.log", b"\x1b[31merror\x1b[0m\n" * 20, Kind.LOG),
    "a library": ("x.so", b"\x7fELF\x02\x01\x01" + bytes(50), Kind.BINARY),
    "weights": ("weights.bin", bytes(range(256)) * 8, Kind.BINARY),
    "a pickle": ("x.pkl", b"\x80\x04\x95\x1a\x00", Kind.BINARY),
    "a zip": ("x.pt2", b"PK\x03\x04rest", Kind.ARCHIVE),
}


@pytest.mark.parametrize(("name", "head", "kind"), SAMPLES.values(), ids=SAMPLES)
def test_kind(name, head, kind):
    assert tell(head, name) is kind


@pytest.mark.parametrize(
    "sample", ["wrapper of torch 2.13", "a Triton kernel", "an exported program", "a trace"]
)
def test_a_name_without_suffix_changes_nothing(sample):
    _, head, kind = SAMPLES[sample]
    assert tell(head, "x") is kind


@given(st.binary(max_size=2000), st.sampled_from(["x.log", "x.json", "x.py", "x.cpp", "x"]))
def test_any_bytes_have_a_kind(head, name):
    assert tell(head, name) in Kind


@given(
    st.text(min_size=1, max_size=300).filter(
        lambda text: all(c.isprintable() or c in "\t\n\x1b" for c in text)
    )
)
def test_readable_text_is_never_binary(text):
    assert not is_binary(text.encode("utf-8", "surrogatepass")) or layer(
        text.encode("utf-8", "surrogatepass")
    )


def test_a_cut_in_the_middle_of_a_character_is_no_damage():
    assert not is_binary("ßßßß".encode()[:-1])

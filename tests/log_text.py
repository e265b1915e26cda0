"""Short real excerpts of logs, and how tests read text."""

from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.logs.log import read_log
from aoti_logs.sources.source import Kind, Source


def read(text: str | bytes) -> LogEvents:
    data = text if isinstance(text, bytes) else text.encode()
    return read_log(Source("run.log", Kind.LOG, lambda: data))


def assert_partition(events: LogEvents, size: int) -> None:
    """Every byte is in exactly one record or unparsed row."""
    spans = sorted(
        [(row.span.start, row.span.end) for row in events.records]
        + [(row.span.start, row.span.end) for row in events.unparsed]
    )
    at = 0
    for start, end in spans:
        assert start == at
        assert end > start
        at = end
    assert at == size


CUDA = (
    "/tmp/demo/cache/2s/c2s4nfvsvekyh5wwnigxmdm7ltxh6jxilwrfxsqmomhluabtt3m2.py:33: unknown: block: [0,0,0], "
    "thread: [37,0,0] Assertion `index out of bounds: 0 <= tmp4 < ks0` failed.\n"
)
CPU = """\
Error: index out of bounds: 0 <= tmp10 < ks2
Exception raised from cpp_fused_index_0 at /srv/demo/cache/c6qf23hrglc6.kernel.cpp:208 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7ff391f79b8d in /opt/venv/lib/libc10.so)
frame #2: <unknown function> + 0x5cbc874 (0x7ff397cbc874 in /opt/venv/lib/libtorch_cpu.so)
frame #3: cpp_fused_index_0 + 0xe73 (0x7ff39192f9d3 in /tmp/aotinductor_4DED0E/model/cqde.wrapper.so)
<omitting python frames>
frame #22: _start + 0x21 (0x557a6f5ed081 in /opt/venv/bin/python)

Traceback (most recent call last):
  File "/srv/demo/run.py", line 24, in <module>
    print("RESULT", r(ids, off, tab))
                    ^^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/torch/export/pt2_archive/_package.py", line 743, in __call__
    flat_outputs = self.loader.boxed_run(flat_inputs)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: index out of bounds: 0 <= tmp10 < ks2
Exception raised from cpp_fused_index_0 at /srv/demo/cache/c6qf23hrglc6.kernel.cpp:208 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7ff391f79b8d in /opt/venv/lib/libc10.so)

"""
CAPTURED = """\
C++ CapturedTraceback:
#4 c10::Error::Error(c10::SourceLocation, std::string) from ??:0
#5 pybind11::cpp_function::dispatcher(_object*, _object* const*, unsigned long, _object*) from offloadstuff.c:0
#6 ?? from libc10.so:222378
#8 cpp_fused_index_0 from /srv/demo/cache/c6qf23hrglc6.kernel.cpp:208
"""
GDB = """\
Program received signal SIGABRT, Aborted.
__pthread_kill_implementation (threadid=<optimized out>, signo=signo@entry=6) at ./nptl/pthread_kill.c:44
44\t./nptl/pthread_kill.c: No such file or directory.
#0  __pthread_kill_implementation (threadid=<optimized out>, signo=signo@entry=6) at ./nptl/pthread_kill.c:44
#1  0x00007fffe309d919 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#11 0x0000555555558c47 in main (argc=3, argv=0x7fffffffe788) at main.cpp:13
"""
TERMINATE = """\
terminate called after throwing an instance of 'c10::Error'
  what():  index out of bounds: 0 <= tmp7 < ks1
Exception raised from cpp_fused_add_index_sin_0 at /srv/demo/c5vwvm.kernel.cpp:32 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7ff628337b8d in /opt/venv/lib/libc10.so)

"""
ACCELERATOR = """\
Traceback (most recent call last):
  File "/tmp/demo/scenarios.py", line 230, in main
    torch.cuda.synchronize()
torch.AcceleratorError: CUDA error: device-side assert triggered
Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

Failed to destroy CUDA event in AOTInductor model: device-side assert triggered
"""
DUMP = """\
[  before_launch - at::_ops::sort_stable::call - buf2  ]:
(1,.,.) =
-1.1258 -1.1524
  0.8487     nan

(2,.,.) =
 0.1665  0.8744
[ CPUFloatType{2,2,2} ]
Number of elements: 8
Dtype: float32
Mean value: nan
Min value: -nan
Max value: nan
Device: cpu
Size: [2, 2, 2]
Stride: [4, 2, 1]
Layout: Strided
Is contiguous: 1
Requires grad: 0

"""
SCALARS = (
    "[  before_launch - triton_poi_fused_0 - s24: 77  ]\\n"
    "[  before_launch - triton_poi_fused_0 - 64L: 64  ]\\n"
)
TORCH_LOGS = """\
V1129 12:26:30.819000 20962 torch/_inductor/graph.py:2722] [0/0] [__output_code] Output code:
V1129 12:26:30.819000 20962 torch/_inductor/graph.py:2722] [0/0] [__output_code] tl.device_assert(tmp4 < ks0, "index out of bounds: 0 <= tmp4 < ks0")
V1129 12:26:30.819000 20962 torch/_inductor/graph.py:2722] [0/0] [__output_code]
I1129 12:26:30.820000 20962 torch/_inductor/graph.py:2733] [0/0] Output code written to: /tmp/demo/x.py
"""
PIECES = (CUDA, CPU, CAPTURED, GDB, TERMINATE, ACCELERATOR, DUMP, SCALARS, TORCH_LOGS, "epoch 1 loss 0.3\n")

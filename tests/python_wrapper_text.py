"""Small Python wrappers for tests: a frame as `PythonWrapperCodegen` prints it, with statements put in."""

from __future__ import annotations

from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

KERNELS = """\
async_compile = AsyncCompile()

triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
@triton_heuristics.pointwise(
    size_hints={'x': 64},
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'ks0': 'constexpr', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}, 'constants': {'ks0': 1}},
)
@triton.jit
def triton_poi_fused_add_0(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    pass
''', device_str='cuda')

cpp_fused_mul_1 = async_compile.cpp_pybinding(['const float*', 'float*', 'const int64_t'], '''
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0,
                       const int64_t ks0)
{
}
''')

"""


def output_code(text: str) -> OutputCode:
    return OutputCode(Source("output_code.py", Kind.OUTPUT_CODE, text.encode))


def wrapper(*statements: str, functions: str = "", inputs: str = "arg0_1, arg1_1") -> OutputCode:
    """Return a wrapper whose `call` has these statements."""
    if not any(s.startswith("return ") for s in statements):
        statements = (*statements, "return ()")
    body = "".join(f"    {line}\n" for s in statements for line in s.split("\n"))
    return output_code(
        f"{KERNELS}{functions}\nasync_compile.wait(globals())\ndel async_compile\n\n"
        f"def call(args):\n    {inputs} = args\n    args.clear()\n{body}"
    )

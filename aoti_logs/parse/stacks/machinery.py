"""Frames that say nothing about a failure, as data: which names and libraries, and why they are left out.

A signature is made of the other frames, so that the same failure has the same signature in another process, in
another build folder, and as another printer tells it. A new kind of frame is a row here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machinery:
    """Frames of one purpose.

    `starts` are beginnings of qualified names, `names` whole ones, `libraries` beginnings of a library's file name.
    `soft`: such a frame counts where a stack has no better one.
    """

    kind: str
    why: str
    starts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    soft: bool = False


MACHINERY = (
    Machinery(
        "error",
        "builds, throws or passes on the error",
        starts=(
            "c10::Error::", "c10::detail::torchCheckFail", "c10::detail::torchInternalAssertFail",
            "c10::cuda::c10_cuda_check_implementation", "c10::SetStackTraceFetcher", "c10::get_backtrace",
            "c10::ThrowEnforceNotMet", "c10::MessageLogger", "c10::warn", "torch::CapturedTraceback",
            "torch::get_cpp_trace", "c10d::get_python_cpp_trace", "_Unwind_", "__cxa_", "__cxxabiv1::",
            "__gxx_personality", "__gnu_cxx::__verbose_terminate_handler", "std::terminate", "std::__terminate",
            "std::__throw_", "std::rethrow_exception", "google::LogMessage", "absl::log_internal",
            "llvm::report_fatal_error", "llvm::llvm_unreachable_internal",
        ),
        names=("aoti_torch_check", "c10::IndexError", "c10::ValueError"),
    ),
    Machinery(
        "signal",
        "runs after the fault, or raises the signal",
        starts=(
            "__pthread_kill", "__GI_raise", "__GI_abort", "__GI___pthread_kill", "ucs_handle_error", "ucs_debug_",
            "ucs_error_", "folly::symbolizer::", "google::(anonymous namespace)::FailureSignalHandler",
            "google::(anonymous namespace)::Dump", "llvm::sys::PrintStackTrace", "llvm::sys::RunSignalHandlers",
            "llvm::sys::CleanupOnSignal", "_Py_DumpStack", "faulthandler_", "__sanitizer", "__asan", "__tsan",
            "__msan", "__lsan", "__ubsan", "__interceptor_", "__libc_message", "__fortify_fail", "malloc_printerr",
            "__assert_fail", "__GI___assert_fail", "__stack_chk_fail", "absl::AbslFailureSignalHandler",
            "absl::lts_", "absl::debugging_internal",
        ),
        names=(
            "raise", "gsignal", "abort", "pthread_kill", "killpg", "__restore_rt", "__sigaction", "__GI___sigaction",
            "_sigtramp", "<signal handler called>", "SignalHandler", "FailureSignalHandler", "kill", "__kill", "backtrace",
            "__libc_sigaction", "__funlockfile", "funlockfile",
        ),
    ),
    Machinery(
        "allocator",
        "allocates or frees memory for its caller",
        starts=(
            "operator new", "operator delete", "__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc",
            "_int_malloc", "_int_free", "__GI___libc_", "malloc_consolidate", "unlink_chunk", "sysmalloc", "tcache_",
            "std::allocator", "std::__new_allocator", "__gnu_cxx::new_allocator", "c10::alloc_cpu", "c10::free_cpu",
            "c10::DefaultCPUAllocator", "c10::StorageImpl", "c10::DataPtr", "c10::intrusive_ptr",
            "c10::cuda::CUDACachingAllocator", "c10::detail::UniqueVoidPtr", "tc_", "je_", "mi_",
        ),
        names=("malloc", "free", "calloc", "realloc", "cfree", "posix_memalign", "memalign", "aligned_alloc"),
    ),
    Machinery(
        "dispatcher",
        "hands an operator's call from one key to the next",
        starts=(
            "c10::Dispatcher::", "c10::KernelFunction::", "c10::OperatorHandle::", "c10::TypedOperatorHandle",
            "c10::BoxedKernel::", "c10::impl::", "c10::detail::WrapFunctionIntoFunctor",
            "torch::autograd::VariableType::", "torch::ADInplaceOrView::", "torch::autograd::(anonymous namespace)::",
            "at::(anonymous namespace)::wrapper_", "at::(anonymous namespace)::(anonymous namespace)::wrapper_",
            "torch::autocast::", "at::autocast::",
        ),
    ),
    Machinery(
        "function",
        "calls a function object",
        starts=(
            "std::function::", "std::_Function_handler", "std::_Function_base", "std::__invoke", "std::invoke",
            "std::_Bind", "std::__call_once", "std::call_once", "std::thread::", "std::__apply", "std::apply",
            "c10::guts::", "c10::function_ref", "__invoke_impl", "__invoke_r", "std::__future_base",
        ),
        names=("_M_invoke", "__invoke", "execute_native_thread_routine"),
    ),
    Machinery(
        "python",
        "is the Python interpreter",
        starts=(
            "Py", "_Py", "py_", "cfunction_", "method_", "slot_", "type_call", "object_", "vectorcall_", "wrapper_call",
            "wrapperdescr_", "function_code_fastcall", "run_mod", "run_eval_code_obj", "pyrun_", "pymain_", "builtin_",
            "call_function", "do_call_core", "partial_", "property_descr_", "gen_send_ex", "gen_iternext", "task_step",
            "thread_run", "t_bootstrap", "pythread_wrapper", "call_method", "trace_call_function", "tuple_dealloc",
            "subtype_dealloc", "dict_dealloc", "_ctypes_", "_call_function_pointer", "ffi_call", "import_",
        ),
        libraries=("libpython", "python3", "python.exe", "libffi"),
    ),
    Machinery("pybind11", "passes a call from Python to C++", starts=("pybind11::", "nanobind::")),
    Machinery(
        "openmp",
        "runs a parallel region",
        starts=(
            "GOMP_", "gomp_", "__kmp", "omp_", "at::internal::invoke_parallel", "at::parallel_for", "at::internal::_parallel",
            "tbb::",
        ),
        libraries=("libgomp", "libiomp", "libomp"),
    ),
    Machinery(
        "libc",
        "starts the process or thread, waits, or copies bytes for its caller",
        starts=(
            "__libc_start", "_dl_", "__GI_", "__mem", "__str", "__wcs", "__futex", "__pthread_", "pthread_", "__new_sem",
            "do_futex", "__epoll", "epoll_", "__poll", "__select", "__nanosleep", "__clock_nanosleep", "__lll_lock",
        ),
        names=(
            "_start", "clone", "clone3", "__clone", "__clone3", "start_thread", "memcpy", "memmove", "memset", "strlen",
            "memcmp", "syscall", "poll", "select", "read", "__read", "nanosleep", "__internal_syscall_cancel",
            "__syscall_cancel", "BaseThreadInitThunk", "RtlUserThreadStart",
        ),
        libraries=("libc.so", "libc-", "libpthread", "ld-linux", "libdl", "linux-vdso", "ntdll", "KERNEL32"),
    ),
    Machinery(
        "stdlib",
        "is the C++ standard library, called by the frame below",
        starts=("std::", "__gnu_cxx::"),
        libraries=("libstdc++", "libc++", "libgcc_s"),
        soft=True,
    ),
    Machinery(
        "aoti_runtime",
        "is AOTInductor's runtime, through which every call of a model goes",
        starts=(
            "torch::aot_inductor::AOTInductorModelContainer", "torch::aot_inductor::AOTInductorModelBase",
            "AOTInductorModelContainer", "AOTInductorModelRun", "AOTInductorModelCreate",
            "torch::inductor::AOTIModelContainerRunner", "torch::inductor::AOTIModelPackageLoader",
            "torch::inductor::AOTIPythonKernelHolder",
        ),
        soft=True,
    ),
)  # fmt: skip
"""The rows, the first that fits decides."""

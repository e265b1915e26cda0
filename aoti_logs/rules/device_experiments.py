"""What to run next after a fault of a device, the cheapest first: each says when it takes effect."""

from __future__ import annotations

from aoti_logs.explain import Experiment


def waiting(backend: str) -> str | None:
    """Return the variable that makes launches wait (`cuda`, `rocm`), as it is set; None where none is known."""
    return {"cuda": "CUDA_LAUNCH_BLOCKING=1", "rocm": "AMD_SERIALIZE_KERNEL=3"}.get(backend)


def wait_for_launches(command: str, backend: str) -> Experiment:
    """Make every launch wait, so that the call that reports an error is the one that made it."""
    if backend == "rocm":
        env: tuple[tuple[str, str], ...] = (("AMD_SERIALIZE_KERNEL", "3"),)
        proof = "the HIP runtime reads it when the process starts and waits before and after every kernel"
    else:
        env = (("CUDA_LAUNCH_BLOCKING", "1"),)
        proof = "the CUDA runtime reads it when the process starts and makes every launch wait for its end"
    return Experiment(
        command,
        env,
        "run",
        "the launch that fails is then the one that raises",
        proof,
        "it changes timing: a fault that needs two kernels at once may not come again",
    )


def print_names(command: str) -> Experiment:
    """Let AOTInductor announce every launch."""
    return Experiment(
        command,
        (("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", "3"), ("PYTHONUNBUFFERED", "1")),
        "compile",
        "the last launch that is announced and not finished is the one that fails; run it with CUDA_LAUNCH_BLOCKING=1",
        "the printing calls are compiled into the model, so it has to be compiled again",
        "names that are still in a buffer when the process aborts are lost: print to a terminal or unbuffered",
    )


def keep_names(command: str) -> Experiment:
    """Keep what a model prints that was compiled with the value printer."""
    return Experiment(
        f"{command} 2>&1 | tee run.log",
        (("PYTHONUNBUFFERED", "1"),),
        "run",
        "the last launch that is announced on stdout and not finished is the one that fails, where launches are waited for",
        "the wrapper at hand calls the value printer, and nothing of it is in this log",
        "where a host in C++ runs the model, `stdbuf -oL` does what PYTHONUNBUFFERED does for Python",
    )


def sanitize(command: str) -> Experiment:
    """Let compute-sanitizer name kernel, line and thread."""
    return Experiment(
        f"compute-sanitizer --tool memcheck {command}",
        (("PYTORCH_NO_CUDA_MEMORY_CACHING", "1"),),
        "run",
        "it names the kernel, the line, the thread and the address",
        "without the caching allocator every tensor is an allocation of its own, so that reading past it is seen",
        "ten to a hundred times slower; unset expandable_segments, with which it reports what is no error",
    )


def dump_core(command: str) -> Experiment:
    """Let the driver write a core dump of the device."""
    return Experiment(
        command,
        (("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1"), ("CUDA_COREDUMP_SHOW_PROGRESS", "1")),
        "run",
        "the driver writes the state of the device when a kernel faults; `cuda-gdb` opened on it names the kernel",
        "the driver reads it when the process starts; the run keeps its speed",
    )

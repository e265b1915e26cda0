"""What the faults of a kernel are called: kind of the finding, and words, by the name of the runtime's error."""

from __future__ import annotations

KINDS = {
    "cudaErrorIllegalAddress": ("cuda_illegal_memory_access", "an illegal memory access"),
    "cudaErrorInvalidAddressSpace": (
        "cuda_illegal_memory_access",
        "an illegal memory access (an address outside of global memory)",
    ),
    "cudaErrorMisalignedAddress": ("cuda_misaligned_address", "an access to a misaligned address"),
    "cudaErrorLaunchFailure": ("cuda_launch_failure", "a launch that failed for an unspecified reason"),
    "cudaErrorIllegalInstruction": ("cuda_illegal_instruction", "an illegal instruction"),
    "cudaErrorInvalidPc": ("cuda_invalid_program_counter", "a jump to an invalid program counter"),
    "cudaErrorHardwareStackError": (
        "cuda_hardware_stack_error",
        "a corrupted or exhausted call stack on the device",
    ),
    "cudaErrorLaunchTimeout": ("cuda_launch_timeout", "a kernel that ran longer than the driver allows"),
    "cudaErrorTensorMemoryLeak": ("cuda_tensor_memory_leak", "tensor memory that a kernel did not free"),
    "cudaErrorECCUncorrectable": ("cuda_hardware_error", "an uncorrectable memory error of the hardware"),
    "cudaErrorNvlinkUncorrectable": ("cuda_hardware_error", "an uncorrectable error of NVLink"),
    "cudaErrorContained": ("cuda_hardware_error", "a contained error of the hardware or of a peer's memory"),
}
NAMES = {"cuda": "the GPU", "rocm": "the AMD GPU", "xpu": "the XPU"}

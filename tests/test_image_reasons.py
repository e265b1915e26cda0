"""What a refused kernel's image proves, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import aoti_logs

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = 'Traceback (most recent call last):\n  File "/srv/demo/serve.py", line 10, in <module>\n    y = model(x)\n'


@pytest.mark.parametrize(
    ("error", "said", "not_said"),
    [
        ("CUDA driver error: PTX JIT compiler library not found", "was not found", "newer than the driver"),
        ("Triton Error [CUDA]: a PTX JIT compilation failed", "could not compile", "newer than the driver"),
        ("CUDA driver error: invalid error code!", "what it refused is not known", "damaged"),
        ("HIP error: invalid device function", "mostly it was compiled for others", "because the kernel was"),
    ],
)
def test_a_reason_is_no_proof_of_another_gpu_or_toolchain(
    tmp_path: Path, error: str, said: str, not_said: str
) -> None:
    (tmp_path / "run.log").write_text(f"{_HEAD}RuntimeError: {error}\n")
    text = str(aoti_logs.load(tmp_path / "run.log").explain())
    assert "AL216" in text
    assert said in text
    assert not_said not in text


def test_an_amd_gpu_is_not_asked_for_its_nvidia_driver(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(f"{_HEAD}RuntimeError: HIP error: invalid device function\n")
    text = str(aoti_logs.load(tmp_path / "run.log").explain())
    assert "rocminfo" in text
    assert "nvidia-smi" not in text

"""What one rank printed is no evidence about the failure of another."""

from __future__ import annotations

from pathlib import Path

import aoti_logs
from aoti_logs.explain import Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"


def _lead(log: Path, context: Path) -> Finding:
    return next(f for f in aoti_logs.load(log, context=context).explain().findings if f.role == "cause")


def test_a_kernel_that_another_rank_announced_last_is_no_suspect(tmp_path: Path) -> None:
    folder = FIXTURES / "gpu_ten_missing_weight_names"
    command, *lines = (folder / "run.log").read_text().splitlines()
    own = [f"[default0]:{line}" for line in lines]
    other = "[default1]:[ before_launch: aoti_torch_cuda_addmm_out ]"
    log = tmp_path / "run.log"
    log.write_text("\n".join([command, *own[:3], other, *own[3:]]) + "\n")
    found = _lead(log, folder)
    assert found.facts["suspect_kernel"] == "triton_poi_fused_add_addmm_mul_relu_0"


def test_an_announced_kernel_is_no_suspect_where_the_error_names_no_rank(tmp_path: Path) -> None:
    folder = FIXTURES / "gpu_ten_missing_weight_names"
    command, *lines = (folder / "run.log").read_text().splitlines()
    own = [f"[default0]:{line}" for line in lines[:3]]
    other = "[default1]:[ before_launch: aoti_torch_cuda_addmm_out ]"
    log = tmp_path / "run.log"
    log.write_text("\n".join([command, *own, other, *lines[3:]]) + "\n")
    assert "suspect_kernel" not in _lead(log, folder).facts


def test_inputs_of_another_rank_are_not_compared(tmp_path: Path) -> None:
    folder = FIXTURES / "cpu_aoti_printed_input"
    command, *lines = (folder / "run.log").read_text().splitlines()
    begun = next(n for n, line in enumerate(lines) if "before_launch" in line)
    inputs = [f"[default1]:{line}" for line in lines[:begun]]
    log = tmp_path / "run.log"
    log.write_text("\n".join([command, *inputs, *(f"[default0]:{t}" for t in lines[begun:])]) + "\n")
    assert not any(link.step == "given" for link in _lead(log, folder).chain)

"""A size that may not vary: the line that fixes it, or what tells it."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Finding

_FIXTURES = Path(__file__).parent.parent / "fixtures"
# the rows of R080, an exception of torch 2.5, and of R083, one of 2.8
_OLD = """torch.fx.experimental.symbolic_shapes.ConstraintViolationError: Constraints violated (L['input_ids'].size()[0])! For more information, run with TORCH_LOGS="+dynamic".
  - Not all values of RelaxedUnspecConstraint(L['input_ids'].size()[0]) are valid because L['input_ids'].size()[0] was inferred to be a constant ({constant}).
"""
_NEW = """torch.fx.experimental.symbolic_shapes.ConstraintViolationError: Constraints violated (L['x'].size()[0])! For more information, run with TORCH_LOGS="+dynamic".
  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (5). Either remove the mark_dynamic or use a less strict API such as maybe_mark_dynamic or Dim.AUTO.

User stack:
  File "/home/user/app/error.py", line 5, in foo
    return torch.randn(5) * x
"""


def _finding(folder: Path, text: str) -> Finding:
    log = folder / "run.log"
    log.write_text(text)
    return next(f for f in aoti_logs.load(log).explain().findings if f.rule == "AL505")


def test_a_line_that_no_stack_tells_is_missing_and_how_to_have_it_is_said(tmp_path: Path):
    finding = _finding(tmp_path, _OLD.format(constant=2048))
    assert [m.what for m in finding.missing] == ["the line that makes it 2048"]
    assert finding.experiments[0].env == (("TORCH_LOGS", "+dynamic"),)


@pytest.mark.parametrize("constant", [0, 1])
def test_a_size_of_zero_or_one_is_fixed_by_its_example_and_by_no_line(tmp_path: Path, constant: int):
    finding = _finding(tmp_path, _OLD.format(constant=constant))
    assert not finding.missing
    assert not finding.experiments


def test_a_stack_in_the_exception_names_the_line_to_change(tmp_path: Path):
    finding = _finding(tmp_path, _NEW)
    assert not finding.missing
    assert finding.fixes[-1].endswith("change the line that makes it 5 (/home/user/app/error.py:5)")


def test_a_log_of_sizes_leaves_nothing_to_log():
    finding = next(
        f for f in aoti_logs.load(_FIXTURES / "cpu_log_constraint").explain().findings if f.rule == "AL505"
    )
    assert any(link.step == "constant" for link in finding.chain)
    assert not finding.missing
    assert not finding.experiments


def test_a_trace_of_the_same_failure_names_the_line():
    finding = next(
        f for f in aoti_logs.load(_FIXTURES / "cpu_trace_constraint").explain().findings if f.rule == "AL505"
    )
    assert [k.text for k in finding.chain if k.step == "line"] == [
        "/srv/demo/models.py:180 in forward: return x.view(8, 3) + 1.0"
    ]
    assert not finding.missing

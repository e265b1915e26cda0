"""What stands under a failed check of generated code."""

from pathlib import Path

import pytest

import aoti_logs

_WORKER = """Traceback (most recent call last):
  File "/srv/app/run.py", line 9, in <module>
    main()
{outer}
Traceback (most recent call last):
  File "/srv/app/run.py", line 4, in work
    model(x)
RuntimeError: kernel, /srv/cache/ab/cabc.main.cpp:46, index out of bounds: 0 <= tmp7 < ks2, Expected (0 <= tmp7)
"""
_SPAWN = "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:"
_LOADER = "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):"


@pytest.mark.parametrize("outer", [_SPAWN, _LOADER])
def test_the_exception_of_the_parent_follows_from_the_check_that_stands_in_its_message(
    tmp_path: Path, outer: str
):
    text = _WORKER.format(outer=outer)
    if outer is _LOADER:
        text = text.replace(
            "(most recent call last):\nTraceback (most recent call last):", "(most recent call last):"
        )
    (tmp_path / "run.log").write_text(text)
    (finding,) = aoti_logs.load(tmp_path / "run.log").explain().findings
    assert finding.role == "cause"
    (link,) = finding.consequences
    assert (link.step, link.place.line if link.place else 0) == ("follows", 1)

"""The page about compiled models: its examples run as they stand there."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    shutil.copy(ROOT / "tests" / "buffers" / "jit.zip", tmp_path / "model.zip")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "models.md").read_text()
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, "models.md", "exec"), names)  # noqa: S102 our own page
    printed = capsys.readouterr().out
    assert "jit_python" in printed and "arg0_1 ['value']" in printed
    life = names["life"]
    assert getattr(life, "reuses", None) == ("buf0",)

"""The same compiled model, found as a file, in a package, a trace, a log or a report, gives the same rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

TABLES = ("launches", "launch_arguments", "buffers", "sizes", "inputs", "checks", "constants")
# Where a row stands, and what only other evidence in the same form (graphs, signatures) can tell.
ELSEWHERE = {"wrapper", "source", "line", "user_name", "strength", "evidence", "fqn"}
# `inputs.shape` comes from checks and buffers of the wrapper, or from graphs beside it; where the values of constants
# are is a matter of the package around the code.
ELSEWHERE_IN = {"inputs": {"shape"}, "constants": {"package", "model"}}

# Folders with several forms of one run; a form is a file or a folder that is loaded alone.
FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "fixtures": {
        "cpu_compile_gather": ("run.log", "sources", "trace", "../tlparse_compile/report", "../tlparse_compile/report/-_0_0_0"),
        "gpu_compile_gather": ("run.log", "sources", "trace"),
        "gpu_compile_nan_assert": ("run.log", "sources", "trace"),
        "cpu_compile_nan_assert": ("run.log", "sources", "trace"),
        "cpu_gather_empty_table": ("sources", "trace", "../tlparse_aoti/report", "../tlparse_aoti/report/-_-_-_-"),
        "cpu_embedding_id_beyond_vocab": ("sources", "trace", "model.pt2"),
        "gpu_empty_events": ("sources", "trace", "model.pt2"),
    },
    "corpus": {
        "cpu-torch2.13/aoti/oob_cpu": ("cache", "debug", "trace", "lookup.pt2"),
        **{
            f"cpu-torch2.13/aoti/wrapper/{name}": ("cache", "torch_compile_debug", "torch_compile_debug/tlparse", package)
            for name, package in {
                "aoti_blob": "lookup.pt2",
                "aoti_scatter": "scatter.pt2",
                "aoti_masked": "masked.pt2",
                "aoti_nan_nan": "nan.pt2",
                "jit_lookup": "",
                "jit_scatter": "",
                "jit_nan": "",
                "jit_cpp_lookup": "",
                "jit_printer1": "",
                "jit_printer2": "",
                "jit_printer3": "",
            }.items()
        },
        **{
            f"gpu-torch2.11/{name}": ("run.log", "sources", "trace")
            for name in ("jit_gather", "jit_nan", "jit_event_tail", "jit_recsys_logs", "jit_gather_blocking")
        },
        **{
            f"gpu-torch2.11/{name}": ("sources", "trace_compile", package)
            for name, package in {
                "gather_plain": "gather.pt2",
                "recsys_plain": "recsys.pt2",
                "recsys_checked": "recsys.pt2",
                "nan_asserts": "nan.pt2",
            }.items()
        },
        **{
            f"versions/torch{version}/{name}": tuple(f"{form}_{run}{end}" for form, end in (("run", ".log"), ("sources", ""), ("trace", "")))
            for version in ("24", "26", "29")
            for name, run in {
                "jit_gather": "too_large_inductor",
                "jit_train": "plain",
                "jit_dynamic": "guards",
                "jit_attention": "bad_token_guards",
                "jit_event_tail": "overrun_guards",
                "jit_recsys": "bad_id_inductor",
            }.items()
        },
    },
}  # fmt: skip
CASES = [(root, folder) for root, folders in FORMS.items() for folder in folders]


def rows(run: aoti_logs.Run, table: str) -> dict[str, list[str]]:
    """Return the rows of a table by wrapper, in their order, without where they stand."""
    frame = run.tables[table]
    hidden = ELSEWHERE | ELSEWHERE_IN.get(table, set())
    kept = [c for c in frame.columns if c not in hidden and not c.endswith("line")]
    if table == "constants":
        kept = [c for c in kept if not c.startswith("value_")]
    found: dict[str, list[str]] = {}
    for wrapper, row in zip(frame["wrapper"], frame.select(kept).rows(), strict=True):
        found.setdefault(wrapper, []).append(json.dumps(row, default=str))
    return found


def answers(path: Path) -> Counter[str]:
    """Return what a form says of each wrapper in it."""
    run = aoti_logs.load(path)
    tables = {table: rows(run, table) for table in TABLES}
    names = [view.wrapper.source.name for view in run.views()]
    assert len(set(names)) == len(names)
    return Counter(json.dumps({t: tables[t].get(name, []) for t in TABLES}) for name in names)


def forms(base: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for name in filter(None, names):
        if (base / name).exists():
            yield base / name


@pytest.fixture
def roots(fixtures_dir: Path, request) -> dict[str, Path]:
    from tests.conftest import CORPUS

    return {"fixtures": fixtures_dir, "corpus": CORPUS}


@pytest.mark.parametrize(
    ("root", "folder"),
    [pytest.param(*c, marks=[pytest.mark.corpus] if c[0] == "corpus" else []) for c in CASES],
)
def test_every_form_gives_the_same_rows(root: str, folder: str, roots):
    found = {p.name: answers(p) for p in forms(roots[root] / folder, FORMS[root][folder])}
    told = {name: set(answer) for name, answer in found.items() if answer}
    assert told, "no form of this run holds a wrapper"
    most = max(told.values(), key=len)
    assert {name: answer - most for name, answer in told.items() if not answer <= most} == {}


@pytest.mark.parametrize("folder", [f for f in FORMS["fixtures"] if not f.endswith("nan_assert")])
def test_every_form_of_a_fixture_holds_all_wrappers(folder: str, fixtures_dir: Path):
    found = [set(answers(p)) for p in forms(fixtures_dir / folder, FORMS["fixtures"][folder])]
    assert len(found) == len(FORMS["fixtures"][folder]) and all(
        answer == found[0] != set() for answer in found
    )


def kernels(path: Path) -> set[str]:
    frame = aoti_logs.load(path).tables["kernels"]
    own = frame.filter(frame["wrapper"].is_not_null())
    return {json.dumps(r, default=str) for r in own.select("name", "backend", "params").rows()}


@pytest.mark.parametrize("folder", list(FORMS["fixtures"]))
def test_every_form_of_a_fixture_has_the_same_kernels(folder: str, fixtures_dir: Path):
    found = [k for k in map(kernels, forms(fixtures_dir / folder, FORMS["fixtures"][folder])) if k]
    assert all(k == found[0] for k in found) and found


# ------------------------------------------------------------ cut off


def whole(fixtures_dir: Path) -> str:
    (path,) = (fixtures_dir / "cpu_compile_gather" / "sources").rglob("*.py")
    return path.read_text()


def cut_log(fixtures_dir: Path, tmp_path: Path, marker: str) -> Path:
    """Write the log of a run that stops behind a line of the output code."""
    text = (fixtures_dir / "cpu_compile_gather" / "run.log").read_text()
    end = text.index("\n", text.rindex(marker))
    path = tmp_path / "cut.log"
    path.write_text(text[: end + 1])
    return path


def test_a_log_cut_off_in_the_call_says_what_was_read(fixtures_dir: Path, tmp_path: Path):
    path = cut_log(fixtures_dir, tmp_path, "[__output_code]         buf0 = empty_strided_cpu")
    (view,) = aoti_logs.load(path).views()
    assert view.wrapper.launches == ()
    assert [i.name for i in view.wrapper.inputs] and view.wrapper.outputs == ()
    assert any("cut off" in text for _, text in view.wrapper.unread)


def test_a_kernel_cut_out_of_the_text_leaves_its_launch_unbound(fixtures_dir: Path):
    text = whole(fixtures_dir)
    start, end = text.index("cpp_fused_"), text.index("async_compile.wait(")
    code = OutputCode(Source("cut.py", Kind.OUTPUT_CODE, (text[:start] + text[end:]).encode))
    (launch,) = code.launches
    assert launch.unbound == "the kernel is not defined in this text"
    assert all(a.param is None for a in launch.arguments)

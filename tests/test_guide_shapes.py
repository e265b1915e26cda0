"""The guide's page on sizes, compiles and ranks: its rules exist, none is left out, its proofs can be looked up."""

import importlib.util
import re
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.parse.guards.recompile_reason import read_recompile_reason
from aoti_logs.rules import RULES
from aoti_logs.rules.recompile_words import advice, static_for, what_moves
from aoti_logs.rules.shape_checks import checks_for
from aoti_logs.settings import setting

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guide" / "shapes_compile_ranks.md"
FIXTURES = ROOT / "fixtures"
FAMILIES = re.compile(r"AL5\d\d|AL6\d\d|AL32[0-7]")
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in PAGE.read_text().split("\n")
    if line.startswith("| ") and not line.startswith("| statement")
]
PROOFS = sorted({proof.strip() for row in ROWS for proof in row[3].split("; ")})


def torch_folder():
    found = importlib.util.find_spec("torch")
    return Path(found.origin).parent if found is not None and found.origin else None


def test_every_row_has_four_cells():
    assert [row for row in ROWS if len(row) != 4] == []


def test_every_rule_that_is_named_exists():
    named = {code for row in ROWS for code in re.findall(r"AL\d{3}", row[2])}
    assert named <= {rule.code for rule in RULES}


def test_every_rule_of_these_families_stands_in_the_page():
    named = {code for row in ROWS for code in row[2].split(", ")}
    assert {r.code for r in RULES if FAMILIES.fullmatch(r.code)} - named == set()


@pytest.mark.parametrize("proof", PROOFS)
def test_every_proof_can_be_looked_up(proof):
    kind, _, what = proof.partition(" ")
    if kind == "fixture":
        assert (FIXTURES / what).is_dir()
    elif kind == "setting":
        assert setting(what) is not None
    else:
        assert kind == "torch"
        file, _, text = what.partition(": ")
        folder = torch_folder()
        if folder is None or not file.endswith(".py"):
            pytest.skip("no torch here, or a text of its libraries")
        assert text in (folder / file).read_text()


@pytest.mark.parametrize(
    ("expression", "code", "checks"),
    [
        ("u0 > 5", "if n > 5:", ("torch._check(n > 5)", "torch._check(n <= 5)")),
        ("u0 <= 4", "while k.left <= 4:", ("torch._check(k.left <= 4)", "torch._check(k.left > 4)")),
        ("Eq(u0, 3)", "elif n == 3:", ("torch._check(n == 3)", "torch._check(n != 3)")),
        (
            "u0 + u1 < 7",
            "assert a + b < 7, 'too many'",
            ("torch._check(a + b < 7)", "torch._check(a + b >= 7)"),
        ),
        ("Eq(u0, 1)", "if x.sum() > 0:", None),
        ("u0 > 5", "if n > limit:", None),
        ("u0 > 5", "y = x[:n]", None),
        ("u0 > 5", None, None),
        ("u0 > 5", "if n > 5 and m > 5:", None),
        ("u0 > 5", "if (n > 5", None),
    ],
)
def test_a_check_is_written_only_where_the_line_plainly_asks_that(expression, code, checks):
    assert checks_for(expression, code) == checks


# Lines of torch 2.13, TORCH_LOGS=recompiles (torch/_dynamo/guards.py).
PARAMETER = (
    "0/1: tensor 's._parameters['w']' size mismatch at index 0. expected 5, actual 6. Guard failed on a parameter, consider "
    "using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters."
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("0/0: ___check_obj_id(fn, 140439264606080)", "which object `fn` is"),
        ("0/0: ___check_type_id(o, 93868510677488)", "the type of `o`"),
        ("0/1: KeyError on xs['b']", "the key `xs['b']`"),
        (
            "0/1: GLOBAL_STATE changed: grad_mode deterministic_algorithms ",
            "global state (grad_mode, deterministic_algorithms)",
        ),
        ("0/0: len(xs) == 2", "`len(xs)`"),
        ("0/0: s.c == 1", "`s.c`"),
        ("0/0: (x.size()[0] % 7) != 0", "what the guard `(x.size()[0] % 7) != 0` tests"),
    ],
)
def test_what_moved_is_named_by_the_source_of_the_guard(text, what):
    assert what_moves(read_recompile_reason(text)) == what


def test_objects_that_differ_each_time_are_one_change():
    words = {what_moves(read_recompile_reason(f"0/{n}: ___check_obj_id(fn, {n + 77})")) for n in range(5)}
    assert words == {"which object `fn` is"}


def test_the_size_of_a_parameter_is_not_to_be_marked_dynamic():
    (line,) = advice([read_recompile_reason(PARAMETER)])
    assert "force_parameter_static_shapes = False" in line
    assert "mark_dynamic" not in line


def test_a_number_is_not_to_be_marked_dynamic():
    (line,) = advice([read_recompile_reason("0/0: n == 2")])
    assert "mark_dynamic takes tensors only" in line


def test_a_size_that_changed_again_and_again_was_kept_from_being_dynamic():
    assert static_for("size", ["4", "5"]) is None
    assert static_for("int_equality", ["4", "5", "6"]) is None
    assert "dynamic=False" in (static_for("size", ["4", "5", "6"]) or "")


def test_tlparse_refuses_a_folder_with_latest():
    import shutil
    import subprocess
    import sys

    program = shutil.which("tlparse") or shutil.which("tlparse", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("no tlparse here")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if "0.4.3" not in version:
        pytest.skip("another tlparse")
    folder = str(FIXTURES / "gpu_ranks" / "trace")
    done = subprocess.run(
        [program, "--latest", "--no-browser", folder, "-o", "/nowhere/at/all"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1


def test_the_text_of_a_refused_folder_is_not_answered_with_latest(tmp_path):
    log = tmp_path / "run.log"
    log.write_text(
        "$ tlparse --latest trace\nError: Input path trace/a.log is not a directory (required with --latest)\n"
    )
    (finding,) = [f for f in aoti_logs.load(log).explain() if f.rule == "AL620"]
    assert "without --latest" in finding.fixes[0]


def test_a_size_that_is_a_constant_is_quoted_with_its_line_and_nothing_behind_it(tmp_path):
    # As torch 2.9 prints it for strict export (torch/fx/experimental/symbolic_shapes.py).
    log = tmp_path / "run.log"
    log.write_text(
        "Traceback (most recent call last):\n"
        '  File "/srv/demo/run.py", line 4, in <module>\n'
        "    export(model, args)\n"
        'torch._dynamo.exc.UserError: Constraints violated (b)! For more information, run with TORCH_LOGS="+dynamic".\n'
        "  - You marked b as dynamic but your code specialized it to be a constant (8). If you're using mark_dynamic, either "
        "remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO.\n\n"
        "User stack:\n"
        '  File "/srv/demo/run.py", line 2, in forward\n'
        "    if x.shape[0] == 8:\n\n\n"
        "Suggested fixes:\n  b = 8\n\n"
        "The error above occurred when calling torch.export.export.\n"
    )
    (finding,) = [f for f in aoti_logs.load(log).explain() if f.rule == "AL505"]
    assert finding.facts["user_stack"][-1]["code"] == "if x.shape[0] == 8:"
    assert any("Dim.STATIC" in fix for fix in finding.fixes)


def test_a_trace_without_reasons_tells_that_it_was_compiled_again_and_not_why(tmp_path):
    # As torch 2.4 writes it: no recompile_reasons, and stacks without the function.
    head = "V1129 13:41:17.202000 140672901020544 torch/_dynamo/convert_frame.py:802] "
    lines = []
    for number in range(3):
        ids = f'"frame_id": 0, "frame_compile_id": {number}, "attempt": 0'
        lines.append(f'{head}{{"dynamo_start": {{"stack": []}}, {ids}}}')
        metrics = (
            '{"co_name": "forward", "co_filename": "/srv/demo/a.py", "co_firstlineno": 7, "fail_type": null}'
        )
        lines.append(f'{head}{{"compilation_metrics": {metrics}, {ids}}}')
    (tmp_path / "dedicated_log_torch_trace_aaaaaaaa.log").write_text("\n".join(lines) + "\n")
    (finding,) = [f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL501"]
    assert finding.title == "`forward` was compiled again 2 times; why is not recorded"
    assert finding.missing
    assert finding.facts["line"] == 7


def test_a_comparison_of_a_size_with_one_is_no_truth_of_a_tensor():
    from aoti_logs.parse.compiles.failure import Undecided
    from aoti_logs.rules.al506_data_dependent import fixes

    asked = Undecided("Eq(u0, 1)", None, ("u0",), ())
    assert "truth of a tensor" in fixes(asked, "if x.sum() > 0:")[0]
    for code in ("if x.size(0) == 1:", "if y.shape[0] != z:", "y = x[mask]"):
        assert "truth of a tensor" not in fixes(asked, code)[0]

"""Guard trees: every line of every version has its place, its meaning and its user's line."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Token
from lark.exceptions import LarkError

from aoti_logs._grammar import parser
from aoti_logs.parse.guards.guard_line import read_guard, read_tensor_guard
from aoti_logs.parse.guards.guard_tree import GuardLine, read_guard_tree, read_line
from aoti_logs.parse.shape import tokens
from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources.source import Kind, Source

PAYLOADS = Path(__file__).parent / "payloads"
TREES = sorted(PAYLOADS.glob("guard_tree_*.txt"))


def payload(name: str) -> str:
    return (PAYLOADS / name).read_bytes().decode()


def lines_of(text: str) -> list[str]:
    return [line[line.find("+- ") + 3 :] for line in text.split("\n") if "+- " in line]


@pytest.mark.parametrize("path", TREES, ids=lambda p: p.stem)
def test_every_line_of_a_tree_is_taken_apart(path):
    tree = read_guard_tree(path.read_bytes().decode())
    assert tree.n_unparsed == 0
    assert [n.line.text for n in tree.nodes] == lines_of(path.read_bytes().decode())
    assert tree.n_guards + tree.n_managers == len(tree.nodes) - sum(
        n.line.kind == "KeyValueManager" for n in tree.nodes
    )


def test_a_tree_counts_its_lines_as_an_editor_does():
    text = payload("guard_tree_2.13.txt")
    tree = read_guard_tree(text)
    assert (tree.n_lines, tree.n_guards, tree.n_managers) == (text.count("\n") + 1, 12, 5)
    assert tree.latency_us is not None
    assert 0 < tree.latency_us < 1e6


def test_depth_is_that_of_the_drawing_and_the_epilogue_stands_at_the_root():
    nodes = read_guard_tree(payload("guard_tree_2.9.txt")).nodes
    assert [n.line.depth for n in nodes[:2]] == [0, 1]
    assert nodes[-1].line.kind == "LAMBDA_GUARD"
    assert nodes[-1].line.depth == 0
    assert nodes[-1].guarded is None


def test_a_guard_knows_what_it_guards_from_the_manager_above_it():
    nodes = read_guard_tree(payload("guard_tree_2.13.txt")).nodes
    by_kind = {n.line.kind: n for n in nodes}
    assert by_kind["TENSOR_MATCH"].guarded == "L['x']"
    assert by_kind["DictGuardManager"].guarded == "L['d']"
    assert by_kind["KeyValueManager"].guarded == "L['d']"
    assert by_kind["KeyValueManager"].line.index == 0
    assert by_kind["KeyManager"].guarded == "list(dict.keys(L['d']))[0]"
    assert by_kind["ValueManager"].guarded == "L['d']['b']"


def test_a_manager_says_how_it_gets_at_its_value():
    line = next(
        n.line for n in read_guard_tree(payload("guard_tree_2.13.txt")).nodes if n.guarded == "L['x']"
    )
    assert line.accessed_by == "FrameLocalsGuardAccessor(key='x', framelocals_idx=0)"
    assert line.type == "<class 'torch.Tensor'>"
    assert line.tag_safe == (False, False)
    assert not line.is_leaf


def test_managers_of_torch_2_4_have_no_type():
    line = next(n.line for n in read_guard_tree(payload("guard_tree_2.4.txt")).nodes if n.line.source)
    assert line.accessed_by == "DictGetItemGuardAccessor(events)"
    assert line.type is None
    assert line.tag_safe is None


def test_offsets_lead_back_to_the_lines():
    text = payload("guard_tree_2.6.txt")
    lines = text.split("\n")
    for node in read_guard_tree(text).nodes:
        assert lines[node.offset].endswith(node.line.text)


def test_a_tensor_guard_gives_dtype_sizes_and_strides_with_none_for_dynamic_ones():
    tensors = [n.line.tensor for n in read_guard_tree(payload("guard_tree_2.9.txt")).nodes if n.line.tensor]
    assert [(t.name, t.dtype, t.device, t.requires_grad, t.size, t.stride) for t in tensors] == [
        ("L['events']", "torch.float32", "None", False, (None, None), (None, "1")),
        ("L['lengths']", "torch.int64", "None", False, (None,), ("1",)),
    ]
    assert tensors[0].dispatch_keys == ("CPU", "BackendSelect", "ADInplaceOrView", "AutogradCPU")


@pytest.mark.parametrize(
    ("text", "expression", "code", "file", "line", "function", "framework", "hint"),
    [
        ("a == 1    ", "a == 1", None, None, None, None, None, None),
        ("a == 'x  # y'  # b  # c.py:3 in f", "a == 'x  # y'", "b", "c.py", 3, "f", None, None),
        (
            "t(x), type=<class 'm.M'>  # e = f(x)     # a note  # my dir/m.py:43 in <lambda> (HINT: type M)",
            "t(x)", "e = f(x)     # a note", "my dir/m.py", 43, "<lambda>", None, "type M",
        ),
        ("t(x), type=<class 'd'> (HINT: type d)", "t(x)", None, None, None, None, None, "type d"),
        ("x == None      # _dynamo/g.py:7 in init", "x == None", None, None, None, None, "_dynamo/g.py:7 in init", None),
        ("x == 1  # rv/m.py:7 in f", "x == 1", None, "rv/m.py", 7, "f", None, None),
        ("x > 1  # (a/b.py:1 in <genexpr>)", "x > 1", None, None, None, None, "a/b.py:1 in <genexpr>", None),
        ("x > 1  # c  # m.py:2 in f (a/b.py:1 in g)", "x > 1", "c", "m.py", 2, "f", "a/b.py:1 in g", None),
        ("2 <= x  # c  # m.py:2 in f (why (so))", "2 <= x", "c", "m.py", 2, "f", None, "why (so)"),
        (
            "2 <= x <= 9  # (why) and (a/b.py:1 in g)",
            "2 <= x <= 9", None, None, None, None, None, "(why) and (a/b.py:1 in g)",
        ),
        ("x == 5  # duck sizing added it", "x == 5", None, None, None, None, None, "duck sizing added it"),
        ("x == 5  #   # m.py:2 in f", "x == 5", None, "m.py", 2, "f", None, None),
        (
            "a == 1  # c  # m.py:2 in f (a/b.py:1 in g); b == 2  # d  # m.py:3 in f",
            "a == 1", "c", "m.py", 2, "f", "a/b.py:1 in g", "; b == 2  # d  # m.py:3 in f",
        ),
    ],
)  # fmt: skip
def test_forms_of_a_guards_comment(text, expression, code, file, line, function, framework, hint):
    guard = read_guard(text)
    assert guard.parsed
    assert (guard.expression, guard.code, guard.file, guard.line) == (expression, code, file, line)
    assert (guard.function, guard.framework, guard.hint) == (function, framework, hint)


def test_a_key_that_looks_like_the_next_field_stays_in_the_source():
    line = read_line(
        "| +- GuardManager: source=L['d']['a, type=b'], accessed_by=DictGetItemGuardAccessor('a')"
    )
    assert (line.source, line.type) == ("L['d']['a, type=b']", None)


def test_a_relational_guard_printed_again_has_no_text():
    line = read_line("| +- NO_TENSOR_ALIASING")
    assert (line.kind, line.is_leaf, line.guard, line.parsed) == ("NO_TENSOR_ALIASING", True, None, True)


def test_a_line_that_no_tree_has_is_kept_as_a_node():
    text = payload("guard_tree_2.13.txt").replace("+- GLOBAL_STATE", "no marks", 1) + "\nmore"
    tree = read_guard_tree(text)
    assert tree.n_unparsed == 2
    assert [n.line.text for n in tree.nodes if n.line.depth is None][1] == "more"


def test_a_guard_that_the_grammar_refuses_keeps_its_kind_and_text():
    line = read_line("| | +- EQUALS_MATCH: L['x'] == 'cut off")
    assert (line.kind, line.is_leaf, line.depth, line.parsed) == ("EQUALS_MATCH", True, 2, False)
    assert line.guard is not None
    assert line.guard.expression == "L['x'] == 'cut off"


def test_ten_thousand_levels_are_read():
    depths = [*range(0, 10_000, 250), 10_000]
    text = (
        "\n".join(f"{'| ' * d}+- GuardManager: source=L['x{d}']" for d in depths)
        + "\n+- LAMBDA_GUARD: a == 1"
    )
    tree = read_guard_tree(text)
    assert [n.line.depth for n in tree.nodes] == [*depths, 0]
    assert tree.nodes[-2].guarded == "L['x10000']"
    assert tree.nodes[-1].guarded is None


def test_a_line_of_a_megabyte_is_kept():
    tree = read_guard_tree("+- ID_MATCH: " + "x" * 1_000_000)
    assert (tree.n_guards, tree.n_unparsed) == (1, 1)


LINES = sorted({line for path in TREES for line in lines_of(path.read_bytes().decode())})


@given(st.sampled_from(LINES), st.integers(0, 10**12))
def test_lines_of_one_shape_are_read_as_the_grammar_alone_reads_them(line, number):
    digits = str(number)
    changed = "".join(digits[i % len(digits)] if c.isdigit() else c for i, c in enumerate(line))
    tree = parser("guard_tree").parse(changed)
    alone = [(t.type, t.start_pos, t.end_pos) for t in tree.scan_values(lambda t: isinstance(t, Token))]
    assert tokens("guard_tree", "start", changed) == alone


PART = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30)


@given(st.lists(PART, max_size=6).map("\n".join))
def test_no_text_is_lost_and_none_raises(text):
    tree = read_guard_tree(text)
    assert tree.n_lines == text.count("\n") + 1
    lines = text.split("\n")
    titles = sum(not line.strip() or line.rstrip("\r") == "TREE_GUARD_MANAGER:" for line in lines)
    assert len(tree.nodes) == tree.n_lines - titles - sum(line.latency_us is not None for line in tree.lines)


@given(st.sampled_from(LINES), st.integers(0, 300), PART)
def test_a_damaged_line_is_read_or_kept(line, at, noise):
    damaged = line[:at] + noise + line[at:]
    node = read_guard_tree(f"| | +- {damaged}").nodes[0]
    assert node.line.text == damaged.removesuffix("\r")
    read_guard(damaged)
    read_tensor_guard(damaged)
    read_tensor_guard(f"check_tensor({noise}")


NAME = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
KEY = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=12)
SIZES = st.lists(st.none() | st.integers(0, 10**12), max_size=5)


@given(NAME, KEY, SIZES, st.booleans(), st.none() | st.integers(0, 9), NAME)
def test_a_tensor_guard_gives_what_was_printed(name, key, sizes, grad, device, dtype):
    source = f"L[{name!r}][{key!r}]"
    guard = read_tensor_guard(
        f"check_tensor({source}, Sub.<locals>.T, DispatchKeySet(CPU, AutogradCPU), torch.{dtype}, "
        f"device={device}, requires_grad={grad}, size={sizes}, stride={sizes[::-1]})"
    )
    assert guard is not None
    assert (guard.name, guard.pytype, guard.dtype) == (source, "Sub.<locals>.T", f"torch.{dtype}")
    assert (guard.device, guard.requires_grad) == (str(device), grad)
    assert guard.size == tuple(None if s is None else str(s) for s in sizes)


@given(
    NAME, KEY, st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)
)
def test_a_guard_gives_the_text_and_the_users_line_that_were_printed(name, value, code):
    expression = f"L[{name!r}] == {value!r}"
    guard = read_guard(f"{expression:<60}  # {code}  # my dir/{name}.py:12 in <lambda>")
    assert guard.expression == expression
    assert (guard.code, guard.file, guard.line, guard.function) == (code, f"my dir/{name}.py", 12, "<lambda>")


def test_equal_lines_are_read_once():
    line = "| +- DICT_LENGTH: not L['kwargs']   "
    assert read_line(line) is read_line(str(line))


def test_the_grammar_refuses_what_is_no_line():
    with pytest.raises(LarkError):
        parser("guard_tree").parse("lowercase: x")


@pytest.mark.corpus
def test_every_guard_tree_of_the_corpus_is_taken_apart(corpus_dir):
    found: list[GuardLine] = []
    for path in sorted(corpus_dir.rglob("*.log")):
        data = path.read_bytes()
        if b'"dynamo_cpp_guards_str"' not in data or "tlparse-reports" in str(path):
            continue
        trace = TraceIndex(Source(path.name, Kind.TORCH_TRACE, partial(bytes, data)))
        for record in trace.find("dynamo_cpp_guards_str"):
            found += [n.line for n in read_guard_tree(record.text).nodes]
    assert len(found) > 10_000
    assert not [line.text for line in found if not line.parsed]
    assert all(line.tensor for line in found if line.kind == "TENSOR_MATCH")


@pytest.mark.corpus
def test_counts_are_those_of_the_known_cases(corpus_dir):
    seen = 0
    for case in map(json.loads, (corpus_dir / "cpu-torch2.13" / "cases.jsonl").read_text().splitlines()):
        guards = case["expected"].get("guards", [])
        if not case["id"].startswith("torch_trace/") or not guards or "n_lines" not in guards[0]:
            continue
        path = corpus_dir / "cpu-torch2.13" / case["case"] / case["log"]
        trace = TraceIndex(Source(path.name, Kind.TORCH_TRACE, path.read_bytes))
        trees = [(r.compile, read_guard_tree(r.text)) for r in trace.find("dynamo_cpp_guards_str")]
        assert [(c, t.n_lines, t.n_guards) for c, t in trees] == [
            (g["compile_id"], g["n_lines"], g["n_guards"]) for g in guards
        ]
        seen += 1
    assert seen > 10

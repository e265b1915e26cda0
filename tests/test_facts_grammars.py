"""The grammars of compile-time text: their own samples, and texts that they must take or refuse."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs._grammar import grammar_folder, parser
from aoti_logs.parse.graphs.graph import NodeLine, read_node_header
from aoti_logs.parse.graphs.graph_head import described_input, mangled, read_head, user_name
from aoti_logs.parse.python.stack_text import frames_of_stack, user_frame
from aoti_logs.parse.sizes.origin import Origin, input_of
from aoti_logs.parse.sizes.symbol import read_symbol_line

GRAMMARS = ["create_symbol", "dynamo_source", "graph", "node_header", "signature", "stack_text"]
SAMPLE = re.compile(r"// sample(?: (\w+))?: (.*)")


def samples() -> Iterator[tuple[str, str, str]]:
    for name in GRAMMARS:
        for line in (grammar_folder() / f"{name}.lark").read_text(encoding="utf-8").splitlines():
            if found := SAMPLE.match(line):
                yield name, found[1] or "start", found[2]


@pytest.mark.parametrize(("name", "start", "text"), list(samples()))
def test_grammar_takes_its_own_samples(name, start, text):
    assert parser(name, start).parse(text) is not None


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammar_says_which_program_prints_the_text(name):
    head = (grammar_folder() / f"{name}.lark").read_text(encoding="utf-8").split("\n\n")[0]
    assert "torch/" in head
    assert "// sample" in head


NAME = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
KEY = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=8)


@given(NAME, st.integers(0, 9), st.sampled_from(["size", "stride"]))
def test_a_size_of_a_local_names_it_and_its_dimension(name, dim, measure):
    assert input_of(f"L[{name!r}].{measure}()[{dim}]") == Origin(name, dim, measure, "local")


@given(NAME, KEY)
def test_an_item_of_a_local_keeps_its_key(name, key):
    assert input_of(f"L[{name!r}][{key!r}]") == Origin(f"{name}[{key!r}]", None, "value", "local")


@given(st.lists(NAME, min_size=1, max_size=4), NAME)
def test_a_parameter_is_named_by_its_module_path(modules, leaf):
    source = "L['self']" + "".join(f"._modules[{m!r}]" for m in modules) + f"._parameters[{leaf!r}]"
    found = input_of(source)
    assert found is not None
    assert (found.name, found.holder) == (".".join([*modules, leaf]), "parameter")


@pytest.mark.parametrize(
    ("source", "name", "dim", "kind"),
    [
        ("L['args'][0].size()[1]", "args[0]", 1, "size"),
        ("dict.__getitem__(L['batch'], 'ids').size()[0]", "batch['ids']", 0, "size"),
        ("getattr(L['cfg'], 'a b')", "cfg.a b", None, "value"),
        ("L['x'].storage_offset()", "x", None, "storage_offset"),
        ("L['x'].item()", "x", None, "value"),
        ("___as_tensor(L['self']._modules['bn'].eps)", "bn.eps", None, "value"),
        ("G['TABLE'].size()[0]", "TABLE", 0, "size"),
        ("cast_symbool_to_symint_guardless(L['flag'])", "flag", None, "value"),
        ("L['fn'].__self__._modules['lin']._buffers['b']", "fn.lin.b", None, "value"),
    ],
)
def test_forms_of_dynamo_sources(source, name, dim, kind):
    found = input_of(source)
    assert found is not None
    assert (found.name, found.dim, found.kind) == (name, dim, kind)


@pytest.mark.parametrize(
    "source", ["", "<unknown source>", "<ephemeral: x>", "__meta_utils_unknown_tensor0.size()[0]", "L[", "1"]
)
def test_what_is_no_input_names_none(source):
    assert input_of(source) is None


def test_a_deeply_nested_source_is_refused_not_recursed():
    assert input_of("type(" * 5000 + "L['x']" + ")" * 5000) is None
    assert input_of("type(" * 300 + "L['x']" + ")" * 300) is None


@given(st.text(max_size=60))
def test_no_text_makes_the_readers_raise(text):
    input_of(text)
    input_of(f"L[{text}")
    read_symbol_line(text)
    read_symbol_line(f"create_symbol s0 = 1 for {text}")
    read_node_header(f"# File: {text}")
    read_head(f"def forward(self, {text}):")
    described_input(text)
    frames_of_stack(f'File "{text}", line 1, in f\n{text}')


@given(
    st.integers(0, 999),
    st.integers(0, 10**6),
    NAME,
    st.integers(0, 5),
    st.integers(-5, 99),
    st.integers(99, 10**7),
)
def test_create_symbol_line_gives_what_was_printed(number, hint, name, dim, lower, upper):
    line = read_symbol_line(
        f"create_symbol s{number} = {hint} for L['{name}'].size()[{dim}] [{lower}, {upper}] y = x[(1)]  # a b.py:3 "
        f"in <lambda> (_dynamo/variables/builder.py:9 in <lambda>), for more info run with X"
    )
    assert line is not None
    assert (line.symbol, line.hint, line.origin) == (f"s{number}", hint, f"L['{name}'].size()[{dim}]")
    assert (line.lower, line.upper, line.user_frame) == (lower, upper, "a b.py:3 in <lambda>")


@pytest.mark.parametrize("infinity", ["int_oo", "9223372036854775806", "9223372036854775807", "oo"])
def test_every_spelling_of_infinity_is_no_limit(infinity):
    line = read_symbol_line(f"create_symbol s0 = 8 for L['x'].size()[0] [2, {infinity}] (a.py:1 in f)")
    assert line is not None
    assert (line.lower, line.upper) == (2, None)


@given(NAME, st.integers(0, 10**6), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20))
def test_node_header_gives_file_line_and_code(function, line, code):
    found = read_node_header(f"# File: /srv/my dir/{function}.py:{line} in {function}, code: {code}")
    assert found == NodeLine(f"/srv/my dir/{function}.py", line, function, code)


def test_a_node_header_without_function_is_of_torch_2_1():
    assert read_node_header("# File: /a.py:29, code: x = 1") == NodeLine("/a.py", 29, None, "x = 1")


@given(st.lists(NAME, min_size=1, max_size=6, unique=True).filter(lambda names: "self" not in names))
def test_a_head_lists_its_parameters_in_order(names):
    one = "def forward(self, " + ", ".join(f'{n}: "f32[s0, 8][8, 1]cuda:0"' for n in names) + "):"
    many = "def forward(\n    self,\n" + "".join(
        f'    {n}: "i64[s0]",  # PlainAOTInput(idx={i})\n' for i, n in enumerate(names)
    ) + "):"  # fmt: skip
    assert [p.name for p in read_head(one)] == names
    assert [(p.name, p.line, p.descriptor) for p in read_head(many)] == [
        (n, i + 3, f"PlainAOTInput(idx={i})") for i, n in enumerate(names)
    ]


def test_a_cut_head_still_gives_the_parameters_before_the_cut():
    assert [p.name for p in read_head('def forward(self, a: "f32[2]", b: "i64[3]", c: "f3')] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("L_table_", "table"),
        ("L_my_table_", "my_table"),
        ("L_self_modules_mlp_modules_0_parameters_weight_", "mlp.0.weight"),
        ("L_fn_self_modules_lin1_buffers_mean_", "fn.lin1.mean"),
        ("arg0_1", None),
    ],
)
def test_names_that_dynamo_made_are_undone(name, user):
    assert user_name(name) == user


def test_dynamo_names_of_sources():
    assert mangled("L['batch']['ids']") == "L_batch_ids_"
    assert mangled("L['self']._modules['emb']._parameters['weight']") == (
        "L_self_modules_emb_parameters_weight_"
    )


def test_descriptors_tell_index_or_path():
    assert described_input("PlainAOTInput(idx=12)") == (12, None)
    assert described_input("BufferAOTInput(target='cache.k')") == (None, "cache.k")
    assert described_input("SubclassGetAttrAOTInput(base=PlainAOTInput(idx=1), attr='a')") == (None, None)


def test_the_users_frame_is_the_innermost_outside_of_packages():
    text = (
        'File "/srv/models.py", line 43, in forward\n    e = self.emb(ids)\n'
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/sparse.py", line 189, in forward\n'
        "    return F.embedding("
    )
    frames = frames_of_stack(text)
    assert [f[1] for f in frames] == [43, 189]
    assert user_frame(frames) == ("/srv/models.py", 43, "forward", "e = self.emb(ids)")
    assert frames_of_stack(text.replace("\n", "\\n")) == frames

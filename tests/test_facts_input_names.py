"""Who names a wrapper's inputs, and how sure that is."""

import json
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

import aoti_logs
from aoti_logs.code.expr import Name, Num, Op
from aoti_logs.code.model import CheckKind, InputCheck, ModelInput, Size
from aoti_logs.code.names.graph_shelf import GraphShelf
from aoti_logs.code.names.input_names import InputName, decide, input_names
from aoti_logs.code.names.testimony import WrapperInputs
from aoti_logs.code.names.witnesses import Witnesses
from aoti_logs.explain import Confidence
from aoti_logs.parse.facts import Graph, SourceName, Symbol
from aoti_logs.parse.graphs.exported_program import signatures_in_text
from aoti_logs.parse.graphs.graph import graphs_in_text
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.sources.source import Kind, Place, Source

PROGRAM = """ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_w: "f32[8]", {one}: "f32[s70, 8]", {two}: "i64[{size}]"):
            return (x,)

Graph signature:
    # inputs
    p_w: PARAMETER target='w'
    {one}: USER_INPUT
    {two}: USER_INPUT

    # outputs
    x: USER_OUTPUT
"""
DYNAMO = """class GraphModule(torch.nn.Module):
    def forward(self, s70: "Sym(s70)", L_table_: "f32[s70, 8][8, 1]cpu", L_my_idx_: "i64[s95][1]cpu"):
        return (x,)
"""
AOT = """class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s70)", arg1_1: "f32[s70, 8][8, 1]cpu", arg2_1: "i64[s95][1]cpu"):
        return (x,)
"""
INPUTS = (ModelInput(0, "arg0_1", 1), ModelInput(1, "arg1_1", 2))
SIZES = (Size("s70", 5, "", tensor="arg0_1", dim=0), Size("s95", 6, "", tensor="arg1_1", dim=0))


def text_source(
    text: str,
    name: str = "compile.log",
    kind: Kind = Kind.LOG,
    parent: Source | None = None,
    compile_id: str | None = None,
) -> Source:
    return Source(
        name, kind, text.encode, parent=parent, parent_lines=range(1, 99) if parent else None, compile_id=compile_id
    )  # fmt: skip


def program(
    one: str = "table", two: str = "idx", size: str = "s95", name: str = "compile.log"
) -> dict[str, Any]:
    log = text_source(PROGRAM.format(one=one, two=two, size=size), name)
    return {"graphs": graphs_in_text(log), "signatures": signatures_in_text(log)}


def told(names: dict[str, InputName]) -> dict[str, tuple[str, Confidence]]:
    return {arg: (n.name, n.strength) for arg, n in names.items()}


def symbol(name: str, origin: str, source: Source, compile_id: str | None = None) -> Symbol:
    found = input_of(origin)
    return Symbol(name, origin, Place(source.name, 7, 7), source, input_name=found.name if found else None,
                  dim=found.dim if found else None, compile_id=compile_id)  # fmt: skip


def test_signature_and_graph_whose_symbols_agree_prove_the_names():
    names = input_names(INPUTS, SIZES, "aoti_cpp", **program())
    assert told(names) == {"arg0_1": ("table", Confidence.PROVEN), "arg1_1": ("idx", Confidence.PROVEN)}
    assert names["arg0_1"].place.source == "compile.log"


def test_a_program_with_other_symbols_is_about_another_model():
    assert input_names(INPUTS, SIZES, "aoti_cpp", **program(size="s17")) == {}


def test_a_program_with_another_number_of_inputs_is_not_heard():
    three = (*INPUTS, ModelInput(2, "arg2_1", 3))
    assert input_names(three, SIZES, "aoti_cpp", **program()) == {}


def test_static_sizes_that_differ_rule_a_program_out():
    check = InputCheck(CheckKind.EQUAL, "arg0_1", 0, 1, "9", 1, True, "")
    assert input_names(INPUTS, SIZES, "aoti_cpp", **program(), checks=(check,)) == {}


def test_without_symbols_the_count_makes_names_likely_and_rivals_possible():
    one = program(size="4")
    static = {k: tuple(v) for k, v in one.items()}
    assert told(input_names(INPUTS, (), "aoti_cpp", **static))["arg0_1"] == ("table", Confidence.LIKELY)
    two = program("a", "b", "4")
    both = {k: (*static[k], *two[k]) for k in static}
    name = input_names(INPUTS, (), "aoti_cpp", **both)["arg0_1"]
    assert (name.strength, {name.name, *name.alternatives}) == (Confidence.POSSIBLE, {"table", "a"})


def test_two_programs_that_both_fit_leave_no_name_proven():
    one, two = program(), program("a", "b")
    both = {k: (*one[k], *two[k]) for k in one}
    name = input_names(INPUTS, SIZES, "aoti_cpp", **both)["arg0_1"]
    assert (name.strength, name.alternatives) == (Confidence.LIKELY, ("a",))


def test_the_program_in_the_folder_of_the_wrapper_is_heard_first():
    one, two = program(name="m1/compile.log"), program("a", "b", name="m2/compile.log")
    both = {k: (*one[k], *two[k]) for k in one}
    names = input_names(INPUTS, SIZES, "aoti_cpp", **both, copies=("m2/cache/w.wrapper.cpp",))
    assert names["arg0_1"].name == "a"


def test_a_program_in_another_folder_only_makes_names_likely():
    names = input_names(INPUTS, SIZES, "aoti_cpp", **program(name="m1/compile.log"), copies=("m2/w.cpp",))
    assert told(names)["arg0_1"] == ("table", Confidence.LIKELY)


@pytest.fixture
def trace() -> Source:
    return text_source("", "trace.log", Kind.TORCH_TRACE)


def compiled(trace: Source) -> tuple[tuple[ModelInput, ...], list[Graph]]:
    inputs = (ModelInput(0, "arg0_1", 1, scalar=True), ModelInput(1, "arg1_1", 2), ModelInput(2, "arg2_1", 3))
    texts = (("dynamo_output_graph", DYNAMO), ("aot_inference_graph", AOT))
    sources = [text_source(text, f"trace.log#{n}[0/0]", Kind.GRAPH, trace, "0/0") for n, text in texts]
    return inputs, [g for s in sources for g in graphs_in_text(s)]


def test_torch_compile_joins_the_aot_graph_to_dynamos(trace):
    inputs, graphs = compiled(trace)
    sizes = (Size("s70", 5, "s70 = arg0_1", alias_of="arg0_1"),)
    names = input_names(
        inputs, sizes, "jit_python", graphs=graphs, copies=("trace.log#inductor_output_code[0/0]",)
    )
    assert told(names) == {"arg1_1": ("table", Confidence.PROVEN), "arg2_1": ("my_idx", Confidence.PROVEN)}


def test_a_source_record_undoes_what_dynamo_made_of_a_name(trace):
    inputs, graphs = compiled(trace)
    described = [SourceName("L['my']['idx']", "my['idx']", lambda: Place("trace.log", 3, 3), trace, "0/0")]
    names = input_names(inputs, (), "jit_python", graphs=graphs, source_names=described)
    assert names["arg2_1"].name == "my['idx']"


def test_weights_that_old_aotautograd_put_first_are_stepped_over(trace):
    inputs, graphs = compiled(trace)
    lifted = AOT.replace("arg0_1:", 'arg9_1: "f32[3][1]cpu", arg0_1:')
    graphs[1] = graphs_in_text(text_source(lifted, "t#aot_forward_graph", Kind.GRAPH, trace, "0/0"))[0]
    names = input_names(inputs, (), "jit_python", graphs=graphs)
    assert names["arg1_1"].name == "table"


def test_create_symbol_alone_makes_names_likely_by_symbol_and_dimension(trace):
    symbols = [symbol("s70", "L['table'].size()[0]", trace), symbol("s95", "L['idx'].size()[0]", trace)]
    names = input_names(INPUTS, SIZES, "aoti_cpp", symbols=symbols)
    assert told(names) == {"arg0_1": ("table", Confidence.LIKELY), "arg1_1": ("idx", Confidence.LIKELY)}
    moved = [symbol("s70", "L['table'].size()[1]", trace), symbols[1]]
    assert "arg0_1" not in input_names(INPUTS, SIZES, "aoti_cpp", symbols=moved)


def test_symbols_of_a_run_that_lacks_one_of_the_wrappers_are_not_used(trace):
    assert input_names(INPUTS, SIZES, "aoti_cpp", symbols=[symbol("s70", "L['a'].size()[0]", trace)]) == {}


def test_the_symbol_of_a_shared_dim_names_no_input(trace):
    log = text_source(PROGRAM.format(one="idx", two="src", size="s70"), "trace.log#g", Kind.GRAPH, trace)
    sizes = (SIZES[0],)
    symbols = [symbol("s70", "L['src'].size()[0]", trace)]
    names = input_names(
        INPUTS, sizes, "aoti_cpp", graphs=graphs_in_text(log), symbols=symbols, copies=("trace.log#wrapper",)
    )
    assert told(names) == {"arg0_1": ("idx", Confidence.PROVEN), "arg1_1": ("src", Confidence.PROVEN)}


def test_a_number_as_input_is_named_by_what_it_measures(trace):
    inputs = (ModelInput(0, "arg0_1", 1, scalar=True),)
    sizes = (Size("s70", 5, "s70 = arg0_1", alias_of="arg0_1"),)
    symbols = [symbol("s70", "L['table'].size()[1]", trace, "0/0")]
    assert input_names(inputs, sizes, "jit_python", symbols=symbols)["arg0_1"].name == "table.shape[1]"


def test_the_order_of_description_is_the_last_resort(trace):
    described = [
        SourceName(f"L['{n}']", n, partial(Place, "trace.log", i, i), trace, None)
        for i, n in enumerate(("a", "b"), 1)
    ]
    names = input_names(INPUTS, (), "aoti_cpp", source_names=described)
    assert told(names) == {"arg0_1": ("a", Confidence.LIKELY), "arg1_1": ("b", Confidence.LIKELY)}
    assert input_names(INPUTS, SIZES, "aoti_cpp", source_names=described) == {}


def test_what_a_backward_graph_gets_from_the_forward_graph_is_no_input_of_the_user(trace):
    inputs = (ModelInput(0, "primals_4", 1), ModelInput(1, "le", 2), ModelInput(2, "tangents_1", 3))
    described = [
        SourceName(f"L['{n}']", n, partial(Place, "trace.log", i, i), trace, None)
        for i, n in enumerate(("a", "b", "c"), 1)
    ]
    sizes = (Size("s70", 5, "s70 = le_size[0]", tensor="le", dim=0),)
    symbols = [symbol("s70", "L['a'].size()[0]", trace)]
    assert input_names(inputs, (), "jit_python", source_names=described) == {}
    assert input_names(inputs, sizes, "jit_python", symbols=symbols) == {}


@pytest.mark.corpus
def test_weights_and_inputs_that_a_backward_graph_kept_have_the_forward_graphs_names(corpus_dir):
    seen = 0
    for folder in ("torch24", "torch26", "torch29"):
        for view in aoti_logs.load(corpus_dir / "versions" / folder / "jit_recompile").views():
            names = {k: n.name for k, n in view.names.items()}
            if "tangents_1" in view.inputs:
                seen += 1
                assert "tangents_1" not in names and "le" not in names
                assert names.get("primals_4", "x") == "x"
                assert names.get("primals_1", "l.weight") == "l.weight"
    assert seen > 20


def test_a_size_that_is_an_expression_of_the_symbol_that_was_solved_for_proves_the_names():
    sizes = (
        Size("arg0_1_size_0", 5, "", tensor="arg0_1", dim=0),
        Size("s70", 6, "", value=Op("*", (Num(0.5), Name("arg0_1_size_0")))),
    )
    text = PROGRAM.replace("f32[s70, 8]", "f32[2*s70, 8]")
    for size, strength in (("s70 + 1", Confidence.PROVEN), ("4", Confidence.PROVEN)):
        log = text_source(text.format(one="table", two="idx", size=size), "compile.log")
        names = input_names(
            INPUTS, sizes, "aoti_cpp", graphs=graphs_in_text(log), signatures=signatures_in_text(log)
        )
        assert told(names)["arg0_1"] == ("table", strength)


# ---------------------------------------------------------------- real runs


def expected(corpus: Path) -> dict[Path, list[dict[str, Any]]]:
    """Give (case folder, expected fact about an input) of every recorded out-of-bounds run."""
    seen: dict[Path, list[dict[str, Any]]] = {}
    for group in ("gpu-torch2.11", "cpu-torch2.13", "versions"):
        for line in (corpus / group / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for key in ("bound", "index_from", "index_root"):
                fact = row["expected"].get(key)
                # In the folder of all wrappers a fact is about one of 24: rules tell which.
                if fact and fact.get("input_name") and row["case"] != "aoti":
                    seen.setdefault(corpus / group / row["case"], []).append(fact)
    return seen


@pytest.mark.corpus
def test_every_recorded_run_has_its_inputs_named(corpus_dir):
    wrong = []
    for folder, facts in expected(corpus_dir).items():
        named = names_in(folder)
        for fact in facts:
            fits = [
                n
                for names in named
                for arg, n in names.items()
                if n.name == fact["input_name"] and fact.get("arg") in {None, arg}
            ]
            if not any(n.strength is Confidence.PROVEN for n in fits):
                wrong.append((folder.name, fact, [told(n) for n in named]))
    assert not wrong


def names_in(folder: Path) -> list[dict[str, InputName]]:
    from aoti_logs.code.codebase import CodeBase
    from aoti_logs.parse.sizes.symbol import source_name_from_envelope, symbol_from_envelope
    from aoti_logs.records.trace import TraceIndex, trace_sources
    from aoti_logs.sources.find import find

    sources = list(find([folder]))
    symbols: list[Any] = []
    described: list[Any] = []
    for trace in [TraceIndex(s) for s in sources if s.kind is Kind.TORCH_TRACE]:
        sources += trace_sources(trace)
        read = [
            symbol_from_envelope(r.envelope, r.place, trace.source, r.compile_id)
            for r in trace.find("create_symbol")
        ]
        symbols += [s for s in read if s is not None]
        named = [
            source_name_from_envelope(
                r.envelope, partial(Place, r.place.source, r.line, r.line), trace.source, r.compile_id
            )
            for r in trace.find("describe_source")
        ]
        described += [n for n in named if n is not None]
    texts = [s for s in sources if s.kind in {Kind.GRAPH, Kind.LOG, Kind.JSON}]
    graphs = [g for s in texts for g in graphs_in_text(s)]
    signatures = [g for s in texts for g in signatures_in_text(s)]
    return [
        input_names(
            c.wrapper.inputs, c.wrapper.sizes, c.wrapper.flavour, graphs, signatures, symbols, described,
            copies=c.names, checks=c.wrapper.checks,
        )
        for c in CodeBase(sources).wrappers
        if c.wrapper is not None
    ]  # fmt: skip


def test_asking_the_own_compile_first_gives_what_asking_all_gives(fixtures_dir: Path):
    """The short way to names is no other answer, in a folder that holds every recorded run."""
    evidence = aoti_logs.load(fixtures_dir).evidence
    witnesses = Witnesses(evidence.shelf, evidence.symbols, evidence.source_names)
    wrappers = [c.wrapper for c in evidence.base.wrappers if c.wrapper is not None]
    assert len(wrappers) > 20
    for wrapper in wrappers:
        copies = evidence.copies(wrapper)
        about = WrapperInputs(wrapper.inputs, tuple(wrapper.sizes), tuple(wrapper.checks))
        every = decide(about, wrapper.flavour, (witnesses.everything,), copies)
        assert witnesses.names(wrapper, copies) == every


class Generated:
    """A wrapper of two tensors, in a trace."""

    flavour = "jit_python"
    sizes = checks = ()

    def __init__(self, flavour: str = "jit_python") -> None:
        self.flavour = flavour
        self.inputs = (ModelInput(0, "arg0_1", 1), ModelInput(1, "arg1_1", 2))


def witnesses_in(trace: Source, *told: tuple[str, str | None, str | None]) -> Witnesses:
    """Return a graph for each (its text, compile id, compile) of a trace."""
    texts = [
        Source(f"trace.log#graph.{n}", Kind.GRAPH, text.encode, parent=trace, parent_lines=range(10 * n + 1, 10 * n + 9),
               compile_id=compile_id, compile_=compiled)
        for n, (text, compile_id, compiled) in enumerate(told)
    ]  # fmt: skip
    return Witnesses(GraphShelf(texts), (), ())


def own_names(one: str, two: str) -> str:
    return f'class M(torch.nn.Module):\n    def forward(self, {one}: "f32[8]", {two}: "f32[8]"):\n        return ()\n'


def test_an_aotinductor_wrapper_is_named_by_its_own_compile_and_not_by_another_in_the_trace():
    trace = text_source("", "trace.log", Kind.TORCH_TRACE)
    witnesses = witnesses_in(
        trace, (own_names("table", "idx"), None, "aoti/0"), (own_names("x", "y"), None, "aoti/1")
    )
    wrapper = cast("Any", Generated("aoti_cpp"))
    for number, expected in enumerate((["table", "idx"], ["x", "y"])):
        names = witnesses.names(wrapper, (f"trace.log#graph_dump inductor_aot_wrapper_code[aoti/{number}]",))
        assert [n.name for n in names.values()] == expected
        assert all(n.alternatives == () for n in names.values())
        assert {n.place.line for n in names.values()} == {10 * number + 2}


def test_what_is_recorded_outside_of_all_aotinductor_compiles_may_name_the_inputs_of_any():
    trace = text_source("", "trace.log", Kind.TORCH_TRACE)
    witnesses = witnesses_in(
        trace, (own_names("table", "idx"), None, None), (own_names("x", "y"), None, "aoti/1")
    )
    names = witnesses.names(cast("Any", Generated("aoti_cpp")), ("trace.log#wrapper[aoti/0]",))
    assert [n.name for n in names.values()] == ["table", "idx"]


@pytest.mark.parametrize(("other", "named"), [("0/1", True), ("7/1", False)])
def test_of_a_traces_compiles_only_those_of_the_same_frame_are_asked_about_another(other, named):
    trace = text_source("", "trace.log", Kind.TORCH_TRACE)
    aot = 'class <lambda>(torch.nn.Module):\n    def forward(self, arg0_1: "f32[8]", arg1_1: "f32[8]"):\n        return ()\n'
    dynamo = own_names("L_table_", "L_idx_")
    witnesses = witnesses_in(trace, (aot, "0/0", "0/0"), (aot, other, other), (dynamo, other, other))
    names = witnesses.names(cast("Any", Generated()), ("trace.log#output_code[0/0]",))
    assert [n.name for n in names.values()] == (["table", "idx"] if named else [])

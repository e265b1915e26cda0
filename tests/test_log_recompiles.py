"""Recompiles that a log tells, in the styles and versions in which torch prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.guards.logged_recompile import read_recompiles, recompiles_in
from tests.log_text import assert_partition, read

# torch 2.4.1, 2.6.0 and 2.13 (recorded), 2.3 with recompiles_verbose (pytorch#113585), 2.2.dev (pytorch#110928)
TORCH_24 = """\
V1129 13:44:30.049000 140616524458880 torch/_dynamo/guards.py:2611] [0/2] [__recompiles] Recompiling function forward in /srv/demo/torch24/scenarios.py:288
V1129 13:44:30.049000 140616524458880 torch/_dynamo/guards.py:2611] [0/2] [__recompiles]     triggered by the following guard failure(s):
V1129 13:44:30.049000 140616524458880 torch/_dynamo/guards.py:2611] [0/2] [__recompiles]     - L['n'] == 1
V1129 13:44:30.049000 140616524458880 torch/_dynamo/guards.py:2611] [0/2] [__recompiles]     - tensor 'L['x']' size mismatch at index 0. expected 4, actual 5
"""
SHORT = """\
DEBUG:torch._dynamo.guards.__recompiles:Recompiling function forward in /srv/demo/torch26/scenarios.py:288
    triggered by the following guard failure(s):
    - 0/1: L['n'] == 1
    - 0/0: tensor 'L['x']' size mismatch at index 0. expected 4, actual 5
"""
TORCH_213 = """\
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles] Recompiling function forward in /srv/demo/torch_logs_gen/gen_logs.py:24
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     triggered by the following guard failure(s):
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     - 0/1: n == 1
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     - User stack trace:
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     -   File "/srv/demo/torch_logs_gen/gen_logs.py", line 25, in forward
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     -     return (self.l(x) * n * self.k + d["a"]).relu()
V1129 12:26:23.140000 16279 torch/_dynamo/guards.py:5396] [0/2] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5
"""
BRACKET = """\
[2023-11-15 16:13:26,741] torch._dynamo.guards.__recompiles_verbose: [DEBUG] Recompiling function fn in /srv/demo/playground5.py:15
[2023-11-15 16:13:26,741] torch._dynamo.guards.__recompiles_verbose: [DEBUG]     triggered by the following guard failure(s):
[2023-11-15 16:13:26,741] torch._dynamo.guards.__recompiles_verbose: [DEBUG]     guard 0 failures:
[2023-11-15 16:13:26,741] torch._dynamo.guards.__recompiles_verbose: [DEBUG]     - len(L['x']) == 3
[2023-11-15 16:13:26,741] torch._dynamo.guards.__recompiles_verbose: [DEBUG]     - L['x'][0] == 4
"""
TUPLE = """\
[2023-10-10 01:56:07,749] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling function fn in /srv/demo/test_misc.py:1354', "triggered by the following guard failure: L['a'] == 0")
"""


def told(text):
    (found,) = recompiles_in(read(text).messages)
    return found, [(r.cached_compile_id, r.what, r.tensor or r.subject) for r in found.recompile.reasons]


def test_torch_24_has_a_reason_a_line_without_compile_id():
    found, reasons = told(TORCH_24)
    assert reasons == [(None, "int_equality", "L['n']"), (None, "size", "L['x']")]
    assert [found.line_of(n) for n in range(2)] == [3, 4]


def test_the_short_style_has_its_prefix_once():
    found, reasons = told(SHORT)
    assert (found.recompile.function, found.recompile.line) == ("forward", 288)
    assert reasons == [("0/1", "int_equality", "L['n']"), ("0/0", "size", "L['x']")]


def test_what_is_printed_below_a_short_message_is_no_reason():
    _, reasons = told(SHORT + "- 0/7: a line of the program's own\n")
    assert len(reasons) == 2


def test_lines_of_the_users_stack_belong_to_their_reason():
    found, reasons = told(TORCH_213)
    assert [len(r.user_stack) for r in found.recompile.reasons] == [1, 0]
    assert [r[0] for r in reasons] == ["0/1", "0/0"]


def test_several_guards_of_one_compile_are_one_reason():
    found, reasons = told(BRACKET)
    assert reasons == [(None, "length", "L['x']")]
    assert found.recompile.reasons[0].text == "len(L['x']) == 3; L['x'][0] == 4"


def test_a_tuple_of_both_lines_is_read():
    found, reasons = told(TUPLE)
    assert (found.recompile.file, found.recompile.line) == ("/srv/demo/test_misc.py", 1354)
    assert reasons == [(None, "int_equality", "L['a']")]


def test_a_message_that_another_process_interrupts_is_one():
    lines = TORCH_213.splitlines(keepends=True)
    other = TORCH_24.splitlines(keepends=True)
    mixed = "".join([*lines[:3], other[0], *lines[3:6], *other[1:], *lines[6:]])
    found = recompiles_in(read(mixed).messages)
    assert [len(f.recompile.reasons) for f in found] == [2, 2]


@pytest.mark.parametrize("text", [TORCH_24, SHORT, TORCH_213, BRACKET, TUPLE])
@given(data=st.data())
def test_damage_never_raises_and_loses_no_byte(text, data):
    at = data.draw(st.integers(0, len(text)))
    more = data.draw(st.text(max_size=20))
    events = read(damaged := text[:at] + more + text[at + data.draw(st.integers(0, 40)) :])
    recompiles_in(events.messages)
    assert_partition(events, len(damaged.encode()))


@given(st.text(max_size=200))
def test_any_text_below_a_head_is_taken(text):
    read_recompiles(f"Recompiling function f in a.py:3\n{text}")


LIMIT = """\
W0519 00:03:34.719000 721278 site-packages/torch/_dynamo/convert_frame.py:1986] [0/15]    last reason: 0/7: n == 1
W0519 00:03:34.719000 721278 site-packages/torch/_dynamo/convert_frame.py:1986] [0/15] To log all recompilation reasons, use TORCH_LOGS="recompiles".
W0519 00:03:34.723000 721278 site-packages/torch/_dynamo/convert_frame.py:1986] [0/16] torch._dynamo hit config.recompile_limit (8)
W0519 00:03:34.723000 721278 site-packages/torch/_dynamo/convert_frame.py:1986] [0/16]    function: 'foo' (/srv/demo/repro.py:7)
"""


def explained(tmp_path, text):
    (tmp_path / "run.log").write_text(text)
    return list(aoti_logs.load(tmp_path / "run.log").explain())


def test_warnings_about_one_function_are_one_finding(tmp_path):
    (finding,) = [f for f in explained(tmp_path, LIMIT) if f.kind == "recompile_limit"]
    assert (finding.facts["function"], finding.facts["limit"]) == ("foo", 8)
    assert [e["compile_id"] for e in finding.facts["events"]] == ["0/15", "0/16"]
    assert [link.place.line for link in finding.chain] == [3, 1]


def test_a_limit_on_one_line_behind_other_output_groups_its_reasons(tmp_path):
    text = (
        "cuda eval  model    WARNING:torchdynamo.convert_frame:torchdynamo hit recompilation cache limit (64) for function "
        "'forward' (/srv/demo/model.py:381), due to the following guard failures: [['len(rows) == 0'], ['len(rows) == 1']]\n"
    )
    (finding,) = [f for f in explained(tmp_path, text) if f.kind == "recompile_limit"]
    assert [(c["kind"], c["n_reasons"]) for c in finding.facts["changed"]] == [("length", 2)]


def test_a_log_and_a_trace_of_one_run_tell_of_one_recompile(tmp_path, fixtures_dir):
    run = aoti_logs.load(
        [fixtures_dir / "cpu_log_sizes" / "run.log", fixtures_dir / "cpu_log_sizes" / "trace"]
    )
    assert len([f for f in run.explain() if f.kind == "recompile"]) == 1

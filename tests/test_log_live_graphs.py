"""A program that is run here, with the installed torch: what its log tells is what its trace tells."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import aoti_logs

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PROGRAM = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        print("step")
        if y.sum() > 0:
            y = y + 1
        torch._dynamo.graph_break()
        return torch.relu(y)


model = torch.compile(Model(), backend="aot_eager")
for rows in (4, 5):
    model(torch.randn(rows, 8)).sum().backward()
"""
FORMATS = ("", "short", "%(asctime)s %(levelname)-8s [%(name)s] %(message)s")
STAGES = ("dynamo_output_graph", "aot_joint_graph", "aot_forward_graph", "aot_backward_graph")


@pytest.fixture(scope="module", params=FORMATS)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("torch")
    folder: Path = tmp_path_factory.mktemp("live")
    (folder / "program.py").write_text(PROGRAM)
    settings = {
        "TORCH_TRACE": str(folder / "trace"),
        "TORCH_LOGS": "graph_breaks,graph_code,aot_graphs,aot_joint_graph,dynamo",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    if request.param:
        settings["TORCH_LOGS_FORMAT"] = request.param
    with (folder / "run.log").open("wb") as log:
        subprocess.run(
            [sys.executable, "program.py"],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=True,
        )
    return aoti_logs.load(folder / "run.log"), aoti_logs.load(folder / "trace"), request.param


def test_graph_breaks_of_log_and_trace_are_equal(runs):
    logged, traced, form = runs
    columns = ["file", "user_line", "kind", "gb_id", "explanation", "hints", "url"]
    columns += [] if form else ["compile_id"]  # other formats have none
    assert logged.graph_breaks.select(columns).rows() == traced.graph_breaks.select(columns).rows()
    assert logged.graph_breaks.height


@pytest.mark.parametrize("stage", STAGES)
def test_graphs_of_log_and_trace_are_equal(stage, runs):
    logged, traced, _ = runs
    columns = ["inputs", "annotations", "n_nodes"]
    one, other = (
        r.graphs.filter(r.graphs["stage"] == stage).select(columns).to_dicts() for r in (logged, traced)
    )
    assert one == other
    assert one


def test_no_line_that_torch_logged_stays_free_text(runs):
    logged, _, form = runs
    ((_, events),) = logged.logs()
    free = {line for row in events.unparsed for line in row.span.text.split("\n") if line.strip()}
    assert free <= {"step"}
    assert {m.style for m in events.messages} == {
        {"": "default", "short": "short"}.get(form, form.replace("-8", ""))
    }

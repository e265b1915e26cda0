"""AL216, AL218, AL210: names that this torch has no more, libraries that lack a function, kernels for another GPU."""

from pathlib import Path

import pytest

import aoti_logs

CALLED = 'Traceback (most recent call last):\n  File "/srv/demo/serve.py", line 9, in <module>\n    print(model(x))\n'


@pytest.fixture
def cause(tmp_path: Path):
    def explain(text: str) -> aoti_logs.Finding:
        (tmp_path / "run.log").write_text(CALLED + text + "\n")
        (found,) = [f for f in aoti_logs.load(tmp_path / "run.log").explain().findings if f.role == "cause"]
        return found

    return explain


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (
            "ImportError: cannot import name 'capture_pre_autograd_graph' from 'torch._export' (/opt/venv/torch/_export/__init__.py)",
            "torch.export.export(model, args).module()",
        ),
        (
            "AttributeError: torch._inductor.config.allow_stack_allocation does not exist",
            "torch._inductor.config.aot_inductor.allow_stack_allocation",
        ),
        ("AttributeError: torch._inductor.config.abi_compatible does not exist", None),
        (
            "RuntimeError: Unexpected optimization option abi_compatible, known options are ['TYPE_CHECKING']",
            None,
        ),
    ],
)
def test_a_name_that_is_gone_is_told_with_what_took_its_place(text, instead, cause):
    found = cause(text)
    assert (found.rule, found.facts.get("replacement")) == ("AL218", instead)


def test_the_releases_that_have_a_config_value_are_told(cause):
    assert (
        "releases 2.4 to 2.5 have it"
        in cause("AttributeError: torch._inductor.config.abi_compatible does not exist").title
    )


def test_a_name_that_nothing_is_known_of_is_no_entry_point_that_left(cause):
    assert cause("ImportError: cannot import name 'foo' from 'torch._export' (/opt/x.py)").rule == "AL001"
    assert cause("AttributeError: module 'numpy' has no attribute 'bool'").rule != "AL218"


@pytest.mark.parametrize(
    "reason",
    [
        "no kernel image is available for execution on the device",
        "invalid device function",
        "device kernel image is invalid",
    ],
)
def test_a_kernel_for_another_gpu_lists_whose_it_may_be(reason, cause):
    """torch prints it with its own hint about asynchronous errors (c10/cuda/CUDAException.cpp)."""
    found = cause(
        f"torch.AcceleratorError: CUDA error: {reason}\nCUDA kernel errors might be asynchronously reported at some other API call"
    )
    assert (found.rule, found.facts["reason"]) == ("AL216", reason)
    assert sum(b.startswith("possible: ") for b in found.verdicts[0].because) == 2


@pytest.mark.parametrize(
    "text",
    [
        "No free_inactive_constant_buffer in .so! Consider rebuild your model with the latest AOTInductor.",
        "No update_constant_buffer_from_cpu in .so! Consider rebuild your model with the latest AOTInductor.",
        "No AOTInductorModelContainerRunSingleThreaded function in .so! To use AOTInductor-compiled model in the single-threaded mode,consider rebuild",
    ],
)
def test_a_library_without_a_function_that_the_runner_asks_for_is_an_older_one(text, cause):
    """The texts are those of libtorch_cpu 2.13 (model_container_runner.cpp)."""
    found = cause(f"RuntimeError: {text}")
    assert (found.rule, found.confidence) == ("AL210", "likely")
    assert "an older torch made it" in found.title


@pytest.mark.corpus
def test_the_entry_point_that_left_in_2_9_is_told_from_its_own_log(corpus_dir):
    log = corpus_dir / "versions" / "torch29" / "fail_deprecated" / "run_capture.log"
    assert [f.rule for f in aoti_logs.load(log).explain() if f.role == "cause"] == ["AL218"]

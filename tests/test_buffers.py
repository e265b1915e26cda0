"""Buffers of compiled models: who wrote them, what reaches them, how long they live. Wrappers that torch 2.13 printed."""

import re
from functools import lru_cache
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.code.view import ModelView

MODELS = Path(__file__).parent / "buffers"
FLAVOURS = ("aoti", "jit")


@lru_cache(maxsize=2)
def models(flavour: str) -> dict[str, ModelView]:
    """The recorded models (`fixtures/record/buffer_models.py`) by name."""
    run = aoti_logs.load(MODELS / f"{flavour}.zip")
    return {re.split(r"[!/]", view.wrapper.source.name)[-2]: view for view in run.models}


def model(name: str) -> ModelView:
    """The wrapper of one of them: `views_aoti`."""
    name, _, flavour = name.rpartition("_")
    return models(flavour)[name]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_read_through_a_view_sees_only_the_writer_of_that_part(flavour):
    """`torch.cat`: three launches write into parts of one buffer; one part is read again."""
    view = model(f"cat_{flavour}")
    index, (part, *_) = next(
        (k.index, [a.name for a in k.arguments if a.name])
        for k in view.wrapper.launches
        if "cumsum" in k.kernel
    )
    found = view.last_writer(part, index)
    assert found.certain and len(found.writers) == 1 and found.writers[0].name == part
    whole = next(b.name for b in view.wrapper.buffers if b.shape and b.shape[0].startswith("24"))
    assert len(view.last_writer(whole, index).writers) == 3


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_kernel_in_place_reads_what_was_written_under_the_older_name(flavour):
    view = model(f"views_{flavour}")
    found = view.last_writer("buf7", len(view.wrapper.calls) - 1)
    assert (found.reused, found.launch, found.writers[0].name) == ("buf0", 0, "buf0")
    assert view.last_writer("buf7").reused is None
    life = view.buffer("buf7")
    assert life is not None and life.reuses == ("buf0",) and life.returned_as == (1,)
    old = view.buffer("buf0")
    assert old is not None and old.reused_by == ("buf7",) and old.size == 256
    assert all(use.name == "buf0" for use in old.uses)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_store_to_a_slice_keeps_the_earlier_writer(flavour):
    view = model(f"mutate_{flavour}")
    found = view.last_writer("buf0", 3)
    assert [(w.launch, w.all) for w in found.writers] == [(2, False), (0, True)]
    assert found.certain and found.launch == 2


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_result_of_a_condition_has_a_writer_in_each_branch_and_none_is_certain(flavour):
    view = model(f"cond_{flavour}")
    last = len(view.wrapper.calls) - 1
    read = [a.name or "" for a in view.wrapper.launch(last).arguments if (a.param or "").startswith("in_")]
    for name in read:
        found = view.last_writer(name, last)
        assert len(found.writers) == 2 and not found.certain and found.launch is None
        assert not found.unwritten and not found.unknown


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_in_a_loop_a_later_launch_may_have_written_before(flavour):
    view = model(f"while_{flavour}")
    index, name = next(
        (k.index, k.arguments[1].name or "") for k in view.wrapper.launches if k.within and "mm" in k.kernel
    )
    found = view.last_writer(name, index)
    assert any(w.launch > index for w in found.writers) and found.given and not found.certain


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_an_input_that_a_scatter_changed_may_still_have_its_own_elements(flavour):
    view = model(f"inplace_{flavour}")
    index = next(k.index for k in view.wrapper.launches if "sort" in k.kernel)
    name = next(a.name or "" for a in view.wrapper.launch(index).arguments if a.kind == "input")
    found = view.last_writer(name, index)
    assert found.certain and found.launch == 0 and found.given == (name,) and found.writers[0].all is False


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_inputs_are_told_apart_by_how_they_reach_an_output(flavour):
    view = model(f"inplace_{flavour}")
    reached = {r.name: r for r in view.inputs_reaching(view.wrapper.outputs[1]).inputs}
    kinds = {name: [str(role) for role in r.roles] for name, r in reached.items()}
    assert sorted(kinds.values()) == [["index"], ["value"], ["value"]]
    assert all(r.certain and r.launches for r in reached.values())


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_results_of_one_call_are_tensors_of_their_own(flavour):
    view = model(f"inplace_{flavour}")
    sort = next(k.index for k in view.wrapper.launches if "sort" in k.kernel)
    assert view.last_writer(view.wrapper.outputs[1]).launch == sort


def test_a_name_that_nothing_gives_a_tensor_to_is_said_to_be_unknown():
    view = model("views_jit")
    found = view.last_writer("buf99")
    assert (found.writers, found.certain, bool(found.unknown)) == ((), False, True)
    assert not view.inputs_reaching("buf99").complete
    assert view.buffer("buf99") is None


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_behind_an_operator_that_may_write_nobody_is_certain(flavour):
    view = model(f"custom_{flavour}")
    kernel = next(k for k in view.wrapper.launches if "relu" in k.kernel)
    name = next(a.name for a in kernel.arguments if a.name and (a.param or "").startswith("in_"))
    assert [w.launch for w in view.last_writer(name, kernel.index).writers] == [1, 0]
    assert view.producer(name, kernel.index) is None
    assert len(view.roots(name, kernel.index)) == 3


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_weight_named_like_a_size_symbol_reaches_the_output(flavour):
    view = model(f"named_{flavour}")
    found = view.inputs_reaching(view.wrapper.outputs[0])
    assert found.complete and not found.sizes
    weight = "s1" if flavour == "aoti" else "arg0_1"
    assert weight in found.values and len(found.values) == 2


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_an_element_read_as_a_number_reaches_what_it_is_a_factor_of(flavour):
    view = model(f"item_{flavour}")
    found = view.inputs_reaching(view.wrapper.outputs[0])
    assert len(found.values) == 2 and all(r.certain for r in found.inputs)

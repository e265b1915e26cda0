"""Who wrote a buffer, in wrappers of thousands of launches."""

import re
import zipfile
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import aoti_logs
from aoti_logs.code.model import Argument, ArgumentKind, Backend, Buffer, Call, Launch, ModelInput
from aoti_logs.code.view import ModelView
from aoti_logs.code.wrapper.mentions import Mentions


class Chain:
    """Each buffer is made from the one before; every tenth is a new name of the memory of the one before."""

    constants = checks = sizes = kernel_files = outputs = releases = ()
    arrays: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 -- nothing is put in

    def __init__(self, length: int) -> None:
        self.asked = 0
        self.inputs = (ModelInput(0, "arg0_1", 1),)
        made = [f"buf{n}" for n in range(length)]
        self._buffers = tuple(
            Buffer(name, n, alias_of=f"buf{n - 1}" if n % 10 == 9 else None, at=n + 1)
            for n, name in enumerate(made)
        )
        self.calls = [Call("aten.relu", checked=True)] * length
        read = ["arg0_1", *made]
        self.launches = tuple(
            Launch(
                n, "aten.relu", Backend.EXTERN, n, "", (Argument(0, None, before, kind(before), before),),
                outputs=(made[n],),
            )
            for n, before in enumerate(read[:-1])
            if n % 10 != 9
        )  # fmt: skip

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        self.asked += 1
        return self._buffers

    def launch(self, index: int) -> Launch:
        return next(launch for launch in self.launches if launch.index == index)

    def mentioning(self, names: Collection[str]) -> list[int]:
        return [k.index for k in self.launches if {*k.outputs, *(a.name for a in k.arguments)} & set(names)]


def kind(name: str) -> ArgumentKind:
    return ArgumentKind.INPUT if name.startswith("arg") else ArgumentKind.BUFFER


def test_a_chain_leads_to_the_input_and_the_buffers_are_gone_through_once():
    chain = Chain(400)
    view = ModelView(cast("Any", chain), cast("Any", SimpleNamespace(kernel_files=())), {})
    assert [t.name or t.arg for t in view.roots("buf399", 400)] == ["arg0_1"]
    assert chain.asked < 10


def test_a_new_name_of_memory_was_written_under_the_old_one():
    view = ModelView(cast("Any", Chain(20)), cast("Any", SimpleNamespace(kernel_files=())), {})
    launch = view.producer("buf9", 20)
    assert launch is not None
    assert launch.outputs == ("buf8",)
    assert view.producer("buf8", 8) is None
    assert view.named("buf9").kind is ArgumentKind.BUFFER


def test_a_call_that_passes_a_buffer_on_under_other_names_mentions_it():
    calls = [("f(buf1, buf0)",), ("g(var_1)",), ("h(buf10)",), ("k()", "buf0")]
    mentions = Mentions(calls, {"var_0": "get_data_ptr_wrapper(buf0)", "var_1": "wrap(var_0)"})
    assert mentions.of({"buf0"}) == [0, 1, 3]
    assert mentions.of({"buf2"}) == []


def test_every_call_mentions_what_it_reads_and_writes(fixtures_dir: Path):
    """Who wrote a buffer is looked for among those calls only."""
    seen = 0
    for view in aoti_logs.load(fixtures_dir).views():
        wrapper = view.wrapper
        assert tuple(wrapper.launch(n) for n in range(len(wrapper.calls))) == wrapper.launches
        for launch in wrapper.launches:
            for name in {*view.written_by(launch), *(a.name for a in launch.arguments if a.name)}:
                assert launch.index in wrapper.mentioning({name})
                seen += 1
    assert seen > 100


def test_a_kernel_file_of_another_model_gives_no_body(tmp_path: Path):
    """Two recorded models have a kernel `cpp_fused_0` of their own; without its own file a wrapper knows no body."""
    with zipfile.ZipFile(Path(__file__).parent / "buffers" / "aoti.zip") as packed:
        texts = {n.split("/")[0] + n[n.index(".") :]: packed.read(n).decode() for n in packed.namelist()}
    one, other = "views", "mutate"
    for model in (one, other):
        (tmp_path / model).mkdir()
        wrapper = re.sub(r"\bcpp_fused_(?!_)\w+?_(\d)\b", r"cpp_fused_\1", texts[f"{model}.wrapper.cpp"])
        (tmp_path / model / "a.wrapper.cpp").write_text(
            re.sub(r"\n// (?:Compile|Link) cmd[^\0]*", "", wrapper)
        )
    kernels = re.sub(r"\bcpp_fused_(?!_)\w+?_(\d)\b", r"cpp_fused_\1", texts[f"{other}.kernel.cpp"])
    (tmp_path / other / "a.kernel.cpp").write_text(kernels)
    views = {v.wrapper.source.name.split("/")[0]: v for v in aoti_logs.load(tmp_path).views()}
    names = set(views[one].wrapper.kernel_names) & set(views[other].wrapper.kernel_names)
    assert names
    for name in names:
        own = views[other].definition(name)
        assert own is not None and own.source.name.startswith(other)
        declared = views[one].definition(name)
        assert declared is None or declared.source is views[one].wrapper.source

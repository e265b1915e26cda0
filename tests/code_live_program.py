"""Write the code of the models of `fixtures/record/code_models.py` without building it, with what Inductor knows of it.

`python code_live_program.py aoti|compile OUT [MODEL...]`, run by `test_code_live.py` with a Python that holds torch. `OUT/MODEL/`
gets the text of the wrapper, `graph_0.json` of `inductor_truth.py`, and `names.json` with the module's own names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

RECORD = Path(__file__).resolve().parent.parent / "fixtures" / "record"
sys.path.insert(0, str(RECORD))

import inductor_truth  # noqa: E402 -- found only after the line above
from code_models import MODELS  # noqa: E402 -- as above


class StopError(Exception):
    """The code is written; nothing needs to be built."""


def stop(*args, **kwargs):
    raise StopError


def names(made) -> dict:
    """The user's names of the inputs and the weights."""
    import inspect

    weights = {**dict(made.module.named_parameters()), **dict(made.module.named_buffers())}
    return {
        "inputs": list(inspect.signature(made.module.forward).parameters),
        "weights": {name: [str(t.dtype), list(t.shape)] for name, t in weights.items()},
    }


def main(way: str, out: Path, chosen: list[str]) -> None:
    from torch._inductor import codecache

    codecache.PyCodeCache.load_by_key_path = stop
    inductor_truth.watch(out)
    for name in chosen or MODELS:
        torch.manual_seed(0)
        torch._dynamo.reset()
        made = MODELS[name]("cpu")
        module = made.module.requires_grad_(False)
        target = out / name
        inductor_truth.WHERE[:] = [target]
        target.mkdir(parents=True, exist_ok=True)
        (target / "names.json").write_text(json.dumps(names(made)))
        try:
            with torch.no_grad():
                if way == "compile":
                    torch.compile(module, fullgraph=True, options=made.settings or None)(*made.args)
                else:
                    program = torch.export.export(
                        module, made.args, dynamic_shapes=made.dynamic, strict=False
                    )
                    (target / "program.txt").write_text(str(program))
                    settings = made.settings | {"aot_inductor.package_cpp_only": True}
                    torch._inductor.aoti_compile_and_package(
                        program, package_path=str(target / "model.pt2"), inductor_configs=settings
                    )
        except Exception as error:
            if not list(target.glob("*.wrapper")):
                (target / "failed.txt").write_text(repr(error))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])

"""Results that differ from those of eager, and nothing crashed: are the inputs read as they are meant, is it rounding, is it a bug?"""

from __future__ import annotations

from dataclasses import replace

from aoti_logs.ladder import Outcome
from aoti_logs.plan.common import MINIFY, check, values
from aoti_logs.plan.nans import ROUND, SAVE

_LEVEL = {"AOTINDUCTOR_REPRO_LEVEL": "4", "TORCHDYNAMO_REPRO_LEVEL": "4"}

RUNGS = (
    *check(
        (
            Outcome("an input is refused", "the code reads another dtype, size or stride than it is given", ("AL201",)),
            Outcome("no complaint, and the same numbers", "inputs are of the promised kind", (), ("AL201",)),
        )
    ),
    ROUND,
    *values(
        (
            Outcome("an input has another dtype, size or stride than the code is for", "it is misread", ("AL201",)),
            Outcome("inputs are right, and a tensor after a launch is not what eager has there", "that launch, or its inputs"),
        )
    ),
    replace(
        SAVE,
        tells="every tensor that eager's can be compared with, element by element: .pt files for torch.load(weights_only=True)",
    ),
    *(
        replace(
            rung,
            env=tuple((k, _LEVEL.get(k, v)) for k, v in rung.env),
            when=rung.when.replace("level 3 always writes a launcher", "level 4 writes a launcher when results differ from eager's"),
        )
        for rung in MINIFY
    ),
)  # fmt: skip

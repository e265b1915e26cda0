"""The sample lines in the grammars of log text are read by the rule that they name."""

import re

import pytest

from aoti_logs._grammar import grammar_folder
from aoti_logs.parse.shape import fields, mask

GRAMMARS = (
    "assertion",
    "frame",
    "traceback",
    "error",
    "printer",
    "torch_logs",
    "note",
    "sanitizer",
    "device_fault",
    "device_exception",
    "out_of_memory",
    "collective",
    "kernel_log",
    "dsa",
)
SAMPLES = [
    (name, rule, text)
    for name in GRAMMARS
    for rule, text in re.findall(
        r"^// sample: (\w+): (.*)$", (grammar_folder() / f"{name}.lark").read_text(), re.M
    )
]


@pytest.mark.parametrize(("grammar", "rule", "text"), SAMPLES)
def test_sample_is_read(grammar, rule, text):
    assert fields(grammar, rule, text) is not None


@pytest.mark.parametrize(("grammar", "rule", "text"), SAMPLES)
def test_shape_of_a_sample_has_the_same_parts_in_the_same_places(grammar, rule, text):
    kinds = {
        kind: [len(part) for part in parts] for kind, parts in (fields(grammar, rule, text) or {}).items()
    }
    masked = {
        kind: [len(part) for part in parts]
        for kind, parts in (fields(grammar, rule, mask(text)) or {}).items()
    }
    assert kinds == masked

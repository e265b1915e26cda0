"""Nothing is said of a recorded run that its known truth forbids.

`corpus_truths.jsonl` is the list, read from the notes of the corpus's case files.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Confidence, Explanation

ORDER = [str(c) for c in Confidence]


@dataclass(frozen=True)
class Truth:
    """What is known of a run.

    `case` names it as the case file of `corpus` does. `must_not` says in words what its truth forbids. `never`: no
    line of the screen may match. `causes`: the kinds that a cause may have (None: any; empty: nothing failed).
    `at_most`: no cause is surer. `says`: the screen must match.
    """

    corpus: str
    case: str
    must_not: str
    never: str | None = None
    causes: list[str] | None = None
    at_most: str = "proven"
    says: str | None = None


TRUTHS = [
    Truth(**json.loads(line))
    for line in (Path(__file__).parent / "corpus_truths.jsonl").read_text().splitlines()
]

pytestmark = pytest.mark.corpus


@cache
def cases(file: Path) -> dict[str, list[dict[str, str]]]:
    """Read a case file: a case may stand there more than once, as a log of several failures."""
    found: dict[str, list[dict[str, str]]] = {}
    for line in file.read_text().splitlines():
        case = json.loads(line)
        found.setdefault(case.get("id") or f"{case['case']}/{case['log']}", []).append(case)
    return found


def explanations(corpus_dir: Path, truth: Truth) -> list[Explanation]:
    """Explain a case with the folder that belongs to it."""
    base = corpus_dir / truth.corpus
    found = []
    for case in cases(base / "cases.jsonl")[truth.case]:
        if "case" in case:
            run = aoti_logs.load(base / case["case"] / case["log"], context=base / case["case"])
        else:
            run = aoti_logs.load(base / case["file"])
        found.append(run.explain())
    return found


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda t: f"{t.corpus}-{t.case}")
def test_nothing_is_said_that_the_truth_forbids(truth: Truth, corpus_dir: Path):
    for answer in explanations(corpus_dir, truth):
        causes = [f for f in answer if f.role == "cause"]
        if truth.causes is not None:
            assert {f.kind for f in causes} <= set(truth.causes), truth.must_not
        for cause in causes:
            assert ORDER.index(cause.confidence) >= ORDER.index(truth.at_most), truth.must_not
        text = str(answer)
        if truth.never is not None:
            assert re.search(truth.never, text, re.M) is None, truth.must_not
        if truth.says is not None:
            assert re.search(truth.says, text) is not None, truth.must_not

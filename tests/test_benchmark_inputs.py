"""A speed measured on a wrong input is no speed: the made inputs are what they say."""

import hashlib
import json
import re

from benchmarks.make_inputs import CONDITIONS, make_storm, make_trace, make_wrapper, records


def test_payloads_of_a_made_trace_have_true_checksums_and_differ_from_copy_to_copy(tmp_path):
    make_trace(tmp_path / "once.log", 1)
    make_trace(tmp_path / "more.log", 10)
    once, more = payloads(tmp_path / "once.log"), payloads(tmp_path / "more.log")
    assert more[: len(once)] == once
    # A recording repeats some of its own payloads, so as many as in the recordings may be the same.
    assert len(set(more)) / len(more) > len(set(once)) / len(once) - 0.1


def payloads(path):
    """Return the checksums of all payloads, each compared with what its record says."""
    found = []
    for head, payload in records(path.read_bytes()):
        envelope = json.loads(head[head.index(b"] {") + 2 :])
        if "has_payload" in envelope:
            found.append(hashlib.md5(b"\n".join(payload), usedforsecurity=False).hexdigest())
            assert found[-1] == envelope["has_payload"]
    return found


def test_storm_has_the_asked_number_of_assertions_of_three_conditions(tmp_path):
    make_storm(tmp_path / "storm.log", 3000)
    found = re.findall(r"Assertion `index out of bounds: (.*)` failed", (tmp_path / "storm.log").read_text())
    assert len(found) == 3000
    assert set(found) == {condition for _, _, condition in CONDITIONS}


def test_made_wrapper_checks_another_condition_in_every_kernel(tmp_path):
    name = make_wrapper(tmp_path / "big.wrapper.cpp", 50)
    text = (tmp_path / "big.wrapper.cpp").read_text()
    kernels = re.findall(rf"^static inline void call_({name}\d*)\($", text, re.M)
    assert len(set(kernels)) == len(kernels) == 50
    for kernel in kernels:
        assert len(re.findall(rf"^ +call_{kernel}\(", text, re.M)) == 1
    own = re.findall(r'"index out of bounds: 0 <= (tmp\d+) < ks0"', text)
    assert len(set(own)) == len(own)

"""What a failed index says besides its chain: a call that narrows the index, and the cache that its text names."""

from pathlib import Path

import pytest

import aoti_logs

_FIXTURES = Path(__file__).parent.parent / "fixtures"
_CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "cpu-torch2.13" / "aoti"


def _cause(run):
    return next(f for f in run.explain().findings if f.role == "cause")


def test_a_check_without_its_kernel_names_the_cache_that_its_file_was_in():
    finding = _cause(aoti_logs.load(_FIXTURES / "gpu_empty_events" / "run.log"))
    assert finding.rule == "AL100"
    assert finding.experiments[0].command == (
        "aoti-logs explain <this log> --context /srv/demo/gpu_empty_events/cache"
    )


def test_a_check_whose_kernel_is_at_hand_names_no_cache():
    finding = _cause(aoti_logs.load(_FIXTURES / "gpu_empty_events"))
    assert not any("aoti-logs explain" in e.command for e in finding.experiments)


def test_a_file_outside_of_a_cache_names_no_folder(tmp_path: Path):
    text = (_FIXTURES / "gpu_empty_events" / "run.log").read_text()
    log = tmp_path / "run.log"
    log.write_text(
        text.replace("/cache/s3/cs3s5oiktkumxczt4wwwr7ohfgwh2vmfsafhlfucocy6xdhghjmg.py", "/kernel.py")
    )
    assert not any("aoti-logs explain" in e.command for e in _cause(aoti_logs.load(log)).experiments)


def test_a_call_that_narrows_the_index_leads_to_its_dtype_and_proves_nothing(tmp_path: Path):
    if not _CORPUS.is_dir():
        pytest.skip("the corpus is not here")
    log = _CORPUS / "stacks" / "wrong_dtype_nocheck.stderr.txt"
    finding = _cause(aoti_logs.load(log, context=_CORPUS / "oob_cpu"))
    assert (finding.rule, finding.confidence) == ("AL106", "possible")
    assert any("`ids.int()`" in because for because in finding.verdicts[0].because)
    other = tmp_path / "run.log"
    other.write_text(log.read_text().replace("ids.int()", "off.int(), ids"))
    told = _cause(aoti_logs.load(other, context=_CORPUS / "oob_cpu"))
    assert told.rule != "AL106"
    assert not any("int32, `" in because for v in told.verdicts for because in v.because)

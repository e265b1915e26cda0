"""Which lines of real logs stay free text: each kind is listed with the reason why no format claims it."""

import re

import pytest

from tests.log_text import read

# What the programs of the corpus and their tools print in words of their own.
FREE = {
    r"\s*": "a blank line: TORCH_LOGS_TRACE_ID_FILTER writes one for each message that it leaves out",
    r"(?:loaded|output|package:|so:) .*|break": "print() of the recorded program",
    r"\[(?:New|Thread|Detaching|Inferior|New process)\b.*\]": "gdb tells of threads and processes",
    r"Using host libthread_db library .*|No stack\.": "gdb, on its own account",
    r"warning: Cuda Driver error detected: .*": "cuda-gdb, on its own account",
    r"(?:add-auto-load|set auto-load|\tadd-auto-load|\tset auto-load).*|Catchpoint \d+ .*|Thread \d+ .* hit Catchpoint .*|"
    r"Kill the program .*|  Id   Target Id .*|[* ] \d+ +Thread 0x.*": "gdb's own chatter, and its list of threads",
    r"<torch\..* object at 0x[0-9a-f]+>|\[(?:torch\.Size|').*\]|run\d .*|fresh load|ok 1|rc=\d+": "print() of results",
    r"Number of elements: 1": "a simulated record of the printer, which is its first line only",
    r"=== (?:PY EXCEPTION|NO ERROR|CASE|COMPILED|DONE|RUN|RUNNING)\b.*": "print() of the scripts that recorded the corpus",
    r"(?:\w+ rc=-?\d+ )?env: .*|model: .*|mode\d .* rc=-?\d+.*|built \w+": "notes of those scripts",
    r"tensor\(.*\)|\(?(?:None|True|False)(?:, (?:None|True|False))*\)?|\[(?:True|False).*\]": "print() of results",
    r"warning: File \".*|To (?:enable|completely) .*|\t(?:add-auto|set auto|info) .*|line to your .*|For more information about this .*|"
    r"\"Auto-loading safe path\" .*": "gdb explains that it did not load a script",
    r"aoti_torch_save_tensor_handle: Path does not exist, creating it.*": "a remark of the value printer",
}
FOLDERS = (
    "cpu-torch2.13/torch_logs",
    "cpu-torch2.13/aoti/stacks",
    "cpu-torch2.13/aoti/printer",
    "gpu-torch2.11",
)


def logs(folder):
    return sorted(
        p for p in folder.rglob("*") if p.suffix in {".log", ".stdout", ".txt"} and p.parent.name != "trace_and_logs_dir"
        and p.name not in {"demangle_test.txt", "INDEX_rc.txt", "HOW.txt", "build.txt"}  # notes about the corpus, no logs
        and not any(part in {"sources", "debug", "cache", "trace"} or part.startswith("trace_") for part in p.parts)
    )  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_stays_unparsed_is_free_text(corpus_dir, folder):
    accepted = re.compile("|".join(FREE))
    unknown = []
    for path in logs(corpus_dir / folder):
        if folder == "gpu-torch2.11" and path.suffix != ".log":
            continue
        for row in read(path.read_bytes()).unparsed:
            unknown += [
                f"{path.name}: {line[:200]}"
                for line in row.span.text.split("\n")
                if not accepted.fullmatch(line.rstrip("\r"))
            ]
    assert not unknown, "\n".join(unknown[:40])


@pytest.mark.parametrize("pattern", FREE)
def test_free_text_is_no_beginning_of_a_message(pattern):
    for line in (
        "V1129 12:26:30.819000 1 torch/a.py:1] x",
        "DEBUG:torch._dynamo.guards:x",
        "Traceback (most recent call last):",
    ):
        assert not re.fullmatch(pattern, line)

"""A tool was called with arguments that it does not take.

## What it says
Which tool, which path, and what it wants instead. Nothing of PyTorch failed.

## Why it matters
`TORCH_TRACE` writes a folder, and `tlparse` 0.4 takes one file of it: the first thing that many people see is an error
that does not say so.

## Example
`Error: /tmp/my_traced_log_dir is not a file`

## Evidence it needs
The message. Without the command it is only likely that `tlparse` printed it.

## What to do
Give `tlparse` one of the files `dedicated_log_torch_trace_*.log` in the folder; `aoti-logs report` takes the folder itself.
PyTorch's guide says `tlparse FOLDER --latest`: tlparse 0.4.3 ends every such call with `Input path FILE is not a directory
(required with --latest)`, FILE being the log that it had found in the folder.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Experiment
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_LATEST = "--latest takes a folder; tlparse 0.4.3 says this for a folder, too, with the newest log in it as the path"
_FORMS = (
    (re.compile(r"(?P<path>\S.*) is not a file$"), "it takes a file, and this is a folder or does not exist"),
    (re.compile(r"Input path (?P<path>\S.*) is not a directory \(required (?:with|when using) --latest\)$"), _LATEST),
    (re.compile(r"Directory (?P<path>\S.*) already exists[;,] .*(?:--overwrite|-o OUTDIR)"), "the folder for the report exists already: -o names another one, --overwrite replaces it"),
    (re.compile(r"No files found in directory (?P<path>\S.*?)(?: for --latest)?$"), "there is no log in the folder"),
    (re.compile(r"(?:Input path )?(?P<path>\S.*) must be a directory when using --all-ranks-html$"), "--all-ranks-html takes a folder"),
    (re.compile(r"No rank log files found in directory (?P<path>\S.*)$"), "no file there has a rank in its name"),
    (re.compile(r"(?P<path>)--latest cannot be used with --all-ranks-html$"), "one of the two options must go"),
)  # fmt: skip
_OF_FOLDERS = ("is not a file", "--latest)")
_OWN = ("--latest", "--all-ranks-html", "--overwrite", "OUTDIR")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell which argument is wrong."""
    error = case.error
    if error.form is not ErrorForm.AOTI_ERROR or error.raised_from is not None:
        return None
    text = error.message.strip()[:4096]
    found, advice = next(((m, words) for form, words in _FORMS if (m := form.match(text))), (None, ""))
    if found is None:
        return None
    path = found["path"] or None
    command = next((dict(n.facts).get("command", "") for n in case.events.notes if n.kind == "command"), "")
    sure = "tlparse" in command or any(option in text for option in _OWN)
    return ErrorTold(
        "AL620",
        "tool_usage_error",
        f"tlparse was called with an argument that it does not take: {text}",
        Confidence.PROVEN if sure else Confidence.LIKELY,
        because=(advice,),
        facts={"tool": "tlparse", "path": path},
        decide=() if sure else ("which command printed it: tlparse has this text, and other programs may",),
        fixes=("give tlparse one dedicated_log_torch_trace_*.log of the folder, without --latest",)
        if text.endswith(_OF_FOLDERS)
        else (),
        doubt=None if sure else "the log does not show the command",
        experiments=(
            Experiment(
                f"aoti-logs report {path}",
                (),
                "run",
                "takes the folder of TORCH_TRACE with the files of all ranks",
                "it runs tlparse for each of them",
            ),
        )
        if path and text.endswith("is not a file")
        else (),
    )


RULE = Rule("AL620", "tool-usage", __doc__ or "")

"""What a report that is pasted somewhere should not tell: whose folders they were, and on which machine.

Users stand in paths: home folders, and Inductor's cache, which is called `torchinductor_USER` (`default_cache_dir` in
torch/_inductor/runtime/cache_dir_utils.py). Machines stand before a port (c10d, NCCL) and in torchrun's table of failures
(`host      : NAME`, torch/distributed/elastic/multiprocessing/errors/__init__.py).
"""

from __future__ import annotations

import re

# Where homes are mounted from elsewhere; `home` deeper inside a path may be a part of a project.
_MOUNT = r"(?:/(?:data|mnt|scratch|storage|nfs|gpfs|lustre|fsx|efs|export|net|work|vol|volumes|shared)\d*)"
_HOMES = re.compile(
    rf"(?<![\w.~-])(?:{_MOUNT}?/(?:home|Users)|{_MOUNT}/users)/[^/\\\s\"'`:,;)\]]+"
    r"|(?<![\w.])[A-Za-z]:[\\/]+Users[\\/]+[^/\\\s\"'`:]+"
    r"|(?<![\w./~-])/root(?=/)"
)
_CACHE = re.compile(r"(?<=[\\/]torchinductor_)[^/\\\s\"'`:,;)\]]+")
_ADDRESS = r"(?!127\.)(?!0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}"
_HOSTS = re.compile(
    rf"(?<![\w.]){_ADDRESS}(?=(?::|<)\d{{2,5}}\b)"
    rf"|(?<=\(){_ADDRESS}(?=, \d{{2,5}}\))"
    r"|(?<![\w\]]\[)(?<=\[)(?!localhost\]|::1\])(?=[\w.-]*[A-Za-z])[\w.-]+(?=\]:\d{4,5}\b)"
)
_TORCHRUN = re.compile(r"(?<=\bhost      : )[^\s|]+")


def without_names(text: str) -> str:
    """Return the text with home folders written `~`, and `USER` and `HOST` for names of users and machines."""
    text = _CACHE.sub("USER", _HOMES.sub("~", text))
    return _TORCHRUN.sub("HOST", _HOSTS.sub("HOST", text))

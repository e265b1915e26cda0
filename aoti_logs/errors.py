"""What stops the reading altogether; everything less is a row of a table."""

from __future__ import annotations


class LoadError(Exception):
    """An input that cannot be read at all, in one sentence that names its path.

    A bad file among good ones never raises: it becomes a `Problem` of `aoti_logs.sources.find`.
    """

"""What ends a call: an input that cannot be read at all, a name that nothing has."""

from __future__ import annotations


class LoadError(Exception):
    """An input that cannot be read at all, in one sentence that names its path.

    A bad file among good ones never raises: it becomes a `Problem` of `aoti_logs.sources.find`.
    """


class UnknownNameError(LookupError):
    """Nothing that the package knows has this name; the text says what comes nearest."""

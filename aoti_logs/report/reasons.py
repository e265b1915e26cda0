"""Why what tlparse is given differs from the trace, in one plain sentence each."""

from __future__ import annotations

from enum import StrEnum

LARGEST_STRING_ID = 1_000_000
"""Ids of interned strings count up from 0 in a process; traces of 500 MB have some hundreds."""


class Reason(StrEnum):
    """A kind of change; the value is its sentence, `{n}` how often and `{what}` an example."""

    BYTES = (
        "bytes that are not UTF-8 were replaced ({n}), because tlparse writes nothing at all for such a file"
    )
    NAME = (
        "names of dumps were changed ({n}: {what}), because tlparse would make paths of them, also outside "
        "of the report, or stop at them"
    )
    CODE_NAME = (
        "names of dumps were changed ({n}: {what}), because tlparse would show such a dump as HTML on its "
        "provenance page"
    )
    CHECKSUM = (
        "checksums that are no MD5 were replaced ({n}: {what}), because tlparse would make paths of them, "
        "also outside of the report"
    )
    LIST = "entries that are lists were left out ({n}: {what}), because torch writes none and tlparse would take them unchecked"
    URL = (
        "links that do not lead to the web were left out ({n}: {what}), because tlparse shows any link, "
        "also one that runs a script"
    )
    MARKUP = (
        "a < that would open a tag was replaced by U+2039 ({n}: {what}), because tlparse shows this text "
        "as HTML"
    )
    NO_REASON = (
        "failures without a reason were given one that says so ({n}), because tlparse stops at such a failure"
    )
    STRING = (
        f"interned strings with an id above {LARGEST_STRING_ID:,} were left out ({{n}}: {{what}}), because "
        "tlparse would fill the memory up to that id"
    )
    RANK = "ranks that are no numbers were taken out ({n}: {what}), because tlparse leaves out such a record"
    FRAME = "negative file ids of frames were replaced by an unused one (records: {n}), because tlparse leaves out such a record"
    JSON = (
        "NaN, Infinity and halves of surrogate pairs in envelopes were replaced by null and U+FFFD (records: {n}), "
        "because tlparse leaves out such a record"
    )
    DEEP = "lines whose JSON is nested too deeply to be checked were left out ({n})"
    NUMBER = "lines with a number in their prefix that tlparse stops at were left out ({n})"
    PREFIX = (
        "prefixes were written as torch writes them on Linux ({n}: {what}), because tlparse knows no others "
        "and leaves out such a record"
    )
    RANK_ADDED = (
        "records without a rank were given the one of their process ({n}), because tlparse leaves out a "
        "record without a rank after one that has a rank"
    )
    EXPORT_TYPES = (
        "locals and symbols of guards were written as plain texts (records: {n}), because tlparse -e leaves "
        "out a guard with other ones, which torch 2.13 writes, and then says that there are no issues"
    )
    EXPORT_MISSING = (
        "values that tlparse -e needs and that were not recorded were filled in ({n}: {what}), because it "
        "stops without them"
    )


def sentence(reason: Reason, count: int, example: str = "") -> str:
    """Say what was changed and why.

    Args:
        reason: the kind of change.
        count: how often.
        example: one of the changes, in words.
    """
    return reason.value.replace("{n}", f"{count:,}").replace("{what}", example)

"""A frame on a screen: as a table where it fits, else row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from aoti_logs.render.safe import clean, clean_cells

if TYPE_CHECKING:
    import polars as pl

_LONGEST = 80


def render_table(frame: pl.DataFrame, *, markdown: bool = False, width: int | None = None) -> str:
    """Return a frame as text.

    Args:
        frame: the table.
        markdown: as a table of Markdown.
        width: columns of the screen; a wider table is written row by row. None for no limit.
    """
    import polars as pl

    style: Literal["ASCII_MARKDOWN", "UTF8_FULL_CONDENSED"]
    style = "ASCII_MARKDOWN" if markdown else "UTF8_FULL_CONDENSED"
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=_LONGEST, tbl_width_chars=-1, tbl_formatting=style
    ):
        lines = str(clean_cells(frame, bar=markdown)).split("\n")
    if width is not None and not markdown and max(map(len, lines)) > width and frame.height:
        return _row_by_row(frame, width)
    return "\n".join(map(clean, lines)) + "\n"


def _row_by_row(frame: pl.DataFrame, width: int) -> str:
    """Write a column a line; what is null or empty is left out."""
    broad = max(map(len, frame.columns)) + 2
    out: list[str] = []
    for number, row in enumerate(frame.iter_rows(named=True)):
        out.append(f"--- {number:,}")
        for column, value in row.items():
            if value is None or value in ("", []):
                continue
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            shown = clean(" ".join(text.split()))
            room = max(20, width - broad)
            out.append(f"{column:<{broad}}{shown if len(shown) <= room else shown[: room - 1] + '…'}")
    return "\n".join([*out, f"--- {frame.height:,} rows"]) + "\n"

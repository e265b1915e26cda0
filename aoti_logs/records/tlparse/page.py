"""Generated code out of the page that tlparse makes of it.

`generate_html_output` in `src/parsers.rs` of tlparse 0.4.3 highlights it with syntect: a `<pre>` whose first
line is empty, then a line a line of code, in `<span>`s.
"""

from __future__ import annotations

from html.parser import HTMLParser

from aoti_logs.records.tlparse.entry import Payload
from aoti_logs.sources.source import Kind, Source


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 its form is given
        self.inside = self.inside or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.parts.append(data)


def code_of(page: Source) -> Payload | None:
    """Return the code of a page; None when there is none in it. A page that is cut gives what is left."""
    text = _Text()
    text.feed(bytes(page.data).decode("utf-8", "replace"))
    text.close()
    first, newline, code = "".join(text.parts).partition("\n")
    if first.strip() or not newline:
        return None
    return Payload(code.encode("utf-8", "replace"), page, line=2)


def page_source(page: Source) -> Source | None:
    """Return the code of a page that was given without its report, as a source of its own."""
    payload = code_of(page)
    if payload is None or not payload.text:
        return None
    return Source(
        f"{page.name}#inductor_output_code",
        Kind.OUTPUT_CODE,
        lambda: payload.text,
        parent=page,
        parent_lines=range(2, payload.text.count(b"\n") + 3),
        role=page.role,
        label="inductor_output_code",
        rank=page.rank,
    )

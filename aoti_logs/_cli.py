"""What the commands share: loading, the forms of an answer, writing it, and giving up in one sentence."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from aoti_logs._run import Run
    from aoti_logs.explain import Explanation


class ExplainFormat(StrEnum):
    """Forms of an explanation."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"
    SARIF = "sarif"
    GITHUB = "github"


def explained(
    run: Run, explanation: Explanation, form: ExplainFormat, *, everything: bool, plan: bool = False
) -> str:
    """Return an explanation in one of its forms."""
    if plan and form not in {ExplainFormat.TEXT, ExplainFormat.JSON}:
        fail(f"--plan is not written as {form}, but as text and as json")
    match form:
        case ExplainFormat.HTML:
            from aoti_logs.render.page import render_page

            return render_page(explanation, {s.name: s for s in run.all_sources})
        case ExplainFormat.JSON:
            return as_json(explanation.to_dict(plans=plan))
        case ExplainFormat.MARKDOWN:
            from aoti_logs.render.markdown import render_markdown

            return render_markdown(explanation, everything=everything)
        case ExplainFormat.SARIF:
            from aoti_logs import __version__
            from aoti_logs.render.sarif import sarif
            from aoti_logs.rules import all_rules

            return as_json(sarif(explanation, [(r.code, r.name, r.page) for r in all_rules()], __version__))
        case ExplainFormat.GITHUB:
            from aoti_logs.render.github import render_github

            return render_github(explanation, everything=everything)
        case _ if plan:
            from aoti_logs.render.plan import render_plans

            return render_plans(explanation)
        case _:
            from aoti_logs.render.text import render_text

            # Members of archives and texts of traces have the path of what holds them: their names lead there.
            paths = {s.name: str(s.path) for s in run.files if s.path is not None and s.parent is None}
            return render_text(explanation, everything=everything, paths=paths)


def as_json(value: object) -> str:
    """Return plain values as JSON that a terminal can show."""
    import orjson

    from aoti_logs.render.safe import escape_json

    return escape_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()) + "\n"


def width() -> int | None:
    """Return how wide the screen is, None where the output is no screen."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def load_run(paths: list[str], context: list[str] | None) -> Run:
    """Load what was given; end the program with a sentence where nothing can be read."""
    from aoti_logs._run import load
    from aoti_logs.errors import LoadError

    try:
        return load(paths, context or [])
    except LoadError as error:
        fail(str(error))


def fail(sentence: str) -> NoReturn:
    """End the program with a sentence and exit code 2."""
    from aoti_logs.render.safe import clean

    typer.echo(f"aoti-logs: {clean(sentence)}", err=True)
    raise typer.Exit(2)


def write(text: str) -> None:
    """Write to stdout, as far as somebody reads it."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe (`| head`) went away; nothing is wrong.
        sys.stderr.close()
        raise typer.Exit(0) from None

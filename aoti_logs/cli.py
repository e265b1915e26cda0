"""The command line: each subcommand a verb that reads like one."""

from __future__ import annotations

import difflib
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aoti_logs._cli import ExplainFormat, as_json, explained, fail, load_run, width, write

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Say why a torch.compile or AOTInductor run failed, from what it left behind.\n\n"
    "Example: aoti-logs explain run.log --context FOLDER, where FOLDER holds the cache (TORCHINDUCTOR_CACHE_DIR), the .pt2 or "
    "the traces (TORCH_TRACE) of the run.",
)

_PATHS = Annotated[list[str], typer.Argument(help="Logs, folders, .pt2, generated sources; - for stdin.")]
_CONTEXT = Annotated[
    list[str] | None, typer.Option("--context", "-c", help="Files or folders to consult for evidence only.")
]


_CODE = re.compile(r"AL\d{3}", re.IGNORECASE)


def _version(asked: bool) -> None:
    if asked:
        from aoti_logs import __version__

        write(f"aoti-logs {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take what stands before a command."""


class TableFormat(StrEnum):
    """Forms of a table."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


@app.command(short_help="Say what failed, why, and what to run next.")
def explain(
    paths: _PATHS,
    context: _CONTEXT = None,
    form: Annotated[
        ExplainFormat, typer.Option("--format", "-f", help="Form of the answer.")
    ] = ExplainFormat.TEXT,
    rank: Annotated[int | None, typer.Option(help="Only findings of this rank.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also notes.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when something failed.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Every experiment that helps, the cheapest first (text and JSON).")
    ] = False,
) -> None:
    """Say what failed, why, how that is known, and what to run next; of a rule (AL101), print its page."""
    if len(paths) == 1 and _CODE.fullmatch(paths[0]) and not Path(paths[0]).exists():
        rules(paths[0])
        return
    run = load_run(paths, context)
    explanation = run.explain(rank=rank)
    write(explained(run, explanation, form, everything=everything, plan=plan))
    if check and explanation.failed:
        raise typer.Exit(1)


@app.command(short_help="Say what compiled models will do wrong silently.")
def audit(
    paths: _PATHS,
    context: _CONTEXT = None,
    form: Annotated[
        ExplainFormat, typer.Option("--format", "-f", help="Form of the answer.")
    ] = ExplainFormat.TEXT,
    everything: Annotated[bool, typer.Option("--all", help="Also notes.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Exit 1 on a warning, 2 when there is no model or not all could be read."
        ),
    ] = False,
) -> None:
    """Say what compiled models will do wrong silently or confusingly, before anything fails."""
    run = load_run(paths, context)
    audited = run.audit()
    if form is ExplainFormat.TEXT:
        from aoti_logs.render.audit_text import render_audit

        write(render_audit(audited, everything=everything))
    else:
        write(explained(run, audited, form, everything=everything, plan=False))
    if check and audited.warned:
        raise typer.Exit(1)
    if check and (not audited.models or audited.problems):
        raise typer.Exit(2)


class CheckupFormat(StrEnum):
    """Forms of a checkup."""

    TEXT = "text"
    JSON = "json"


@app.command(short_help="Say which evidence is missing, and how to record it.")
def doctor(
    paths: _PATHS,
    context: _CONTEXT = None,
    form: Annotated[
        CheckupFormat, typer.Option("--format", "-f", help="Form of the answer.")
    ] = CheckupFormat.TEXT,
) -> None:
    """Say which evidence of a run is at hand, which is missing, and how to record it."""
    checkup = load_run(paths, context).doctor()
    write(as_json(checkup.to_dict()) if form is CheckupFormat.JSON else str(checkup))


@app.command()
def tables(paths: _PATHS, context: _CONTEXT = None) -> None:
    """List the tables with their numbers of rows."""
    run = load_run(paths, context)
    from aoti_logs.tables import schema

    for name, frame in run.tables.items():
        paragraph = " ".join((schema(name).__doc__ or "").strip().partition("\n\n")[0].split())
        first = paragraph.partition("; ")[0].partition(". ")[0].removesuffix(".")
        write(f"{name:<18} {frame.height:>9,}  {first}\n")


@app.command()
def show(
    paths: Annotated[list[str], typer.Argument(help="Paths as for explain, then the table's name.")],
    context: _CONTEXT = None,
    sql: Annotated[str | None, typer.Option(help="Query over all tables, in SQL (polars).")] = None,
    form: Annotated[
        TableFormat, typer.Option("--format", "-f", help="Form of the table.")
    ] = TableFormat.TEXT,
) -> None:
    """Show one table: `aoti-logs show PATH TABLE`."""
    from aoti_logs.tables import NAMES

    *given, name = paths
    if name not in NAMES and sql is not None:
        given, name = paths, ""
    if not given or (name and name not in NAMES):
        near = difflib.get_close_matches(name, NAMES, 5)
        these = f"near it are {', '.join(near)}" if near else f"known are {', '.join(NAMES)}"
        fail(f"the last argument must be a table: `{name}` is none; {these}")
    run = load_run(given, context)
    import polars as pl

    if sql is None:
        frame = run.tables[name]
    else:
        lowered = sql.lower()
        used = {n: run.tables[n] for n in NAMES if n in lowered or n == name}
        try:
            frame = pl.SQLContext(used, eager=True).execute(sql)
        except pl.exceptions.PolarsError as error:
            fail(f"the query failed: {error}")
    from aoti_logs.render.safe import clean_cells, escape_json

    if form is TableFormat.CSV:
        lists = [c for c, t in frame.schema.items() if isinstance(t, pl.List)]
        flat = frame.with_columns(pl.col(c).cast(pl.List(pl.String)).list.join(" ") for c in lists)
        write(clean_cells(flat, lines=True).write_csv() or "")
    elif form is TableFormat.JSON:
        write(escape_json(frame.write_json() or "") + "\n")
    else:
        from aoti_logs.render.table import render_table

        write(render_table(frame, markdown=form is TableFormat.MARKDOWN, width=width()))


@app.command(short_help="Write the launches in program order.")
def timeline(
    paths: _PATHS,
    context: _CONTEXT = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file to write.")] = None,
) -> None:
    """Write the launches in program order: kernel, launch index, inputs, outputs, sizes."""
    frame = load_run(paths, context).timeline()
    if output is not None:
        try:
            frame.write_parquet(output)
        except OSError as error:
            fail(f"{output}: {error.strerror or error}")
        write(f"{frame.height:,} launches written to {output}\n")
        return
    from aoti_logs.render.safe import clean

    for row in frame.iter_rows(named=True):
        call = f"{row['kernel']}({', '.join(row['inputs'])}) -> {', '.join(row['outputs']) or '-'}"
        sizes = f"  [{', '.join(row['sizes'])}]" if row["sizes"] else ""
        write(f"{row['index']:>5}  {clean(call + sizes)}\n")


class GraphFormat(StrEnum):
    """Languages that a graph of launches is written in."""

    DOT = "dot"
    MERMAID = "mermaid"


@app.command(short_help="Show compiled models: kernels, launches, buffers.")
def code(
    paths: _PATHS,
    context: _CONTEXT = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="One of several models: number, or part of its name.")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="A kernel, with every launch's arguments bound.")
    ] = None,
    launch: Annotated[int | None, typer.Option("--launch", "-l", help="A launch, by number.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="Life of a buffer, input or weight; origin of a size.")
    ] = None,
    graph: Annotated[
        GraphFormat | None, typer.Option("--graph", "-g", help="The launches as a graph, as text.")
    ] = None,
    body: Annotated[bool, typer.Option("--body", help="With --kernel: also its source.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Nothing is cut off.")] = False,
) -> None:
    """Show compiled models: inputs, weights, sizes, kernels, launches with their arguments, outputs."""
    from aoti_logs.errors import LoadError
    from aoti_logs.render.code_screen import Wanted, choose, code_screen

    run = load_run(paths, context)
    wanted = Wanted(kernel, launch, name, None if graph is None else str(graph), body, everything)
    try:
        write(code_screen(choose(list(run.views()), model), wanted, [s.name for s in run.all_sources]))
    except LoadError as error:
        fail(str(error))


@app.command(short_help="Write tlparse's HTML report, with our findings.")
def report(
    paths: Annotated[
        list[str], typer.Argument(help="Traces, folders of them, tlparse reports; - for stdin.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")] = Path("aoti_report"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a report that is there.")] = False,
    context: _CONTEXT = None,
    plain: Annotated[bool, typer.Option("--plain", "-p", help="Generated code as plain text.")] = False,
    provenance: Annotated[
        bool, typer.Option("--provenance", "-i", help="Pages that set graphs and code side by side.")
    ] = False,
    export: Annotated[bool, typer.Option("--export", "-e", help="Report of a draft export.")] = False,
    browse: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Write tlparse's HTML report of traces, with our findings linked into it."""
    from aoti_logs.errors import LoadError
    from aoti_logs.report.copies import Copies
    from aoti_logs.report.given import expand, traces
    from aoti_logs.report.screen import render_written
    from aoti_logs.report.tlparse import Options
    from aoti_logs.report.write import write_report

    try:
        run = load_run(expand(paths), context)
        indexes = [run.evidence.trace(source) for source in traces(run.subjects)]
        options = Options(plain=plain, provenance=provenance, export=export)
        copies = Copies(run.evidence)
        written = write_report(indexes, run.explain(), output, options, copies, overwrite=overwrite)
    except LoadError as error:
        fail(str(error))
    write(render_written(written))
    if browse:
        typer.launch(str(written.page.absolute()))
    if written.problems:
        raise typer.Exit(2)


@app.command()
def rules(code: Annotated[str | None, typer.Argument(help="A rule, AL101.")] = None) -> None:
    """List the rules, or print the page of one."""
    from aoti_logs.rules import all_rules

    known = all_rules()
    if code is None:
        for rule in known:
            write(f"{rule.code}  {rule.name:<30} {rule.page.splitlines()[0]}\n")
        return
    page = next((r.page for r in known if r.code == code.upper()), None)
    if page is None:
        near = [r.code for r in known if r.code[:4] == code.upper()[:4]]
        of_these = f"near it are {', '.join(near)}" if near else "`aoti-logs rules` lists them"
        fail(f"there is no rule {code}; {of_these}")
    write(page.strip() + "\n")


class PlainFormat(StrEnum):
    """Forms of a comparison."""

    TEXT = "text"
    JSON = "json"


@app.command(short_help="Say whether two runs failed alike.")
def compare(
    first: Annotated[str, typer.Argument(help="Log or folder of one run.")],
    second: Annotated[str, typer.Argument(help="Log or folder of the other.")],
    context: _CONTEXT = None,
    form: Annotated[
        PlainFormat, typer.Option("--format", "-f", help="Form of the answer.")
    ] = PlainFormat.TEXT,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 unless both failed alike.")] = False,
) -> None:
    """Say whether two runs failed alike: what is the same, what differs, which lines show it."""
    told = load_run([first], context).compare(load_run([second], context), (first, second))
    write(as_json(told.to_dict()) if form is PlainFormat.JSON else str(told))
    if check and not told.alike:
        raise typer.Exit(1)


class SettingsFormat(StrEnum):
    """Forms of settings."""

    TEXT = "text"
    JSON = "json"


class SettingsEffect(StrEnum):
    """When settings take effect (the words of `aoti_logs.settings.Effect`)."""

    PROCESS = "process"
    IMPORT = "import"
    COMPILE = "compile"
    LOAD = "load"
    FIRST_RUN = "first-run"
    RUN = "run"
    BUILD = "build"


@app.command(short_help="List settings of torch, or tell about one.")
def settings(
    name: Annotated[
        str | None, typer.Argument(help="A variable, or a config value with or without its module.")
    ] = None,
    when: Annotated[
        SettingsEffect | None, typer.Option("--when", help="Only those that take effect then.")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Only those that this release of torch knows, 2.9.")
    ] = None,
    form: Annotated[
        SettingsFormat, typer.Option("--format", "-f", help="Form of the answer.")
    ] = SettingsFormat.TEXT,
) -> None:
    """List the settings of torch by when they take effect, or print what is known about one."""
    from aoti_logs.errors import UnknownNameError
    from aoti_logs.settings import all_settings, setting

    if name is not None:
        try:
            found = [setting(name)]
        except UnknownNameError as error:
            fail(str(error))
    else:
        found = [s for s in all_settings() if when is None or str(s.effect).replace(" ", "-") == when]
        try:
            found = [s for s in found if version is None or s.known_in(version)]
        except ValueError:
            fail(f"{version} is no release of torch; write it as 2.9")
    if form is SettingsFormat.JSON:
        plain = [s.to_dict() for s in found]
        write(as_json(plain if name is None else plain[0]))
        return
    from aoti_logs.render.settings_screen import settings_list, settings_page

    write(settings_list(found) if name is None else settings_page(found[0]))


def main() -> None:
    """Run the command line."""
    app()

"""Write what comes from the code: tables, rules, the JSON Schema of an explanation, the tutorial's screens.

usage: python docs/generate.py            write them
       python docs/generate.py --check    write nothing; exit 1 and name the pages that are not up to date
"""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import dataframely as dy

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
# A block that begins with ```console run holds a command and what it prints; ```console run 12 shows twelve lines of it.
SCREEN = re.compile(r"^```console run ?(\d*)\n\$ (.*)\n(?:.*\n)*?```$", re.M)
NOTICE = "<!-- written by docs/generate.py from {source}; change it there -->"


class Rule(Protocol):
    """What a page about a rule needs; the rules have more."""

    @property
    def code(self) -> str: ...  # noqa: D102 three names that say it all
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def page(self) -> str: ...  # noqa: D102


def main() -> None:
    """Write or check, as the command line says."""
    known = {"--check"}
    if set(sys.argv[1:]) - known:
        sys.exit(__doc__)
    pages = dict(all_pages())
    surplus = {path for path in DOCS.glob("rules/*.md") if path not in pages}
    stale = {path for path, text in pages.items() if not path.exists() or path.read_text() != text}
    if "--check" in sys.argv:
        if stale or surplus:
            names = ", ".join(sorted(str(path.relative_to(ROOT)) for path in stale | surplus))
            sys.exit(f"not up to date: {names}. Run `make docs` and commit what it writes.")
        return
    for path in surplus:
        path.unlink()
    for path in sorted(stale):
        path.parent.mkdir(exist_ok=True)
        path.write_text(pages[path])
        print("wrote", path.relative_to(ROOT))


def all_pages() -> Iterator[tuple[Path, str]]:
    """Yield every generated page with its text."""
    from aoti_logs.explanation_schema import JSON_SCHEMA
    from aoti_logs.rules import RULES
    from aoti_logs.tables import SCHEMAS

    yield DOCS / "settings.md", settings_page()
    yield DOCS / "tables.md", tables_page(dict(SCHEMAS))
    yield DOCS / "rules.md", rules_index(RULES)
    for rule in RULES:
        yield DOCS / "rules" / f"{rule.code}.md", rule_page(rule)
    for page in (DOCS / "tutorial.md", DOCS / "ten_failures.md"):
        yield page, SCREEN.sub(screen, page.read_text())
    yield DOCS / "explanation.schema.json", json.dumps(JSON_SCHEMA, indent=2, ensure_ascii=False) + "\n"


def screen(block: re.Match[str]) -> str:
    """Run the command of a block, from the folder of the repository, and put what it prints now under it."""
    lines, command = block.groups()
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"a page: `{command}` exits with {done.returncode}")
    shown = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    if lines and len(shown) > int(lines):
        shown = [*shown[: int(lines)], "..."]
    return "\n".join([f"```console run{' ' * bool(lines)}{lines}", f"$ {command}", *shown, "```"])


def tables_page(schemas: dict[str, "type[dy.Schema]"]) -> str:
    """Show every table with its columns; refuse tables and columns that nobody described."""
    silent = [name for name, schema in schemas.items() if not own_doc(schema)]
    silent += [
        f"{name}.{column}"
        for name, schema in schemas.items()
        for column, spec in schema.columns().items()
        if not spec.description
    ]
    if silent:
        sys.exit(f"without a description: {', '.join(silent)}")
    lines = [
        "# Tables",
        "",
        NOTICE.format(source="aoti_logs/tables"),
        "",
        "`run.tables` has all of these, also the empty ones; `run.<name>` is the same table as an attribute.",
        "A table is parsed when it is first asked for.",
        "",
        "| table | what is in it |",
        "|---|---|",
        *(f"| [{name}](#{name}) | {cell(first_sentence(own_doc(s)))} |" for name, s in schemas.items()),
    ]
    for name, schema in schemas.items():
        lines += ["", f"## {name}", "", own_doc(schema), "", "| column | type | |", "|---|---|---|"]
        lines += [
            f"| `{column}`{key_mark(spec)} | {cell(type_name(spec))} | {cell(spec.description or '')} |"
            for column, spec in schema.columns().items()
        ]
    return "\n".join(lines) + "\n"


def key_mark(spec: "dy.Column") -> str:
    """Mark the columns that together name a row."""
    return " (key)" if spec.primary_key else ""


def type_name(spec: "dy.Column") -> str:
    """Give a column's type as polars writes it, and say when it may be empty."""
    text = str(spec.dtype)
    if match := re.fullmatch(r"Enum\(categories=\[(.*)\]\)", text):
        text = "one of " + ", ".join(f"`{word.strip()[1:-1]}`" for word in match[1].split(","))
    else:
        text = f"`{text}`"
    return text + (" or null" if spec.nullable else "")


def settings_page() -> str:
    """List the settings by topic, each with what `aoti-logs settings NAME` prints."""
    from aoti_logs.render.settings_screen import HEADINGS, entries, short
    from aoti_logs.settings import all_settings
    from aoti_logs.settings.catalogue import TOPICS

    settings = all_settings()
    lines = [
        "# Settings",
        "",
        NOTICE.format(source="aoti_logs/settings"),
        "",
        "What each variable and config value does, when it takes effect, and how it misleads. `aoti-logs settings NAME`",
        "prints one of them. Releases were read from the wheels of torch 2.4 to 2.13; a test compares with the installed one.",
    ]
    for effect, heading in HEADINGS.items():
        some = [s for s in settings if s.effect is effect]
        lines += ["", f"## {cell(heading)}", "", "| setting | what it does |", "|---|---|"]
        lines += [f"| [`{s.name}`](#{anchor(s.name)}) | {cell(short(s))} |" for s in some]
    for topic, title in TOPICS.items():
        lines += ["", f"## {title}"]
        for setting in (s for s in settings if s.topic == topic):
            lines += ["", f"### {setting.name}", "", setting.does, "", "| | |", "|---|---|"]
            lines += [
                f"| {label} | {'<br>'.join(cell(text) for text in texts)} |"
                for label, texts in entries(setting)
            ]
    return "\n".join(lines) + "\n"


def anchor(heading: str) -> str:
    """Return the anchor that Markdown makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rules_index(rules: Iterable[Rule]) -> str:
    """List the rules by code."""
    lines = [
        "# Rules",
        "",
        NOTICE.format(source="aoti_logs/rules"),
        "",
        "A finding carries the code of the rule that made it. `aoti-logs rules CODE` prints the same page.",
        "",
        "| code | name | says |",
        "|---|---|---|",
        *(
            f"| [{r.code}](rules/{r.code}.md) | {cell(r.name)} | {cell(first_sentence(body(r.page)))} |"
            for r in sorted(rules, key=lambda rule: rule.code)
        ),
    ]
    return "\n".join(lines) + "\n"


def rule_page(rule: Rule) -> str:
    """Give a rule's own page a heading and the notice where it comes from."""
    notice = NOTICE.format(source="aoti_logs/rules")
    return f"# {rule.code}: {rule.name}\n\n{notice}\n\n{body(rule.page)}\n"


def body(page: str) -> str:
    """Return a page without the indent of a docstring and without a heading of its own."""
    text = inspect.cleandoc(page).strip()
    return text.partition("\n")[2].strip() if text.startswith("# ") else text


def own_doc(schema: type) -> str:
    """Return the docstring written on this class, not one it inherits."""
    return inspect.cleandoc(schema.__dict__.get("__doc__") or "")


def first_sentence(text: str) -> str:
    """Return the first sentence that is not a heading, as one line."""
    paragraphs = (p for p in text.split("\n\n") if not p.lstrip().startswith("#"))
    paragraph = " ".join(next(paragraphs, "").split())
    match = re.match(r".+?[.?!](?=\s|$)", paragraph)
    return match[0] if match else paragraph


def cell(text: str) -> str:
    """Make text fit a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()

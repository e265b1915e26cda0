"""A page of HTML: one style, nothing loaded, nothing run.

Text from logs is escaped by who writes it; the page's policy tells the browser to load and run nothing all the same.
"""

from __future__ import annotations

from aoti_logs.render.finding_html import safe

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1b1b; --line: #8884; --faint: #5c6166; --error: #c62828;
  --warning: #8a5300; --link: #0b4fc4; --quoted: #eee; --target: #fff0a8; --mark: #c9a400; }
@media (prefers-color-scheme: dark) { :root { --paper: #131313; --ink: #e8e8e8; --faint: #a3a8ad; --error: #ff8a80;
  --warning: #f0b04f; --link: #9cbcff; --quoted: #262626; --target: #3b3200; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 1.5rem auto; padding: 0 1rem;
  background: var(--paper); color: var(--ink); overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h3 { font-size: 1.05rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-left: 5px solid var(--faint); border-radius: 4px;
  padding: .8rem 1rem; margin: 1rem 0; }
article.error { border-left-color: var(--error); } article.warning { border-left-color: var(--warning); }
.error > h3 > b { color: var(--error); } .warning > h3 > b { color: var(--warning); }
.sure, .none { color: var(--faint); margin: 0 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; } td.step { white-space: nowrap; }
td.where { width: 20%; min-width: 11rem; font-size: .92em; } td.where span + a { display: block; }
pre, code { font: 13px/1.45 ui-monospace, monospace; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
h3 code { font-size: .92em; }
td.text { max-width: 0; width: 74%; } .points { overflow-x: auto; } .points pre, .points code { white-space: pre; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: .7rem 0 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
li { overflow-wrap: anywhere; } summary { cursor: pointer; }
@media (max-width: 45rem) {
  body { padding: 0 .6rem; } article { padding: .6rem; } article dl, article table, article tbody { display: block; }
  article tr { display: flex; flex-wrap: wrap; gap: 0 .6rem; border-top: 1px solid var(--line); padding: .2rem 0; }
  article td { border: 0; padding: 0; } td.where { width: auto; min-width: 0; } article td.step { white-space: normal; }
  td.text { flex-basis: 100%; max-width: 100%; } article dt { margin-top: .4rem; }
}
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, body: str, *, generator: str = "aoti-logs report", style: str = "") -> str:
    """Return a whole page.

    Args:
        title: its title, as text.
        body: its content, as HTML.
        generator: the command that wrote it.
        style: rules beside those of every page.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="generator" content="{generator}">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>\n{_STYLE}{style}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )

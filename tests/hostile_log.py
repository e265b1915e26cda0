"""A recorded log in which a stranger had a word to say: markup, control characters, broken Unicode, endless lines."""

from pathlib import Path

WORDS = (
    b"<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    b"</style></title></code></table></article><style>* { display: none }</style><!-- "
    b'" onmouseover="window.hacked = 3" href=\'javascript:window.hacked = 4\' &lt;b&gt; &#60;b&#62; <a href=//evil.example>x</a> '
    b"\x1b[31mred\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x00\x07\x08 \xff\xfe\xc3( \xe2\x80\xaegnp.exe\xe2\x81\xa6 "
    b"``` ```` ` ~~~ [x](javascript:alert) ![y](http://evil.example/y.png) ::error::x %0A]]> {{7*7}} ${x}"
)
# A folder and a file may be called like this; a slash is all that a name cannot hold.
NAME = "a\"><script>window.hacked = 5<'&lt;`.log"


def write_hostile_log(folder: Path, recorded: Path) -> Path:
    """Write the log of a refused compile with those words for the instruction, and around the error."""
    log = recorded.read_bytes()
    told = b"known instruction: 'halve'"
    assert told in log
    before = b"\n".join([WORDS, b"x" * 300_000 + WORDS, b"\xff" * 1000])
    log = log.replace(told, b"known instruction: '" + WORDS + b"'")
    log = log.replace(b"`ptxas` stderr:", b"`ptxas` stderr:\n" + before)
    path = folder / NAME
    path.write_bytes(WORDS + b"\n" + log + b"\n" + before)
    return path

"""What an installed torch itself says about its settings, read from its files as text: torch is not imported.

usage: python tests/torch_settings.py 2.4=FOLDER 2.5=FOLDER ... > tests/payloads/settings_releases.json

records which releases name each setting, and the defaults of config values. FOLDER is an unpacked wheel's `torch`
folder; its `strings.txt`, if there is one, stands for libraries that are not unpacked.
"""

import ast
import json
import mmap
import re
import sys
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

NAME = re.compile(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+|CXX")
CONFIGS = {
    "torch._inductor.config": "_inductor/config.py",
    "torch._dynamo.config": "_dynamo/config.py",
    "torch._functorch.config": "_functorch/config.py",
    "torch.fx.experimental._config": "fx/experimental/_config.py",
    "torch.compiler.config": "compiler/config.py",
}
SKIPPED = ("testing/", "_vendor/", "include/pybind11", "include/ATen")
LIBRARIES = ("libc10.so", "libtorch_cpu.so", "libtorch_python.so", "libtorch_cuda.so", "libc10_cuda.so")


class Unknown:
    """A value that the text of the file alone does not tell."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Value:
    """A config value as its module states it: default without any variable set, and the variables it reads."""

    default: object
    variables: tuple[str, ...]
    reading: str | None
    alias: str | None = None


@dataclass
class Torch:
    """The files of one torch."""

    folder: Path
    texts: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a file as text, empty where this torch has none."""
        if name not in self.texts:
            path = self.folder / name
            self.texts[name] = path.read_text(errors="replace") if path.is_file() else ""
        return self.texts[name]

    def has(self, name: str, text: str) -> bool:
        """Say whether a file has this text; of libraries by their bytes."""
        path = self.folder / name
        if not path.is_file():
            return False
        if path.suffix != ".so":
            return text in self.text(name)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(text.encode()) >= 0

    def config(self, name: str) -> Value | None:
        """Return a config value by its dotted name, None where this torch has no such value."""
        module = next((m for m in CONFIGS if name.startswith(m + ".")), None)
        if module is None:
            return None
        statements = _statements(self.text(CONFIGS[module]))
        node = statements.get(name.removeprefix(module + "."))
        return None if node is None else _value(node, statements)


@lru_cache(maxsize=64)
def _statements(text: str) -> dict[str, ast.expr]:
    """Return the values assigned in a module and in its classes, by dotted name; functions by name, too."""
    found: dict[str, ast.expr] = {}

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                found.setdefault(prefix + node.target.id, node.value)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(prefix + target.id, node.value)
            elif isinstance(node, ast.FunctionDef):
                found[f"{prefix}{node.name}()"] = ast.Constant(ast.unparse(node))

    walk(ast.parse(text).body, "")
    return found


def _value(node: ast.expr, statements: dict[str, ast.expr]) -> Value:
    """Read an assigned expression."""
    text = ast.unparse(node)
    for called in {
        n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }:
        body = statements.get(f"{called}()")
        text += " " + str(body.value) if isinstance(body, ast.Constant) else ""
    variables = tuple(
        dict.fromkeys(n for n in re.findall(r"['\"]([A-Z][A-Z0-9_]+)['\"]", text) if NAME.fullmatch(n))
    )
    alias = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Config":
        given = {k.arg: k.value for k in node.keywords}
        if isinstance(named := given.get("alias"), ast.Constant):
            alias = str(named.value)
        default = _default(given["default"]) if "default" in given else UNKNOWN
        return Value(default, variables, "config" if variables else None, alias)
    return Value(_default(node), variables, _reading(node, text) if variables else None)


def _reading(node: ast.expr, text: str) -> str:
    """Say how the text of the variable becomes a value."""
    if "get_tristate_env" in text:
        return "tristate"
    if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
        if node.comparators[0].value == "1":
            return "one"
        if node.comparators[0].value == "" and isinstance(node.ops[0], ast.NotEq):
            return "nonempty"
    if isinstance(node, ast.BoolOp) and all(_reading(v, "") == "one" for v in node.values):
        return "one"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return {"int": "number", "bool": "nonempty"}.get(node.func.id, "other")
    return "text" if isinstance(node, ast.Call) else "other"


def _default(node: ast.expr) -> object:
    """Return what an expression gives when no variable is set, outside of Meta."""
    match node:
        case ast.Constant(value):
            return value
        case ast.List() | ast.Dict() | ast.Tuple() | ast.UnaryOp(op=ast.USub()):
            try:
                return ast.literal_eval(node)
            except ValueError:
                return UNKNOWN
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="is_fbcode"))):
            return True
        case ast.Call(func=ast.Name(id="is_fbcode")):
            return False
        case ast.IfExp(test=test, body=body, orelse=orelse):
            decided = _default(test)
            return UNKNOWN if decided is UNKNOWN else _default(body if decided else orelse)
        case ast.Call(func=ast.Name(id="int" | "bool" as maker), args=[inner]):
            told = _default(inner)
            if told is UNKNOWN:
                return UNKNOWN
            return int(str(told)) if maker == "int" else bool(told)
        case ast.Call(func=ast.Name(id="get_tristate_env"), args=args):
            return _default(args[1]) if len(args) > 1 else None
        case ast.Call(func=ast.Attribute(attr="get" | "getenv"), args=args):
            return _default(args[1]) if len(args) > 1 else None
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            first, second = _default(left), _default(right)
            if UNKNOWN in (first, second):
                return UNKNOWN
            return (first == second) if isinstance(op, ast.Eq) else (first != second)
        case ast.BoolOp(op=ast.Or(), values=values):
            parts = [_default(v) for v in values]
            return UNKNOWN if UNKNOWN in parts else any(parts)
        case _:
            return UNKNOWN


@cache
def names_of(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return every variable-like word of Python files, headers and libraries with the files that name it."""
    found: dict[str, list[str]] = {}
    for pattern in ("**/*.py", "include/**/*.h", "include/**/*.hpp"):
        for path in folder.glob(pattern):
            name = path.relative_to(folder).as_posix()
            if not name.startswith(SKIPPED):
                for word in set(NAME.findall(path.read_text(errors="replace"))):
                    found.setdefault(word, []).append(name)
    strings = folder / "strings.txt"
    if strings.is_file():
        for line in strings.read_text().splitlines():
            library, word = line.split()
            found.setdefault(word, []).append(library)
    return {word: tuple(files) for word, files in found.items()}


def main() -> None:
    """Record."""
    from aoti_logs.settings import all_settings

    releases = dict(argument.split("=", 1) for argument in sys.argv[1:])
    wanted = {n for s in all_settings() for n in (s.name, s.config, *s.formerly) if n is not None}
    table: dict[str, dict[str, str]] = {}
    for release, folder in releases.items():
        torch, words = Torch(Path(folder)), names_of(Path(folder))
        for name in wanted:
            value = torch.config(name)
            if value is not None:
                told = f"alias of {value.alias}" if value.alias else repr(value.default)
                table.setdefault(name, {})[release] = told
            elif name in words:
                table.setdefault(name, {})[release] = "named"
    rows = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.items())]
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()

"""Which variables the experiments of rules set, and which rules name a setting: read from the rules' source with ast."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# (code, variable): why the rule does not set it although it calls a function that may.
NOT_SET = {("AL302", "CUDA_LAUNCH_BLOCKING"): "it asks wait_for_launches for ROCm's variable"}
RULES = Path(__file__).resolve().parent.parent / "aoti_logs" / "rules"
NAME = re.compile(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*_?")


@dataclass(frozen=True)
class Set:
    """An experiment that sets variables: where, which, and when it says that they take effect."""

    module: str
    function: str
    variables: frozenset[str]
    takes_effect: str


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((RULES / f"{module}.py").read_text())


def modules() -> list[str]:
    return sorted(path.stem for path in RULES.glob("*.py") if path.stem != "__init__")


@cache
def constants(module: str) -> dict[str, str]:
    """Texts that a module gives a name."""
    return {
        target.id: node.value.value
        for node in tree(module).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def texts(module: str, node: ast.AST) -> set[str]:
    """Variable-like texts of a node, constants of the module resolved."""
    given = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    given += [
        constants(module)[n.id]
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and n.id in constants(module)
    ]
    return {
        text
        for text in given
        if NAME.fullmatch(text) and len(text) > 4 and "_" in text + "_" * text.startswith("PYTHON")
    }


@cache
def functions(module: str) -> dict[str, ast.AST]:
    """Functions of a module; what stands outside of them is under the empty name."""
    found: dict[str, ast.AST] = {
        node.name: node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef)
    }
    rest = [n for n in tree(module).body if not isinstance(n, ast.FunctionDef | ast.ClassDef)]
    found[""] = ast.Module(body=rest, type_ignores=[])
    return found


@cache
def experiments() -> tuple[Set, ...]:
    """Every `Experiment(...)` that sets variables."""
    found = []
    for module in modules():
        for name, body in functions(module).items():
            for call in ast.walk(body):
                if not (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Name)
                    and call.func.id == "Experiment"
                ):
                    continue
                variables = call.args[1]
                effect = call.args[2]
                assert isinstance(effect, ast.Constant), f"{module}: takes_effect is no text"
                if isinstance(variables, ast.Tuple) and not variables.elts:
                    continue
                named = texts(module, variables)
                for called in (n for n in ast.walk(variables) if isinstance(n, ast.Call)):
                    if isinstance(called.func, ast.Name) and called.func.id in functions(module):
                        named |= texts(module, functions(module)[called.func.id])
                if not named:  # a local name that the function fills
                    named = texts(module, body)
                assert named, f"{module}.{name}: no variable found in {ast.unparse(variables)}"
                found.append(Set(module, name, frozenset(named), str(effect.value)))
    return tuple(found)


@cache
def imported(module: str) -> dict[str, tuple[str, str]]:
    """Names that a module takes from other modules of rules: (module, name there)."""
    return {
        alias.asname or alias.name: (node.module.rpartition(".")[2], alias.name)
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("aoti_logs.rules.")
        for alias in node.names
    }


@cache
def used(module: str, function: str) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(functions(module)[function]) if isinstance(n, ast.Name))


@cache
def set_by(module: str, function: str) -> frozenset[str]:
    """Variables that a function's experiments set, those of functions that it calls included."""
    return _set_by(module, function, frozenset())


def _set_by(module: str, function: str, seen: frozenset[tuple[str, str]]) -> frozenset[str]:
    if (module, function) in seen or function not in functions(module):
        return frozenset()
    seen |= {(module, function)}
    found = {v for e in experiments() if (e.module, e.function) == (module, function) for v in e.variables}
    for name in used(module, function):
        if name in imported(module):
            found |= _set_by(*imported(module)[name], seen)
        elif name in functions(module):
            found |= _set_by(module, name, seen)
    return frozenset(found)


@cache
def rules_of() -> dict[str, tuple[str, ...]]:
    """The codes of the rules that set a variable in an experiment, or name it on their page."""
    found: dict[str, set[str]] = {}
    for module in (m for m in modules() if re.match(r"al\d{3}_", m)):
        code = module[:5].upper()
        named = set(NAME.findall(ast.get_docstring(tree(module)) or ""))
        for function in functions(module):
            named |= set_by(module, function)
        for name in (n for n in named if (code, n) not in NOT_SET):
            found.setdefault(name, set()).add(code)
    return {name: tuple(sorted(codes)) for name, codes in found.items()}

"""What a wrapper says of its sizes, as plain values for the facts of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.code.model import CheckKind
from aoti_logs.code.sizes.definition import Sort, sort_of

if TYPE_CHECKING:
    from aoti_logs.code.view import ModelView


def sizes(view: ModelView) -> dict[str, str]:
    """Return where each symbol is read off an input, or computed from what is: `{"s28": "arg0_1_size[0]"}`."""
    aliases = symbol_aliases(view)
    return {
        name: text
        for name, text in _definitions(view).items()
        if sort_of(name) is not Sort.UNBACKED and name not in aliases and text not in view.inputs
    }


def symbol_aliases(view: ModelView) -> dict[str, str]:
    """Return the symbols that are other names of symbols: `{"s95": "s28"}`."""
    return {
        name: size.alias_of
        for name, size in view.sizes.items()
        if size.alias_of is not None
        and sort_of(name) is not Sort.VARIABLE
        and sort_of(size.alias_of) is not Sort.VARIABLE
    }


def symbols_from_inputs(view: ModelView) -> dict[str, str]:
    """Return the symbols that an input carries as a number: `{"s23": "arg1_1"}`."""
    return {name: text for name, text in _definitions(view).items() if text in view.inputs}


def unbacked_symbols(view: ModelView) -> dict[str, str]:
    """Return the symbols that only data knows: `{"u0": "buf2.size(0)"}`."""
    aliases = symbol_aliases(view)
    return {
        name: text
        for name, text in _definitions(view).items()
        if sort_of(name) is Sort.UNBACKED and name not in aliases and text not in view.inputs
    }


def _definitions(view: ModelView) -> dict[str, str]:
    return {
        name: view.symbols.definition(size)
        for name, size in view.sizes.items()
        if sort_of(name) is not Sort.VARIABLE
    }


def hints(view: ModelView) -> dict[str, int]:
    """Return the example's value of each input that carries a number: `{"arg1_1": 5}`."""
    examples = view.examples
    return {
        i.name: value
        for i in view.wrapper.inputs
        if i.scalar and i.name in examples and (value := examples[i.name].value) is not None
    }


def input_ranges(view: ModelView) -> list[dict[str, Any]]:
    """Return what is tested of each dimension of the inputs.

    `compiled_range` is smallest and largest size (null is no limit), `expected_value` the only one.
    """
    found: list[dict[str, Any]] = []
    for dim in view.input_dims:
        row = {"input_index": dim.input.index, "dim": dim.dim}
        if dim.expected is not None:
            found.append(row | {"expected_value": dim.expected})
        elif dim.compiled_range is not None:
            found.append(row | {"compiled_range": list(dim.compiled_range)})
    return found


def scalar_asserts(view: ModelView) -> list[str]:
    """Return what assertions about numbers say when they fail, each text once: `Expected u0 <= 4096`.

    The Python wrapper prints the condition alone.
    """
    python = view.wrapper.flavour == "jit_python"
    said = (c.expected for c in view.wrapper.checks if c.kind is CheckKind.RUNTIME_ASSERT)
    return list(dict.fromkeys(text if python else f"Expected {text}" for text in said))


def outputs(view: ModelView) -> list[dict[str, Any]]:
    """Return the buffer of each output, in order."""
    return [{"index": n, "buffer": name} for n, name in enumerate(view.wrapper.outputs)]


def size_facts(view: ModelView) -> dict[str, Any]:
    """Return all of these under the names of the functions, those that say nothing left out."""
    made = {
        "sizes": sizes(view),
        "symbol_aliases": symbol_aliases(view),
        "symbols_from_inputs": symbols_from_inputs(view),
        "unbacked_symbols": unbacked_symbols(view),
        "hints": hints(view),
        "input_ranges": input_ranges(view),
        "scalar_asserts": scalar_asserts(view),
        "outputs": outputs(view),
        "n_outputs": len(view.wrapper.outputs),
    }
    return {key: value for key, value in made.items() if value}

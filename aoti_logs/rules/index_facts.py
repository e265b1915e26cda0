"""Plain facts of an index case, under the keys of the explanation contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.code.model import ArgumentKind
from aoti_logs.code.names.fused_operators import fused_operators
from aoti_logs.rules.agreement import agreed
from aoti_logs.rules.wording import extremes, main_index

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.case_parts import BoundTerm
    from aoti_logs.code.view import Tensor
    from aoti_logs.parse.events import LogEvents


def facts_of(case: IndexCase, events: LogEvents) -> dict[str, Any]:
    """Return everything that was found, as plain values."""
    assertion, text = case.assertion, case.assertion.text
    facts: dict[str, Any] = {
        "assertion": text.full if text else assertion.message,
        "message": assertion.message,
        "file": assertion.file,
        "line": assertion.line,
        "function": assertion.function,
        "n_assert_lines": assertion.count,
        "device": _device(case),
    }
    if text is not None:
        facts |= {
            "operand": text.operand,
            "operand_tmp": text.operand_name,
            "lower": text.lower,
            "bound_text": text.bound,
            "bound_kind": text.bound_kind,
            "bound_value": text.bound_value,
            "bound_symbols": list(text.bound_symbols),
            "one_sided": text.one_sided,
        }
    if assertion.n_threads:
        facts |= {
            "n_threads": assertion.n_threads,
            "n_blocks": assertion.n_blocks,
            "threads": [t[0] if t[1:] == (0, 0) else list(t) for t in assertion.threads],
            "blocks": [list(b) for b in assertion.blocks],
            "n_assert_records": assertion.count,
        }
    if case.threads is not None:
        facts["threads_in_these_blocks"] = case.threads
    if assertion.file:
        facts["generated_file"] = _is_generated(assertion.file)
    facts |= _agreed_facts(case)
    facts |= _run_facts(case, events)
    return facts


def _agreed_facts(case: IndexCase) -> dict[str, Any]:
    """Return what is true whichever of the checks and launches at hand it was."""
    if case.more:
        return _kernel_facts(case)
    facts = _code_facts(case)
    for other in case.others:
        facts = agreed(facts, _code_facts(other))
    return facts


def _device(case: IndexCase) -> str:
    return {"cuda": "cuda", "hip": "hip", "xpu": "xpu"}.get(str(case.assertion.form), "cpu")


def _is_generated(path: str) -> bool:
    name = path.replace("\\", "/").rpartition("/")[2]
    stem = name.partition(".")[0]
    return len(stem) == 52 and stem.startswith("c") and stem.isalnum() and name.endswith((".py", ".cpp"))


def _kernel_facts(case: IndexCase) -> dict[str, Any]:
    kernels = list(dict.fromkeys(s.kernel.name for s in case.sites))
    return {"kernel": kernels[0] if len(kernels) == 1 else None, "kernel_candidates": kernels}


def _code_facts(case: IndexCase) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if case.site is not None:
        facts |= _kernel_facts(case)
        facts["kernel_source"] = str(case.site.kernel.source.place(case.site.line))
        if facts["kernel"] == "kernel" and case.launch is not None:
            facts["kernel"] = case.launch.kernel
    elif (
        case.assertion.function
        and case.assertion.function not in {"unknown", "kernel"}
        and _device(case) == "cpu"
    ):
        facts["kernel"] = case.assertion.function
    operators = fused_operators(str(facts.get("kernel")))
    if operators is not None:
        facts["kernel_ops"] = list(operators)
    if case.view is not None:
        facts["wrapper"] = case.view.wrapper.source.name
        calls = [call.kernel for call in case.view.wrapper.calls if not call.checked]
        if calls:
            facts["unchecked_shim_calls"] = list(dict.fromkeys(calls))
    if case.launches:
        facts["launches"] = sorted(k.index for k in case.launches)
    if case.bound is not None:
        facts |= _bound_facts(case)
    if case.slice is not None:
        facts["wraps_negative"] = case.slice.wraps is not None
    if case.index:
        facts["index_from"] = _index_facts(case)
        source = main_index(case)
        roots = [t for t in source.roots if t.kind is ArgumentKind.INPUT] if source else []
        if len(roots) == 1:
            facts["index_root"] = _tensor_facts(roots[0])
        elif roots:
            facts["index_roots"] = [_tensor_facts(t) for t in roots]
    if case.indexed:
        first = case.indexed[0]
        facts["indexed"] = {
            "arg": first.tensor.arg,
            "name": first.tensor.name,
            "dim": first.dim,
            "rows": first.rows,
        }
        if len(case.indexed) > 1:
            facts["also_indexed"] = [i.tensor.shown for i in case.indexed[1:]]
    if case.python:
        first_line = case.python[0]
        facts["python_line"] = first_line.code.strip()
        facts["python_file"] = first_line.file
        facts["python_line_number"] = first_line.line
        if len(case.python) > 1:
            facts["python_candidates"] = [f"{p.file}:{p.line}: {p.code.strip()}" for p in case.python]
    return facts


def _bound_facts(case: IndexCase) -> dict[str, Any]:
    assert case.bound is not None
    if case.bound.value is not None:
        target = case.indexed[0] if case.indexed else None
        meaning = None
        if target is not None and target.rows == str(case.bound.value):
            unit = "rows" if not target.dim else f"dimension {target.dim}"
            meaning = f"{unit} of {target.tensor.shown}"
        return {"literal_bound": {"value": case.bound.value, "meaning": meaning}}
    terms = [_term_facts(t) for t in case.bound.terms]
    if not terms:
        return {}
    return {"bound": terms[0]} if len(terms) == 1 else {"bound": {"text": case.bound.text}, "bounds": terms}


def _term_facts(term: BoundTerm) -> dict[str, Any]:
    last = term.chain[-1] if term.chain else None
    return {
        "param": term.param,
        "symbol": term.symbol,
        "alias_of": last.symbol if last and last.symbol != term.symbol else None,
        "argument": term.argument.text,
        "input_index": term.tensor.input_index if term.tensor else None,
        "arg": term.tensor.arg if term.tensor and term.tensor.kind is ArgumentKind.INPUT else None,
        "input_name": term.tensor.name if term.tensor else None,
        "dim": term.dim,
        "compiled_range": [term.lower, term.upper] if term.has_range else None,
        "value": term.known.value if term.known else None,
    }


def _index_facts(case: IndexCase) -> dict[str, Any]:
    source = main_index(case)
    if source is None:
        return {}
    if source.loop is not None:
        return {
            "loop_variable": source.loop,
            "extent": str(source.extent) if source.extent is not None else None,
            "extent_of": source.extent_terms[0].shown if source.extent_terms else None,
        }
    facts: dict[str, Any] = {"param": source.ptr}
    if source.tensor is not None:
        facts |= _tensor_facts(source.tensor)
    if source.produced_by is not None:
        facts["produced_by"] = source.produced_by.kernel
    return facts


def _tensor_facts(tensor: Tensor) -> dict[str, Any]:
    named = tensor.kind is ArgumentKind.INPUT
    return {
        "arg": tensor.arg,
        "input_index": tensor.input_index,
        "input_name": tensor.name if named else None,
        "constant": tensor.name if tensor.kind is ArgumentKind.CONSTANT else None,
    }


def _run_facts(case: IndexCase, events: LogEvents) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if events.stacks:
        from aoti_logs.rules.stack_facts import stack_facts

        facts = stack_facts(events.stacks)
    if case.assertion.rank is not None:
        facts["rank"] = case.assertion.rank
    for error in events.errors:
        if error.raised_from is not None and error.assertion is not None:
            raised = error.raised_from
            facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
            facts["source_file"] = raised.file
            break
    types = [
        e.exception_type
        for e in events.errors
        if e.exception_type and e.span.start >= case.assertion.first.start
    ]
    types = types or [e.exception_type for e in events.errors if e.exception_type]
    if types:
        facts["exception_type"] = types[0]
        facts["exception_types"] = list(dict.fromkeys(types))
    facts["terminate"] = any(e.form == "terminate" for e in events.errors)
    signals = [e.signal for e in events.errors if e.signal]
    if signals:
        facts["signal"] = signals[0]
    for note in events.notes:
        told = dict(note.facts)
        if note.kind == "command" and told.get("CUDA_LAUNCH_BLOCKING", "0") not in {"", "0"}:
            facts["launch_blocking"] = True
        if note.kind == "exit" and told.get("code", "").lstrip("-").isdigit():
            facts["exit_code"] = int(told["code"])
    return facts | _dump_facts(case, events)


def _dump_facts(case: IndexCase, events: LogEvents) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if not events.dumps:
        return facts
    started = case.numbers.last_started()
    if started is not None:
        facts["last_started_kernel"] = started.kernel
        ended = [d.kernel for d in case.numbers.dumps if d.phase == "after_launch"]
        begun = [d.kernel for d in case.numbers.dumps if d.phase == "before_launch"]
        facts["unfinished_kernels"] = [k for k in dict.fromkeys(begun) if k not in ended]
    facts["n_records"] = len(events.dumps)
    _, highest = extremes(case)
    lowest, _ = extremes(case)
    if highest is not None:
        facts["index_max_printed"] = highest.value
    if lowest is not None:
        facts["index_min_printed"] = lowest.value
    target = case.indexed[0] if case.indexed else None
    if target is not None:
        shape = next(
            (d.shape for d in reversed(case.numbers.dumps) if d.argument == target.tensor.arg and d.shape),
            None,
        )
        if shape is not None:
            facts["indexed_size"] = list(shape)
    return facts

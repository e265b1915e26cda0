"""The chain of an index case: one quoted link a step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.index.locate import Site
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.explain import Confidence, Link, weakest
from aoti_logs.parse.asserts.threads import KEEP
from aoti_logs.rules.exactness import is_exact
from aoti_logs.rules.wording import main_index, range_text, tensor_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.case_parts import BoundTerm, Indexed
    from aoti_logs.code.model import Launch
    from aoti_logs.parse.facts import GraphNode
    from aoti_logs.sources.source import Source

_WIDE = 400
_SHOWN = 4
_LONGEST_GIVEN = 40
_STATEMENT = 12  # lines


def links_of(case: IndexCase) -> tuple[Link, ...]:
    """Return the links in the order in which a person follows them."""
    behind = [*_sizes(case), *_index(case), *_indexed(case), *_others(case), *_python(case)]
    return (
        _assertion(case),
        *_kernels(case),
        *_launches(case),
        *(replace(link, strength=weakest(link.strength, case.strength)) for link in behind),
    )


def _others(case: IndexCase) -> Iterator[Link]:
    """Quote index and indexed tensor of the other places that fit as well."""
    seen = {(link.place, link.details) for link in (*_index(case), *_indexed(case))}
    for other in case.others[: _SHOWN - 1]:
        for link in (*_index(other), *_indexed(other)):
            if (link.place, link.details) not in seen:
                seen.add((link.place, link.details))
                yield link


def _assertion(case: IndexCase) -> Link:
    assertion = case.assertion
    # A GPU prints `unknown` for every kernel of Triton: as the name of a function it would read like a verdict.
    function = f" {assertion.function}" if assertion.function not in {None, "unknown"} else ""
    where = f"{assertion.file}:{assertion.line}{function}" if assertion.file else ""
    if not assertion.line and where:
        where = f"names no line of a file: `{where}`"
    details = (count_text(case),) if case.site is not None or not where else (where, count_text(case))
    return Link("assertion", assertion.message, assertion.first.place, details=details)


def count_text(case: IndexCase) -> str:
    """Say how often it was printed: threads and blocks on a GPU, printings on a CPU."""
    a = case.assertion
    if a.n_threads:
        blocks = (
            f"block {list(a.blocks[0])}" if len(a.blocks) == 1 == a.n_blocks else f"{a.n_blocks:,} blocks"
        )
        threads = f"{_threads(case)} in {blocks}{_of_each(case)}"
        again = f", {a.count:,} lines" if a.count != a.n_threads else ""
        return f"{threads}{again}, one condition"
    if a.count > 2:
        return f"printed {a.count} times; if that is several failures, what is said here is of the first"
    return f"printed {a.count} times, one failure" if a.count > 1 else "printed once"


def _threads(case: IndexCase) -> str:
    """Count the threads, against all of these blocks where the launch tells how many that are."""
    failed, together = case.assertion.n_threads, case.threads
    if together is None or _of_each(case):
        return f"{failed:,} thread{'s' * (failed != 1)}"
    return f"all {failed:,} threads" if failed == together else f"{failed:,} of {together:,} threads"


def _of_each(case: IndexCase) -> str:
    """Say how many threads of each block failed, where it is the same threads of each."""
    a = case.assertion
    if case.threads is None or a.n_blocks < 2 or len(a.threads) == KEEP:
        return ""
    own, there = len(a.threads), case.threads // a.n_blocks
    if own * a.n_blocks != a.n_threads:
        return ""
    return f" ({'all' if own == there else f'{own} of'} {there} of each)"


def _quote(source: Source, line: int) -> str:
    text = source.line_text(line).strip()
    return text if len(text) <= _WIDE else text[:_WIDE] + " ..."


def _kernels(case: IndexCase) -> Iterator[Link]:
    kernels: dict[tuple[str, str, int], Site] = {}
    for site in case.sites:
        kernels.setdefault((site.kernel.name, site.kernel.source.name, site.line), site)
    for number, site in enumerate(kernels.values()):
        if number == _SHOWN:
            yield Link("kernel", f"and {len(kernels) - _SHOWN} more", None, Confidence.POSSIBLE)
            return
        name = site.kernel.name
        own = site.line - site.kernel.first_line + 1
        where = f"{name}, line {own}" if site.kernel.backend is Backend.TRITON else name
        quote = f"{site.line} | {_quote(site.kernel.source, site.line)}"
        place = site.kernel.source.place(site.line)
        told = site.strength is Confidence.PROVEN and site.kernel.backend is not Backend.TRITON
        yield Link("kernel", where, place, site.strength, (quote,) if told else (quote, site.why))


def _launches(case: IndexCase) -> Iterator[Link]:
    if case.site is None or case.site.wrapper is None:
        return
    wrappers = {s.wrapper.source.name: s for s in case.sites if s.wrapper is not None}
    if len(wrappers) > 1:
        for name, site in list(wrappers.items())[1 : _SHOWN + 1]:
            yield Link(
                "wrapper",
                f"{name} launches {site.kernel.name} too",
                site.kernel.source.place(site.line),
                Confidence.POSSIBLE,
            )
    strength = weakest(case.launch_strength, case.site.wrapper_strength, case.site.strength)
    for number, launch in enumerate(case.launches):
        if number == _SHOWN:
            yield Link("launch", f"and {len(case.launches) - _SHOWN} more", None, Confidence.POSSIBLE)
            return
        place = case.site.wrapper.source.place(launch.line)
        marks = _carets(case, launch) if number == 0 else ()
        why = case.launch_why if len(case.launches) > 1 else case.site.wrapper_why
        reason = () if strength is Confidence.PROVEN and len(case.launches) == 1 else (why,)
        given: tuple[str, ...] = ()
        if len(case.launches) > 1:
            given = (", ".join(f"{a.param} = {a.name}" for a in launch.arguments if a.param and a.name),)
        yield Link("launch", one_line(launch.text), place, strength, (*marks, *given, *reason))


def one_line(text: str) -> str:
    """Fold a call into one line."""
    return " ".join(text.split())


def _carets(case: IndexCase, launch: Launch) -> tuple[str, ...]:
    """Mark the argument that is the bound under the call."""
    if case.bound is None or not case.bound.terms:
        return ()
    term = case.bound.terms[0]
    text = one_line(launch.text)
    before = [a for a in launch.arguments if a.position < term.argument.position]
    at = text.find("(") + 1
    for argument in (*before, term.argument):
        folded = one_line(argument.text)
        found = text.find(folded, at)
        if found < 0:
            return (f"{term.argument.text} is {term.param}",)
        if argument is term.argument:
            given = one_line(term.argument.text)
            given = given if len(given) <= _LONGEST_GIVEN else given[:_LONGEST_GIVEN] + "..."
            said = f"{term.param} = {given}, argument {len(before) + 1}"
            return (" " * found + "^" * len(folded) + f" {said}",)
        at = found + len(folded)
    return ()


def _sizes(case: IndexCase) -> Iterator[Link]:
    terms = list(case.bound.terms) if case.bound is not None else []
    for source in case.index:
        terms += source.extent_terms
    done: set[str] = set()
    for term in terms:
        key = f"{term.symbol}/{term.tensor.arg if term.tensor else ''}"
        if case.view is None or key in done:
            continue
        done.add(key)
        yield from _size(case, term)


def _size(case: IndexCase, term: BoundTerm) -> Iterator[Link]:
    assert case.view is not None
    source = case.view.wrapper.source
    for size in term.chain:
        yield Link("size", one_line(size.text) or size.symbol, source.place(size.line))
    if term.tensor is not None and term.tensor.kind is ArgumentKind.INPUT:
        yield _input_link(case, term.tensor.arg)
    if term.has_range:
        yield _range(case, term)
    if term.known is not None:
        yield Link("value", term.known.text, term.known.place, term.known.strength)


def _input_link(case: IndexCase, arg: str) -> Link:
    assert case.view is not None
    entry, name = case.view.inputs[arg], case.view.names.get(arg)
    source = case.view.wrapper.source
    text = _quote(source, entry.line)
    details: tuple[str, ...] = ()
    strength = Confidence.PROVEN
    if name is not None:
        details = (f"input {entry.index} is `{name.name}` ({name.place})",)
        strength = name.strength
    return Link("input", text, source.place(entry.line), strength, details)


def _range(case: IndexCase, term: BoundTerm) -> Link:
    details = []
    assert case.view is not None
    for check in term.checks:
        gate = "runs only with AOTI_RUNTIME_CHECK_INPUTS" if check.gated else "always runs"
        details.append(
            f"{case.view.wrapper.source.place(check.line)}  {one_line(check.text)[:120]}  ({gate})"
        )
    if term.announced is not None:
        text = f"{term.announced.symbol} = {term.announced.origin} compiled for {range_text(term)}"
        return Link("range", text, term.announced.place, term.range_strength, tuple(details))
    first = term.checks[0]
    return Link(
        "range",
        f"{term.symbol} compiled for {range_text(term)}",
        case.view.wrapper.source.place(first.line),
        details=tuple(details),
    )


def _index(case: IndexCase) -> Iterator[Link]:
    if case.slice is None or case.site is None:
        return
    source = case.site.kernel.source
    value = str(case.slice.value)
    value = (
        value
        if len(value) <= 100
        else "arithmetic on " + ", ".join(sorted({str(ld) for ld in case.slice.loads}))
    )
    head = f"{case.slice.operand} = {value}" if value != case.slice.operand else f"{value}, a loop variable"
    if case.slice.wraps is not None:
        head += f", with {case.slice.wraps} added when negative"
    lines = [n for n in case.slice.steps if n < case.slice.check.line]
    place = source.place(lines[0] if lines else case.slice.check.line, case.slice.check.line)
    main = main_index(case)
    details = []
    for item in case.index:
        if item.tensor is not None:
            text = f"{item.ptr} is {item.tensor.arg}"
            text += f", {tensor_name(item.tensor)}" if item.tensor.name else ""
            if item.produced_by is not None and case.view is not None:
                where = case.view.wrapper.source.place(item.produced_by.line)
                roots = ", ".join(tensor_name(t) for t in item.roots) or "what was not followed further"
                text += f", made by {item.produced_by.kernel} ({where}) from {roots}"
            details.append(text)
        elif item.loop is not None:
            sizes = "".join(f"; {t.param} is {t.symbol}, `{t.shown}`" for t in item.extent_terms)
            limit = (
                f"it runs from 0 below {item.extent}" if item.extent is not None else "its end is not known"
            )
            details.append(limit + sizes)
    if case.index and case.index[0].tensor is not None and not is_exact(case):
        details.append("a cast or a floating-point number on the way may change the value")
    strength = Confidence.PROVEN if main is not None and not case.slice.unread_lines else Confidence.POSSIBLE
    yield Link("index", head, place, strength, tuple(details))
    yield from _dumped(case)


def _dumped(case: IndexCase) -> Iterator[Link]:
    from aoti_logs.rules.wording import extremes

    lowest, highest = extremes(case)
    for known in (lowest, highest):
        if known is not None:
            yield Link("value", known.text, known.place, known.strength)


def _indexed(case: IndexCase) -> Iterator[Link]:
    if case.site is None:
        return
    source = case.site.kernel.source
    for item in case.indexed[:_SHOWN]:
        verb = "writes" if item.write else "reads"
        name = tensor_name(item.tensor)
        rows = f", dimension {item.dim} of {item.rows}" if item.dim is not None else ""
        text = (
            f"{verb} {item.ptr}, which is {item.tensor.arg}"
            + (f" = {name}" if item.tensor.name else "")
            + rows
        )
        yield Link("indexed", text, source.place(item.line), details=(_access(source, item),))


def _access(source: Source, item: Indexed) -> str:
    """Quote the line that reads or writes; a statement of vectorised C++ has it some lines below its first."""
    first = _quote(source, item.line)
    for line in range(item.line + 1, item.line + _STATEMENT) if first.endswith("=") else ():
        text = _quote(source, line)
        if f"{item.ptr}[" in text or f"{item.ptr} +" in text:
            return f"{line} | {text}"
        if text == ";":
            break
    return first


def _python(case: IndexCase) -> Iterator[Link]:
    for line in case.python[:_SHOWN]:
        function = f" in {line.function}" if line.function else ""
        text = f"{line.file}:{line.line}{function}: {line.code.strip()}"
        yield Link("python", text, line.place, line.strength, (line.why, *_used(line.used_at)))


def _used(node: GraphNode | None) -> Iterator[str]:
    """Name the user's own line that reads the result of a library's line."""
    if node is not None:
        function = f" in {node.function}" if node.function else ""
        code = f": {node.code.strip()}" if node.code else ""
        yield f"its result is used at {node.file}:{node.line}{function}{code} ({node.place})"

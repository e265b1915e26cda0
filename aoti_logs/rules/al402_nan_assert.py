"""A check of generated code found NaN or an infinity.

## What it says
Which tensor was checked (an input of the model, an argument of a Triton kernel after its launch, a value that
`torch.compile` returns), whether it held NaN or an infinity, and where the check stands in the generated code. With the
wrapper at hand also which launch it stands behind, and which call wrote the tensor.

## Why it matters
The checks are compiled in by `TORCHINDUCTOR_NAN_ASSERTS=1`. In C++ they raise `At least one NaN in buf1`; in Python
they are bare asserts, and the exception has no text at all: the line of the traceback is all there is. They check less than
their name says, so that what they let pass is not free of NaN.

## What is checked
Read in generated code of torch 2.6, 2.9 and 2.13 on CPU and 2.11 on a GPU:

| wrapper | inputs | after a Triton kernel | CPU kernels, extern calls | return values |
|---|---|---|---|---|
| AOTInductor | 2.13, not 2.11 and earlier | each of its tensors | no | no |
| torch.compile | yes | each of its tensors | no | 2.9 and later, not 2.6 |

A Triton kernel is followed by checks of all tensors that it is given, weights among them, where Inductor fused it: templates
(max-autotune), combined kernels and kernels of the user have none (`_inductor/codegen/simd.py` of torch 2.13). Other weights of a package are
never checked.

Where only Triton kernels are checked, a NaN that a matrix product makes is found after the first Triton kernel
that is given it. On CPU nothing between inputs and return values is checked. `var` is the variable of a loop over all
values that are returned: the line does not tell which of them it was. `TORCHINDUCTOR_RUNTIME_TRITON_NAN_ASSERTS=1` is
another switch: it checks every value inside of Triton kernels, and fails as a device-side assert, `NaN or Inf found`.

## When the check itself fails
`isnan` and `isinf` know no numbers of 8 bits: a tensor of float8 makes the check raise `"isinf" not implemented for
'Float8_e4m3fn'` (torch 2.13). The model would have run, and whether its values are finite is not known. In C++ the line
`aoti_torch_check_inf_and_nan(...) API call failed` is the same for both: the text after it says which. Where that text is lost, "holds
NaN" is likely, and no more.

## Example
```
RuntimeError: At least one NaN in buf1
    assert not var.isnan().any().item()
AssertionError
```

## Evidence it needs
The error. The wrapper says which input it is and which kernel the check stands behind; a trace or an exported program
says what the user calls that input.

## What to do
For an input: look at the data that the model is given. For a kernel's argument or a return value: compile with
`AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2`, which prints every argument before and after each launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.commands import COMPILES, SAME_COMMAND
from aoti_logs.explain import Confidence, Experiment, Link, Missing
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.nan_check import candidates, check_site, nan_check, position
from aoti_logs.rules.nan_check_failed import other_words, unreadable
from aoti_logs.rules.nan_operations import nan_operations
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.nan_check import CheckSite, NanCheck

_SHOWN = 8
PRINTER = "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Return what a failed check says, or None."""
    check = nan_check(case.error, case.group, case.evidence)
    if check is None:
        return unreadable(case, None)
    only_call = check.checked_by is not None and check.check is None
    if only_call and other_words(case) is not None:
        return unreadable(case, check)
    site = check_site(check, case.evidence)
    where = position(check, site)
    named = list(candidates(site))
    by_name = where == "input" and site is None
    missing = []
    if site is None:
        what = "the generated code, which says " + (
            "which input it is" if where == "input" else "what wrote the value that was checked"
        )
        missing.append(
            Missing(
                what, "keep TORCHINDUCTOR_CACHE_DIR or TORCH_TRACE of the compile, and pass it with --context"
            )
        )
    return ErrorTold(
        "AL402",
        "nan_assert",
        _title(check, site, where),
        Confidence.LIKELY if by_name or only_call else Confidence.PROVEN,
        because=tuple(_because(check, site, where)),
        links=tuple(_links(check, site)),
        facts=_facts(check, site, where, named),
        notes=(_COVERS["c++" if check.checked_by else "python"],),
        missing=tuple(missing),
        experiments=() if where == "input" else (_print_values(),),
        doubt=_ONLY_CALL
        if only_call
        else "that it is an input is told by its name alone"
        if by_name
        else None,
    )


_ONLY_CALL = "the text that says what was found is not in this log; the call fails, too, when it cannot read the tensor"
_COVERS = {
    "c++": "these checks cover the arguments of Triton kernels and, in newer releases, inputs; CPU kernels, extern calls and outputs are "
    "not checked, so a run that passes may still return NaN",
    "python": "these checks cover inputs, arguments of Triton kernels and returned values; nothing else between them is checked on CPU",
}


def _title(check: NanCheck, site: CheckSite | None, where: str) -> str:
    if where == "return value":
        named = list(candidates(site))
        only = f", `{named[0]}`," if len(named) == 1 else ""
        return f"{'the' if only else 'a'} value that the compiled code returns{only} holds {check.words}"
    if where == "input" and site is None:
        return f"`{check.name}`, which is an input of the model by its name, holds {check.words}"
    if where == "input":
        user = site.view.named(check.name).name if site is not None else None
        shown = f"`{user}` (`{check.name}`)" if user else f"`{check.name}`"
        return f"the model was given {check.words} in its input {shown}"
    behind = (
        f" after the launch of `{site.kernel.kernel}`" if site is not None and site.kernel is not None else ""
    )
    return f"`{check.name}` holds {check.words}{behind}"


def _because(check: NanCheck, site: CheckSite | None, where: str) -> list[str]:
    found = []
    if where == "return value":
        named = list(candidates(site))
        if len(named) == 1:
            found.append(f"`var` runs over all returned values, of which there is one, `{named[0]}`")
        else:
            shown = f": one of {', '.join(named[:_SHOWN])}" if named else ""
            more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
            found.append(
                f"`var` runs over all returned values, so this line does not say which one it was{shown}{more}"
            )
    if site is not None and site.passed:
        checks = "1 check" if site.passed == 1 else f"{site.passed} checks"
        found.append(f"{checks} above it in the same function did not fail")
    if where == "kernel argument" and site is not None:
        producer = site.producer(check.name)
        if producer is not None and site.kernel is not None and producer.index != site.kernel.index:
            found.append(
                f"`{check.name}` was written before that launch, by `{producer.kernel}`, behind which nothing is checked"
            )
    if check.checked_by is None:
        found.append("it is a bare assert of the generated code: the exception has no text")
    return found


def _links(check: NanCheck, site: CheckSite | None) -> list[Link]:
    links = [Link("error", error.message, error.span.place) for error in check.errors[1:3]]
    if site is None:
        return links
    links.append(Link("check", site.text, site.place))
    if site.kernel is not None:
        source = site.view.wrapper.source
        nodes = ("from " + ", ".join(site.kernel.source_nodes),) if site.kernel.source_nodes else ()
        links.append(Link("launch", site.kernel.text, source.place(site.kernel.line), details=nodes))
        producer = site.producer(check.name)
        if producer is not None and producer.index != site.kernel.index:
            links.append(Link("written by", producer.text, source.place(producer.line)))
        if producer is not None and check.check != "isinf":
            links += nan_operations(producer.kernel, site.view)
    user = site.view.names.get(check.name)
    if user is not None and site.kernel is None:
        links.append(Link("input", f"{check.name} is {user.name}: {user.why}", user.place, user.strength))
    return links


def _facts(check: NanCheck, site: CheckSite | None, where: str, named: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {"check": check.check, "variable": check.name, "position": where}
    if check.checked_by is None:
        facts |= {"file": check.file, "line": check.line, "function": check.function, "exception_message": ""}
    else:
        said = next((e.message for e in check.errors if e.message.startswith("At least one")), None)
        facts |= {
            "buffer": check.name,
            "checked_by": check.checked_by,
            "wrapper_file": check.file,
            "wrapper_line": check.line,
        }
        raised = next((e.exception_type for e in check.errors if e.exception_type), None)
        if said is not None:
            facts["message"] = said
        if raised is not None:
            facts["exception_type"] = raised
    if named:
        facts["candidates"] = named
    if site is not None:
        if site.kernel is not None:
            facts["kernel"] = site.kernel.kernel
            producer = site.producer(check.name)
            facts["produced_by"] = producer.kernel if producer is not None else None
        tensor = site.view.named(check.name)
        if tensor.input_index is not None:
            facts |= {"input_index": tensor.input_index, "input_name": tensor.name}
    return facts


def _print_values() -> Experiment:
    return Experiment(
        f"{COMPILES} && {SAME_COMMAND}",
        ((PRINTER, "2"),),
        "compile",
        "every argument is printed before and after each launch: the first NaN after a launch shows which call makes it",
        f"torch/_inductor/codegen/debug_utils.py writes the printing calls into the generated code; {PRINTER} does nothing to a package that exists",
    )


RULE = Rule("AL402", "nan-assert", __doc__ or "")

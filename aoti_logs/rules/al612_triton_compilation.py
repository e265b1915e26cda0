"""Triton refused a kernel.

## What it says
Which kernel, at which line and column of its source, what Triton says, and the line that it points at. Where MLIR,
LLVM or `ptxas` refused it, what that program said.

## Why it matters
The exception goes through several others before it is printed: `BackendCompilerFailed`, `SubprocException`, a
traceback of a worker process in a message. The one line that says what is wrong is the last but a few of hundreds.

## Example
`CompilationError: at 56:48:` with `NameError('XBLOCK is not defined')`: the generated kernel uses a name that it does
not define.

## Evidence it needs
The text of the exception, in a log or in the metrics of a trace. torch prints the whole kernel through its logger
(`Triton compilation failed: NAME`); bounds checks in that source have not failed.

## What to do
A kernel that torch generated: a bug of Inductor; compile with `backend="aot_eager"` until it is mended, and report it
with the printed kernel. A kernel of your own: mend the line. `ptxas` that does not know the device: point
`TRITON_PTXAS_PATH` to a newer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment, Link, Missing
from aoti_logs.parse.compiles.failure import TritonError
from aoti_logs.parse.errors.triton_error import backend_of, kernel_name, stage_of
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.rules.failure_case import FailureCase

_WHO = {
    "ptxas": "ptxas refuses",
    "passes": "a pass of Triton's compiler fails on",
    "codegen": "the device's compiler refuses",
}
_UNKNOWN_DEVICE = "is not defined for option 'gpu-name'"


def tell(case: FailureCase) -> Told:
    """Say what Triton says of which line."""
    failure = case.failure
    error = failure.detail if isinstance(failure.detail, TritonError) else None
    kernel = kernel_name(failure.text) or case.facts.get("kernel")
    name = f"kernel `{kernel}`" if kernel else "a kernel"
    if error is None:
        return Told(f"Triton cannot compile {name}: {failure.message}", facts={"kernel": kernel})
    who = _WHO.get(error.form, "Triton cannot compile")
    where = f" at line {error.line}" if error.line is not None else ""
    said = error.said or failure.message
    cut = "; what it says is cut off" if error.form == "source" else ""
    links = tuple(_links(case, error))
    return Told(
        f"{who} {name}{where}: {said}" if error.said or error.line is None else f"{who} {name}{where}{cut}",
        because=tuple(_because(error)),
        links=links,
        facts={
            **({"kernel": kernel} if kernel else {}),
            "kernel_line": error.line,
            "kernel_col": error.column,
            "inner_error": error.inner or (error.said or None),
            "undefined_name": error.undefined,
            "root_exception": failure.inner[-1] if failure.inner else failure.exception_type,
            "form": error.form,
            "compiler_messages": list(error.messages),
            "command": error.command,
            "triton_backend": backend_of(failure.text),
            "failed_stage": stage_of(failure.text),
        },
        decide=tuple(_decide(error, kernel, said=case.facts.get("mlir_error"))),
        missing=_missing(error, kernel),
        fixes=_fixes(error),
        experiments=tuple(_experiments(error)),
    )


def _links(case: FailureCase, error: TritonError) -> Iterator[Link]:
    text = case.failure.text
    if error.excerpt:
        first = text.find("\n".join(error.excerpt[:1]))
        at = text.find(f"at {error.line}:{error.column}:")
        row = text.count("\n", 0, max(at, first if at < 0 else at)) + len(error.excerpt)
        shown = error.excerpt[-1]
        yield Link(
            "kernel",
            shown.strip(),
            case.place_of(row),
            details=(f"line {error.line}, column {error.column} of the kernel",),
        )
    if error.inner and error.inner in text:
        yield Link("error", error.inner, case.place_of(text.count("\n", 0, text.index(error.inner))))
    for message in error.messages[:3]:
        yield Link("ptxas", message, case.place_of(text.count("\n", 0, max(text.find(message), 0))))
    if error.command:
        yield Link(
            "command", error.command, case.place_of(text.count("\n", 0, max(text.find(error.command), 0)))
        )


def _because(error: TritonError) -> Iterator[str]:
    if error.undefined and error.undefined.endswith("BLOCK"):
        yield (
            f"`{error.undefined}` is what generated kernels call a block size; in a generated kernel that has none of "
            "this name it is a codegen bug (as of a template with a fused epilogue), and the model is not at fault"
        )
    if any(_UNKNOWN_DEVICE in m for m in error.messages):
        yield "this ptxas is older than the device"


def _decide(error: TritonError, kernel: str | None, said: object) -> Iterator[str]:
    if error.form == "source" and kernel is None:
        yield "whether the kernel is torch's or your own: generated ones are named triton_poi_, triton_red_, triton_per_, triton_tem_"
    if error.form == "passes" and said is None:
        yield "stderr of the same process: MLIR says there which operation it refuses"


def _missing(error: TritonError, kernel: str | None) -> tuple[Missing, ...]:
    if kernel is None and error.form != "source":
        return (
            Missing(
                "which kernel it is",
                "TORCH_LOGS=output_code, or the lines of torch's logger above the traceback",
            ),
        )
    if error.form == "source" and not error.excerpt:
        return (
            Missing(
                "the line of the kernel",
                "the lines below the exception: Triton prints the source up to the error",
            ),
        )
    return ()


def _fixes(error: TritonError) -> tuple[str, ...]:
    if any(_UNKNOWN_DEVICE in m for m in error.messages):
        return (
            "set TRITON_PTXAS_PATH to the ptxas of a CUDA toolkit that knows the device, or take a newer Triton",
        )
    return ()


def _experiments(error: TritonError) -> Iterator[Experiment]:
    if error.command:
        yield Experiment(
            error.command,
            (),
            "run",
            "ptxas shows the same error in a second",
            "Triton prints the command with the exception; the temporary .ptx must still be there",
        )


RULE = Rule("AL612", "triton-compilation-error", __doc__ or "")

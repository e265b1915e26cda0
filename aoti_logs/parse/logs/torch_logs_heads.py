"""How messages of torch begin: two of the same place and millisecond have one prefix, and are told apart by that.

One place in torch prints one kind of message, so a line that begins as its message's first line does is another
message. Only beginnings that never stand inside of a message of their own kind are listed.
"""

from __future__ import annotations

import re

# Each tuple: the beginnings that one place prints. The comment names the file of torch.
_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("TRACED GRAPH",),  # _dynamo/utils.py, lazy_format_graph_code
    ("Output code:",),  # _inductor/graph.py, codecache.py
    ("Output code written to:",),
    ("Output wrapper code:",),  # _inductor/compile_fx.py, codecache.py
    ("Output kernel code:",),
    ("Wrapper code written to:",),
    ("Kernel code written to:",),
    ("Header code written to:",),
    (
        "Graph break in user code at ",
        "Graph break: ",
        "Graph break (user stack",
    ),  # _dynamo/symbolic_convert.py, convert_frame.py
    ("Recompiling function ",),  # _dynamo/guards.py
    ("GUARDS:",),
    ("TREE_GUARD_MANAGER:",),
    ("Guard eval latency",),
    ("Python shape guard function:",),
    ("TRACE ",),  # _dynamo/symbolic_convert.py, output_graph.py
    ("INLINING ", "FAILED INLINING ", "SKIPPED INLINING ", "DONE INLINING "),
    ("Restarting analysis due to ",),  # _dynamo/convert_frame.py
    ("torchdynamo start compiling ",),
    ("Step 1: ", "Step 2: ", "Step 3: "),  # _dynamo/logging.py, get_step_logger
    ("COMPILING GRAPH due to ",),  # _dynamo/output_graph.py
    ("create_symbol ",),  # fx/experimental/symbolic_shapes.py
    ("create_unbacked_",),
    ("create_env",),
    ("eval ", "runtime_assert "),
    ("_update_var_to_range ",),
    ("set_replacement ", "skipped set_replacement "),
    ("produce_guards",),
    ("track_symint ", "track_symfloat "),
    ("Skipping guard ",),
    ("compute_unbacked_bindings ",),
    ("lowering ",),  # _inductor/graph.py
    ("scheduling ",),  # _inductor/scheduler.py
    ("Generating code for node ",),
    ("Generating kernel code with kernel_name: ",),
    ("remove_buffer(",),
    ("fusing ",),
    ("cannot fuse ",),
    ("===== attempting fusion ",),
    ("completed fusion round ",),
    ("found ",),
    ("Schedule:",),  # _inductor/codegen/simd.py
    ("Data type propagation: ",),
    ("BEFORE FUSION",),  # _inductor/debug.py
    ("AFTER FUSION",),
    ("Triton Kernel:",),  # _inductor/async_compile.py
    ("CPP Kernel:",),
    ("CPP+Bindings Kernel:",),
    ("CUDA Kernel:",),
    ("Registered template heuristic: ",),  # _inductor/template_heuristics/registry.py
    ("Runtime error during autotuning",),  # _inductor/select_algorithm.py
    ("FX cache status: ",),  # _inductor/compile_fx.py
    ("FX graph cache hash details for key ",),  # _inductor/codecache.py
    ("fx graph cache ",),
    ("aot wrapper compilation command: ",),
    ("aot kernel compilation command: ",),
    ("aot linkage command: ",),
    ("Compilation command: ",),
    ("Cache Metrics:",),  # _inductor/remote_cache.py
    ("TorchDynamo compilation metrics:",),  # _dynamo/utils.py
)
_FAMILY = {head: family for family in _FAMILIES for head in family}
_HEAD = re.compile("|".join(re.escape(head) for head in sorted(_FAMILY, key=len, reverse=True)))


def message_starts(lines: list[str]) -> list[int]:
    """Return at which of the lines with one prefix a message begins; the first is always 0."""
    starts = [0]
    found = _HEAD.match(lines[0]) if len(lines) > 1 else None
    if found is not None:
        family = _FAMILY[found[0]]
        starts += [i for i in range(1, len(lines)) if lines[i].startswith(family)]
    return starts

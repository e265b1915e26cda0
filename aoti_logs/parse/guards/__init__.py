"""Guards, recompiles and limits on them."""

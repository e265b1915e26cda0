"""Shape expressions and symbols, and what tracing decided about them."""

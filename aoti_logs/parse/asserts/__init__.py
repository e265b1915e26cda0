"""Failed assertions, also a million lines of them."""

"""Python tracebacks in every style."""

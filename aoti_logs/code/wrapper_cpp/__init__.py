"""C++ wrappers, statement by statement."""

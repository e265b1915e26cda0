"""Python wrappers, statement by statement."""

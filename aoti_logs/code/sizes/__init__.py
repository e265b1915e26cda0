"""Size symbols: what they are, who limits them, who tests that, and what nobody tests."""

"""Triton kernels: what stands above their `def`, and their bodies, statement by statement."""

"""The bodies of C++ kernels, statement by statement."""

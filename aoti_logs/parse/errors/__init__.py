"""Errors of runtimes, devices, collectives and compilers."""

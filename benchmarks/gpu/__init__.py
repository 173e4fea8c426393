"""Emitted kernels against what a user would take instead: prepared here, timed on a GPU."""

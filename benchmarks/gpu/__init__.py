"""Compares emitted kernels with what a user would take instead; they are timed on a GPU."""

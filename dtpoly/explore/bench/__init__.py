"""Checks and times candidates: on a GPU, on the CPU, or by a formula."""

"""Computes what the kernels of a schedule read and write at given sizes, without running them."""

"""Measures how fast the compiler and its kernels are: `python -m benchmarks --help`."""

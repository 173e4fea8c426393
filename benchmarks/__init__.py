"""How fast the compiler is, and how fast the kernels are: `python -m benchmarks --help`."""

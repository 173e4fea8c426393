"""Code generation: makes a Python file with Triton kernels and wrappers of a judged schedule."""

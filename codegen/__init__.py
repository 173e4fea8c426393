"""Code generation: makes a Python file with Triton kernels and plans of a judged schedule."""

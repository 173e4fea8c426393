"""The kernel IR: what a kernel does, step by step, before it is printed as Triton code."""

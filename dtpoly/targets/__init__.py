"""Kernels compiled for a GPU that need not be there, and what they need of it."""

"""Watches launches of Triton kernels, and keeps how each of them was launched."""

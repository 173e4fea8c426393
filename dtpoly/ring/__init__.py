"""Runs an algorithm and a kernel on elements of a ring, where equal terms are equal bits."""

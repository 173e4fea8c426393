"""Describes GPUs by numbers: those that are known, and those that are measured."""

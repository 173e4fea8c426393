"""Loads generated files, runs them, and compares their results with those of the reference."""

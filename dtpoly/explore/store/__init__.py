"""Keeps questions and their results in a file."""

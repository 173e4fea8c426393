"""Runs processes that may hang or die, and gives them jobs."""

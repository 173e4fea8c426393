"""Processes that may hang or die, and those who give them jobs."""

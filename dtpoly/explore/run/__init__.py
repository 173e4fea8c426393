"""Runs an exploration from its first question to the last answer."""

"""Answers which directives a schedule could still get, and whether a given one may be added."""

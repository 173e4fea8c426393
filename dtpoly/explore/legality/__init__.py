"""Judges the points of a space: which rules rule them out, before anything is emitted."""

"""Emits the text of a point and compiles it, without a GPU."""

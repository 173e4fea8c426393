"""Writes the frame of a kernel, which is how it is launched and on what, from watched launches."""

"""Decides in which order a space is searched: one strategy a file, with the same two methods."""

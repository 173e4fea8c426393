"""Defines spaces of schedules: their points are counted, numbered, and written in a line each."""

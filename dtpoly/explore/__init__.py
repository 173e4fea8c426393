"""Explores spaces of schedules: it counts points, drops hopeless ones and measures the others."""

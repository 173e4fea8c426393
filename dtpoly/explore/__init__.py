"""Spaces of schedules: what there is to choose, which choices are worth it, what was measured."""

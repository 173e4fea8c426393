"""Offers spaces of schedules, their exploration and its results to Python."""

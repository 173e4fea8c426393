"""Finds a schedule for an algorithm at given sizes, with a reason for each directive."""

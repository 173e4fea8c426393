"""Schedules that were found fast, in a text file: for which device and sizes, and which to take."""

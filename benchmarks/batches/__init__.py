"""Measures what it costs that rows have the same bits in batches of each size."""

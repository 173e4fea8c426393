"""Measures operators that nobody looked at: a seed draws them, and a new seed draws others."""

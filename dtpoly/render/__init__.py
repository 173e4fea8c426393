"""Diagnostics in, text for people or data for machines out."""

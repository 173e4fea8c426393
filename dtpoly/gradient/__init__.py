"""Derives the gradient of an algorithm as another algorithm."""

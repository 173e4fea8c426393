"""Computes with torch what a Program means, independently of how any compiler lowers it."""
